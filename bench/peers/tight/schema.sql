-- The rows of tickets and all their indexes as of 2026-11-27. They stay as they are, so that leaner
-- rows of the service count as progress against the tight loop.
CREATE TABLE customers (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, email TEXT NOT NULL, email_identity TEXT NOT NULL,
    name TEXT, phone TEXT, company TEXT, external_id TEXT, metadata TEXT NOT NULL,
    reference BLOB NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX customers_email ON customers (tenant_id, email_identity);
CREATE INDEX customers_external_id ON customers (tenant_id, external_id, id) WHERE external_id IS
    NOT NULL;
CREATE INDEX customers_updated_at ON customers (tenant_id, updated_at, id);
CREATE TABLE tickets (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, number BIGINT NOT NULL, subject TEXT NOT NULL,
    description TEXT NOT NULL, status TEXT NOT NULL, priority SMALLINT NOT NULL,
    source TEXT NOT NULL, customer_id TEXT NOT NULL, assignee_id TEXT, tags TEXT NOT NULL,
    custom_fields TEXT NOT NULL, external_id TEXT, reply_count BIGINT NOT NULL,
    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, first_response_at BIGINT,
    resolved_at BIGINT, closed_at BIGINT, version BIGINT NOT NULL, document BLOB NOT NULL,
    last_customer_reply_at BIGINT, waiting_since BIGINT, last_message_at BIGINT,
    last_reply_by TEXT, snippet TEXT, merged_into_id TEXT, attachments TEXT, team_id TEXT,
    snoozed_until TEXT, follower_count BIGINT DEFAULT '0' NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, customer_id) REFERENCES customers (tenant_id, id)
);
CREATE INDEX tickets_customer ON tickets (tenant_id, customer_id, id);
CREATE INDEX tickets_external_id ON tickets (tenant_id, external_id, id) WHERE external_id IS NOT
    NULL;
CREATE UNIQUE INDEX tickets_number ON tickets (tenant_id, number);
CREATE INDEX tickets_priority ON tickets (tenant_id, priority, id);
CREATE INDEX tickets_status ON tickets (tenant_id, status, id);
CREATE INDEX tickets_status_assignee ON tickets (tenant_id, status, assignee_id, id) WHERE
    assignee_id IS NOT NULL;
CREATE INDEX tickets_status_updated_at ON tickets (tenant_id, status, updated_at, id);
CREATE INDEX tickets_waiting_since ON tickets (tenant_id, waiting_since, id) WHERE waiting_since IS
    NOT NULL;
CREATE INDEX tickets_unassigned ON tickets (tenant_id, status, updated_at, id) WHERE assignee_id IS
    NULL;
CREATE INDEX tickets_urgent ON tickets (tenant_id, status, updated_at, id) WHERE priority = 4;
CREATE INDEX tickets_team ON tickets (tenant_id, team_id, id) WHERE team_id IS NOT NULL;
CREATE INDEX tickets_team_updated_at ON tickets (tenant_id, team_id, status, updated_at, id) WHERE
    team_id IS NOT NULL;
CREATE INDEX tickets_team_unassigned ON tickets (tenant_id, team_id, status, id) WHERE team_id IS
    NOT NULL AND assignee_id IS NULL;
CREATE INDEX tickets_snoozed ON tickets (tenant_id, snoozed_until, status, id) WHERE snoozed_until
    IS NOT NULL;
CREATE INDEX tickets_due ON tickets (snoozed_until, tenant_id, id) WHERE snoozed_until IS NOT NULL;
CREATE INDEX tickets_assignee_updated_at ON tickets (tenant_id, assignee_id, status, updated_at, id)
    WHERE assignee_id IS NOT NULL;
CREATE TABLE ticket_changes (
    tenant_id TEXT NOT NULL, ticket_id TEXT NOT NULL, id TEXT NOT NULL, actor_kind TEXT NOT NULL,
    actor_id TEXT NOT NULL, actor_name TEXT NOT NULL, changes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, ticket_id, id),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets (tenant_id, id)
);
CREATE TABLE replies (
    tenant_id TEXT NOT NULL, ticket_id TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,
    is_internal BOOLEAN NOT NULL, author_type TEXT NOT NULL, author_id TEXT NOT NULL,
    author_name TEXT, created_at BIGINT NOT NULL, attachments TEXT, delivery TEXT,
    delivery_reason TEXT, delivery_at BIGINT,
    PRIMARY KEY (tenant_id, ticket_id, id),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets (tenant_id, id)
);
CREATE INDEX replies_is_internal ON replies (tenant_id, ticket_id, is_internal, id);
CREATE TABLE events (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL, object BLOB NOT NULL,
    changes TEXT NOT NULL, created_at BIGINT NOT NULL, position BIGINT, log_position BIGINT,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX events_position ON events (tenant_id, position) WHERE position IS NOT NULL;
CREATE INDEX events_type ON events (tenant_id, type, position) WHERE position IS NOT NULL;
CREATE INDEX events_log ON events (log_position) WHERE log_position IS NOT NULL;
CREATE TABLE counters (tenant_id TEXT PRIMARY KEY, number BIGINT NOT NULL, position BIGINT NOT NULL);
