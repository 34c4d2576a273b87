CREATE TABLE tenants (
    id TEXT NOT NULL, name TEXT NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);
CREATE TABLE users (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, email TEXT NOT NULL, name TEXT NOT NULL,
    role TEXT NOT NULL, password_hash TEXT, is_active BOOLEAN NOT NULL,
    token_version BIGINT NOT NULL, created_at BIGINT NOT NULL, email_identity TEXT,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE UNIQUE INDEX users_email ON users (tenant_id, email_identity);
CREATE TABLE user_directory (
    email_identity TEXT NOT NULL, tenant_id TEXT NOT NULL, user_id TEXT NOT NULL,
    PRIMARY KEY (email_identity)
);
CREATE TABLE user_addresses (
    tenant_id TEXT NOT NULL, user_id TEXT NOT NULL, address TEXT NOT NULL, last_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, user_id, address),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id)
);
CREATE TABLE login_failures (
    bucket TEXT NOT NULL, id TEXT NOT NULL, failed_at BIGINT NOT NULL,
    PRIMARY KEY (bucket, id)
);
CREATE INDEX login_failures_failed_at ON login_failures (failed_at);
CREATE TABLE ended_tokens (
    id TEXT NOT NULL, expires_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX ended_tokens_expires_at ON ended_tokens (expires_at);
CREATE TABLE reset_links (
    token_hash BLOB NOT NULL, tenant_id TEXT NOT NULL, user_id TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (token_hash)
);
CREATE INDEX reset_links_expires_at ON reset_links (expires_at);
CREATE TABLE api_keys (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, key_prefix TEXT NOT NULL,
    permissions TEXT NOT NULL, rate_limit BIGINT NOT NULL, allowed_ips TEXT,
    replay_protection TEXT NOT NULL, expires_at BIGINT, revoked_at BIGINT, last_used_at BIGINT,
    sealed_secret BLOB, secret_version BIGINT NOT NULL, created_at BIGINT NOT NULL,
    unconfirmed_since BIGINT,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) WITHOUT ROWID;
CREATE TABLE api_key_directory (
    key_hash BLOB NOT NULL, tenant_id TEXT NOT NULL, key_id TEXT NOT NULL,
    PRIMARY KEY (key_hash)
) WITHOUT ROWID;
CREATE TABLE used_signatures (
    tenant_id TEXT NOT NULL, key_id TEXT NOT NULL, signature TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, key_id, signature),
    FOREIGN KEY (tenant_id, key_id) REFERENCES api_keys (tenant_id, id)
);
CREATE INDEX used_signatures_expires_at ON used_signatures (expires_at);
CREATE TABLE refusals (
    tenant_id TEXT NOT NULL, key_id TEXT NOT NULL, id TEXT NOT NULL, code TEXT NOT NULL,
    diagnosis TEXT, method TEXT NOT NULL, target TEXT NOT NULL, timestamp TEXT NOT NULL,
    body_sha256 TEXT, body_bytes BIGINT, refused_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, key_id, id),
    FOREIGN KEY (tenant_id, key_id) REFERENCES api_keys (tenant_id, id)
);
CREATE TABLE idempotency (
    tenant_id TEXT NOT NULL, key_id TEXT NOT NULL, scope TEXT NOT NULL, fingerprint BLOB NOT NULL,
    status SMALLINT NOT NULL, body BLOB NOT NULL, headers TEXT NOT NULL, stored_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, key_id, scope)
);
CREATE INDEX idempotency_stored_at ON idempotency (stored_at);
CREATE TABLE customers (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, email TEXT NOT NULL, email_identity TEXT NOT NULL,
    name TEXT, phone TEXT, company TEXT, external_id TEXT, metadata TEXT NOT NULL,
    reference BLOB NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL, other_emails TEXT, other_phones TEXT,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE UNIQUE INDEX customers_email ON customers (tenant_id, email_identity);
CREATE INDEX customers_external_id ON customers (tenant_id, external_id, id) WHERE external_id IS
    NOT NULL;
CREATE INDEX customers_updated_at ON customers (tenant_id, updated_at, id);
CREATE TABLE ticket_numbers (
    tenant_id TEXT NOT NULL, last_number BIGINT NOT NULL,
    PRIMARY KEY (tenant_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE TABLE tickets (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, number BIGINT NOT NULL, subject TEXT NOT NULL,
    description TEXT NOT NULL, status TEXT NOT NULL, priority SMALLINT NOT NULL,
    source TEXT NOT NULL, customer_id TEXT NOT NULL, assignee_id TEXT, tags TEXT NOT NULL,
    custom_fields TEXT NOT NULL, external_id TEXT, reply_count BIGINT NOT NULL,
    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, first_response_at BIGINT,
    resolved_at BIGINT, closed_at BIGINT, version BIGINT NOT NULL, document BLOB NOT NULL,
    last_customer_reply_at BIGINT, waiting_since BIGINT, last_message_at BIGINT, last_reply_by TEXT,
    snippet TEXT, merged_into_id TEXT, attachments TEXT, team_id TEXT, snoozed_until TEXT,
    follower_count BIGINT DEFAULT '0' NOT NULL, clocks TEXT, due_at BIGINT, alert_at BIGINT,
    rating SMALLINT, satisfaction TEXT, key_id TEXT,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, assignee_id) REFERENCES users (tenant_id, id),
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
CREATE INDEX tickets_due_at ON tickets (tenant_id, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX tickets_alert_at ON tickets (alert_at, tenant_id, id) WHERE alert_at IS NOT NULL;
CREATE INDEX tickets_rating ON tickets (tenant_id, rating, id) WHERE rating IS NOT NULL;
CREATE TABLE ticket_tags (
    tenant_id TEXT NOT NULL, tag TEXT NOT NULL, ticket_id TEXT NOT NULL,
    PRIMARY KEY (tenant_id, tag, ticket_id),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets (tenant_id, id)
) WITHOUT ROWID;
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
CREATE TABLE audit (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, action TEXT NOT NULL, actor_kind TEXT NOT NULL,
    actor_id TEXT NOT NULL, actor_name TEXT NOT NULL, address TEXT NOT NULL, object_id TEXT,
    details TEXT NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE TABLE feed_positions (
    tenant_id TEXT NOT NULL, last_position BIGINT NOT NULL, pruned_position BIGINT NOT NULL,
    PRIMARY KEY (tenant_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE TABLE endpoints (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, url TEXT NOT NULL, events TEXT NOT NULL,
    description TEXT, is_active BOOLEAN NOT NULL, disabled_reason TEXT, sealed_secret BLOB,
    secret_version BIGINT NOT NULL, sealed_old_secret BLOB, old_secret_until BIGINT,
    failing_since BIGINT, due_at BIGINT, leased_until BIGINT, wakes BIGINT NOT NULL,
    created_at BIGINT NOT NULL, deleted_at BIGINT, starts_after BIGINT DEFAULT '0' NOT NULL,
    recovered_at BIGINT,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE INDEX endpoints_due ON endpoints (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX endpoints_deleted ON endpoints (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE TABLE deliveries (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, endpoint_id TEXT NOT NULL, event_id TEXT NOT NULL,
    event_type TEXT NOT NULL, status TEXT NOT NULL, attempt_count BIGINT NOT NULL,
    retry_count SMALLINT NOT NULL, due_at BIGINT, created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, endpoint_id) REFERENCES endpoints (tenant_id, id)
);
CREATE INDEX deliveries_endpoint ON deliveries (tenant_id, endpoint_id, id);
CREATE INDEX deliveries_status ON deliveries (tenant_id, endpoint_id, status, id);
CREATE INDEX deliveries_due ON deliveries (tenant_id, endpoint_id, due_at, id) WHERE due_at IS NOT
    NULL;
CREATE TABLE attempts (
    tenant_id TEXT NOT NULL, delivery_id TEXT NOT NULL, number BIGINT NOT NULL,
    sent_at BIGINT NOT NULL, duration_ms BIGINT NOT NULL, url TEXT NOT NULL,
    request_headers TEXT NOT NULL, status SMALLINT, answer_headers TEXT, answer_body TEXT,
    error TEXT,
    PRIMARY KEY (tenant_id, delivery_id, number),
    FOREIGN KEY (tenant_id, delivery_id) REFERENCES deliveries (tenant_id, id)
);
CREATE TABLE replays (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, endpoint_id TEXT NOT NULL, since BIGINT NOT NULL,
    until BIGINT NOT NULL, after_id TEXT NOT NULL, delivery_count BIGINT NOT NULL,
    created_at BIGINT NOT NULL, finished_at BIGINT,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, endpoint_id) REFERENCES endpoints (tenant_id, id)
);
CREATE INDEX replays_open ON replays (id) WHERE finished_at IS NULL;
CREATE TABLE ticket_changes (
    tenant_id TEXT NOT NULL, ticket_id TEXT NOT NULL, id TEXT NOT NULL, actor_kind TEXT NOT NULL,
    actor_id TEXT NOT NULL, actor_name TEXT NOT NULL, changes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, ticket_id, id),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets (tenant_id, id)
);
CREATE TABLE answering (
    tenant_id TEXT NOT NULL, ticket_id TEXT NOT NULL, user_id TEXT NOT NULL,
    user_name TEXT NOT NULL, seen_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, ticket_id, user_id),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets (tenant_id, id)
);
CREATE INDEX answering_seen_at ON answering (seen_at);
CREATE TABLE key_usage (
    tenant_id TEXT NOT NULL, key_id TEXT NOT NULL, hour_at BIGINT NOT NULL, measure TEXT NOT NULL,
    value TEXT NOT NULL, count BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, key_id, hour_at, measure, value),
    FOREIGN KEY (tenant_id, key_id) REFERENCES api_keys (tenant_id, id)
) WITHOUT ROWID;
CREATE INDEX key_usage_hour_at ON key_usage (hour_at);
CREATE TABLE search_documents (
    tenant_id TEXT NOT NULL, ticket_id TEXT NOT NULL, number BIGINT NOT NULL,
    words TSVECTOR NOT NULL,
    PRIMARY KEY (tenant_id, ticket_id)
);
CREATE INDEX search_documents_number ON search_documents (number);
CREATE TABLE customer_documents (
    tenant_id TEXT NOT NULL, customer_id TEXT NOT NULL, number BIGINT NOT NULL,
    words TSVECTOR NOT NULL,
    PRIMARY KEY (tenant_id, customer_id)
);
CREATE INDEX customer_documents_number ON customer_documents (number);
CREATE TABLE log_positions (
    name TEXT NOT NULL, position BIGINT NOT NULL,
    PRIMARY KEY (name)
);
CREATE TABLE search_rebuilds (
    consumer TEXT NOT NULL, tenant_id TEXT, object_id TEXT,
    PRIMARY KEY (consumer)
);
CREATE TABLE epochs (
    started_at BIGINT NOT NULL, restored_to BIGINT NOT NULL,
    PRIMARY KEY (started_at)
);
CREATE TABLE second_factors (
    tenant_id TEXT NOT NULL, user_id TEXT NOT NULL, sealed_secret BLOB NOT NULL,
    recovery_hashes TEXT NOT NULL, last_step BIGINT NOT NULL, created_at BIGINT NOT NULL,
    confirmed_at BIGINT,
    PRIMARY KEY (tenant_id, user_id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id)
);
CREATE TABLE fan_out_backlogs (
    tenant_id TEXT NOT NULL, after_position BIGINT NOT NULL, until_position BIGINT NOT NULL,
    served_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE TABLE event_outbox (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL, object BLOB NOT NULL,
    changes TEXT NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE TABLE reads (
    tenant_id TEXT NOT NULL, user_id TEXT NOT NULL, ticket_id TEXT NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, user_id, ticket_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) WITHOUT ROWID;
CREATE INDEX reads_seen_at ON reads (tenant_id, user_id, seen_at);
CREATE TABLE views (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, owner_id TEXT NOT NULL, name TEXT NOT NULL,
    name_identity TEXT NOT NULL, query TEXT NOT NULL, place BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE UNIQUE INDEX views_name ON views (tenant_id, owner_id, name_identity);
CREATE TABLE attachments (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, content_type TEXT NOT NULL,
    sha256 TEXT NOT NULL, uploader_kind TEXT NOT NULL, image_type TEXT, size_bytes BIGINT NOT NULL,
    uploader_id TEXT NOT NULL, ticket_id TEXT, reply_id TEXT, created_at BIGINT NOT NULL,
    macro_id TEXT,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets (tenant_id, id)
);
CREATE INDEX attachments_sha256 ON attachments (tenant_id, sha256, id);
CREATE INDEX attachments_unused ON attachments (created_at) WHERE ticket_id IS NULL;
CREATE INDEX attachments_macro ON attachments (tenant_id, macro_id, id) WHERE macro_id IS NOT NULL;
CREATE TABLE attachment_usage (
    tenant_id TEXT NOT NULL, used_bytes BIGINT NOT NULL,
    PRIMARY KEY (tenant_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE TABLE ticket_merges (
    tenant_id TEXT NOT NULL, source_id TEXT NOT NULL, target_id TEXT NOT NULL,
    source_status TEXT NOT NULL, opening_reply_id TEXT NOT NULL, reply_ids TEXT NOT NULL,
    merged_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, source_id),
    FOREIGN KEY (tenant_id, source_id) REFERENCES tickets (tenant_id, id)
);
CREATE TABLE notifications (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, user_id TEXT NOT NULL, kind TEXT NOT NULL,
    ticket_id TEXT NOT NULL, actor_name TEXT NOT NULL, created_at BIGINT NOT NULL, read_at BIGINT,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets (tenant_id, id)
);
CREATE INDEX notifications_user ON notifications (tenant_id, user_id, id);
CREATE TABLE field_definitions (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, key TEXT NOT NULL, label TEXT NOT NULL,
    type TEXT NOT NULL, choices TEXT NOT NULL, required_on_resolve BOOLEAN NOT NULL,
    place BIGINT NOT NULL, is_active BOOLEAN NOT NULL, created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE TABLE viewers (
    tenant_id TEXT NOT NULL, topic TEXT NOT NULL, user_id TEXT NOT NULL, process_id TEXT NOT NULL,
    user_name TEXT NOT NULL, seen_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, topic, user_id, process_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE INDEX viewers_seen_at ON viewers (seen_at);
CREATE TABLE presence_counters (
    bucket BIGINT NOT NULL, changes BIGINT NOT NULL,
    PRIMARY KEY (bucket)
);
CREATE TABLE macros (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, shortcut TEXT NOT NULL,
    shortcut_identity TEXT NOT NULL, body TEXT NOT NULL, status TEXT, priority TEXT,
    assignee_id TEXT, tags TEXT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
    team_id TEXT, owner_id TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE UNIQUE INDEX macros_shortcut ON macros (tenant_id, owner_id, shortcut_identity);
CREATE TABLE tag_renamings (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, tag TEXT NOT NULL, new_tag TEXT NOT NULL,
    actor_id TEXT NOT NULL, actor_name TEXT NOT NULL, view_id TEXT NOT NULL, total BIGINT NOT NULL,
    changed_count BIGINT NOT NULL, created_at BIGINT NOT NULL, stepped_at BIGINT NOT NULL,
    finished_at BIGINT, ticket_id TEXT,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE INDEX tag_renamings_unfinished ON tag_renamings (stepped_at, id) WHERE finished_at IS NULL;
CREATE TABLE teams (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, name_identity TEXT NOT NULL,
    assignment TEXT NOT NULL, capacity BIGINT NOT NULL, created_at BIGINT NOT NULL,
    deleted_at BIGINT, hours TEXT,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE UNIQUE INDEX teams_name ON teams (tenant_id, name_identity);
CREATE TABLE team_members (
    tenant_id TEXT NOT NULL, team_id TEXT NOT NULL, user_id TEXT NOT NULL, last_assigned_at BIGINT,
    seen_at BIGINT, away_at BIGINT,
    PRIMARY KEY (tenant_id, team_id, user_id),
    FOREIGN KEY (tenant_id, team_id) REFERENCES teams (tenant_id, id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id)
) WITHOUT ROWID;
CREATE INDEX team_members_user ON team_members (tenant_id, user_id);
CREATE TABLE ticket_followers (
    tenant_id TEXT NOT NULL, user_id TEXT NOT NULL, ticket_id TEXT NOT NULL,
    PRIMARY KEY (tenant_id, user_id, ticket_id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets (tenant_id, id)
) WITHOUT ROWID;
CREATE INDEX ticket_followers_ticket ON ticket_followers (tenant_id, ticket_id, user_id);
CREATE TABLE request_log (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, key_id TEXT NOT NULL, method TEXT NOT NULL,
    target TEXT NOT NULL, status BIGINT NOT NULL, duration_us BIGINT NOT NULL,
    response_bytes BIGINT NOT NULL, cpu_us BIGINT,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, key_id) REFERENCES api_keys (tenant_id, id)
) WITHOUT ROWID;
CREATE TABLE mailboxes (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, address TEXT NOT NULL,
    address_identity TEXT NOT NULL, display_name TEXT NOT NULL, signature TEXT NOT NULL,
    receives TEXT NOT NULL, team_id TEXT, language TEXT, imap_folder TEXT, imap_host TEXT,
    imap_port BIGINT, imap_security TEXT, imap_username TEXT, sealed_imap_password BLOB,
    smtp_host TEXT, smtp_port BIGINT, smtp_security TEXT, smtp_username TEXT,
    sealed_smtp_password BLOB, acknowledgement TEXT, per_minute BIGINT NOT NULL,
    is_paused BOOLEAN NOT NULL, problem TEXT, uid_validity BIGINT, last_uid BIGINT,
    created_at BIGINT NOT NULL, deleted_at BIGINT, version BIGINT NOT NULL, read_at BIGINT,
    aliases TEXT, oauth_provider TEXT, sealed_refresh_token BLOB,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    FOREIGN KEY (tenant_id, team_id) REFERENCES teams (tenant_id, id)
);
CREATE UNIQUE INDEX mailboxes_address ON mailboxes (tenant_id, address_identity);
CREATE TABLE mailbox_directory (
    address_identity TEXT NOT NULL, tenant_id TEXT NOT NULL, mailbox_id TEXT NOT NULL,
    receives TEXT NOT NULL, leased_by TEXT, leased_until BIGINT,
    PRIMARY KEY (address_identity)
) WITHOUT ROWID;
CREATE INDEX mailbox_directory_tenant ON mailbox_directory (tenant_id, address_identity);
CREATE TABLE mail_blocks (
    tenant_id TEXT NOT NULL, pattern TEXT NOT NULL, actor_id TEXT NOT NULL,
    actor_name TEXT NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, pattern),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) WITHOUT ROWID;
CREATE TABLE ticket_participants (
    tenant_id TEXT NOT NULL, ticket_id TEXT NOT NULL, address_identity TEXT NOT NULL,
    address TEXT NOT NULL, token TEXT NOT NULL, mailbox_id TEXT NOT NULL, name TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, ticket_id, address_identity),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets (tenant_id, id),
    FOREIGN KEY (tenant_id, mailbox_id) REFERENCES mailboxes (tenant_id, id)
);
CREATE UNIQUE INDEX ticket_participants_token ON ticket_participants (tenant_id, token);
CREATE TABLE ticket_message_ids (
    tenant_id TEXT NOT NULL, message_hash TEXT NOT NULL, ticket_id TEXT NOT NULL,
    PRIMARY KEY (tenant_id, message_hash),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets (tenant_id, id)
) WITHOUT ROWID;
CREATE TABLE received_messages (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, mailbox_id TEXT NOT NULL, message_key TEXT NOT NULL,
    from_identity TEXT NOT NULL, subject TEXT NOT NULL, raw_sha256 TEXT NOT NULL,
    outcome TEXT NOT NULL, reason TEXT, size_bytes BIGINT NOT NULL, ticket_id TEXT, reply_id TEXT,
    received_at BIGINT NOT NULL, raw_until BIGINT, envelope TEXT, reason_code TEXT,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, mailbox_id) REFERENCES mailboxes (tenant_id, id),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets (tenant_id, id)
);
CREATE UNIQUE INDEX received_messages_key ON received_messages (tenant_id, mailbox_id, message_key);
CREATE INDEX received_messages_from ON received_messages (tenant_id, from_identity, received_at);
CREATE INDEX received_messages_outcome ON received_messages (tenant_id, outcome, id);
CREATE INDEX received_messages_raw ON received_messages (tenant_id, raw_sha256, id);
CREATE INDEX received_messages_ticket ON received_messages (tenant_id, ticket_id, id);
CREATE INDEX received_messages_expired ON received_messages (raw_until, tenant_id, id) WHERE
    raw_until IS NOT NULL;
CREATE TABLE outgoing_messages (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, mailbox_id TEXT NOT NULL, ticket_id TEXT,
    about_id TEXT NOT NULL, kind TEXT NOT NULL, address TEXT NOT NULL, message_id TEXT NOT NULL,
    state TEXT NOT NULL, reason TEXT, attempt_count BIGINT NOT NULL, created_at BIGINT NOT NULL,
    due_at BIGINT, leased_until BIGINT, finished_at BIGINT,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, mailbox_id) REFERENCES mailboxes (tenant_id, id),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets (tenant_id, id)
);
CREATE UNIQUE INDEX outgoing_messages_about ON outgoing_messages (tenant_id, about_id, address);
CREATE INDEX outgoing_messages_message_id ON outgoing_messages (tenant_id, message_id);
CREATE INDEX outgoing_messages_due ON outgoing_messages (mailbox_id, due_at, tenant_id, id) WHERE
    due_at IS NOT NULL;
CREATE TABLE erasures (
    tenant_id TEXT NOT NULL, customer_id TEXT NOT NULL, actor_kind TEXT NOT NULL,
    actor_id TEXT NOT NULL, actor_name TEXT NOT NULL, texts TEXT NOT NULL, stage TEXT NOT NULL,
    cursor TEXT NOT NULL, ticket_count BIGINT NOT NULL, erased_ticket_count BIGINT NOT NULL,
    created_at BIGINT NOT NULL, stepped_at BIGINT NOT NULL, finished_at BIGINT,
    PRIMARY KEY (tenant_id, customer_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE INDEX erasures_unfinished ON erasures (stepped_at, tenant_id, customer_id) WHERE finished_at
    IS NULL;
CREATE TABLE test_tenants (
    tenant_id TEXT NOT NULL, live_id TEXT NOT NULL, clock_offset_us BIGINT NOT NULL,
    PRIMARY KEY (tenant_id)
);
CREATE UNIQUE INDEX test_tenants_live ON test_tenants (live_id);
CREATE INDEX test_tenants_ahead ON test_tenants (tenant_id) WHERE clock_offset_us > 0;
CREATE TABLE contact_forms (
    path_name TEXT NOT NULL, tenant_id TEXT NOT NULL, mailbox_id TEXT NOT NULL,
    base_url TEXT NOT NULL, field_keys TEXT NOT NULL, is_on BOOLEAN NOT NULL,
    has_ticket_pages BOOLEAN NOT NULL, updated_at BIGINT NOT NULL,
    PRIMARY KEY (path_name)
) WITHOUT ROWID;
CREATE UNIQUE INDEX contact_forms_tenant ON contact_forms (tenant_id);
CREATE TABLE form_submissions (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, address TEXT NOT NULL,
    address_identity TEXT NOT NULL, language TEXT NOT NULL, request TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE INDEX form_submissions_address ON form_submissions (address_identity, created_at, tenant_id,
    id);
CREATE INDEX form_submissions_created_at ON form_submissions (created_at, tenant_id, id);
CREATE TABLE consumer_positions (
    tenant_id TEXT NOT NULL, name TEXT NOT NULL, position BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, name),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE TABLE installation_notes (
    name TEXT NOT NULL, note TEXT NOT NULL, noted_at BIGINT NOT NULL, expires_at BIGINT,
    PRIMARY KEY (name)
);
CREATE INDEX installation_notes_expires_at ON installation_notes (expires_at) WHERE expires_at IS
    NOT NULL;
CREATE TABLE business_hours (
    tenant_id TEXT NOT NULL, settings TEXT NOT NULL, updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE TABLE automation_rules (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, position BIGINT NOT NULL,
    trigger TEXT NOT NULL, hours BIGINT NOT NULL, conditions TEXT NOT NULL, actions TEXT NOT NULL,
    is_enabled BOOLEAN NOT NULL, paused_because TEXT, version BIGINT NOT NULL,
    enabled_at BIGINT NOT NULL, reached_at BIGINT DEFAULT '0' NOT NULL,
    reached_id TEXT DEFAULT '' NOT NULL, looked_at BIGINT DEFAULT '0' NOT NULL,
    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE INDEX automation_rules_timed ON automation_rules (looked_at) WHERE hours > 0;
CREATE TABLE automation_tasks (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, ticket_id TEXT NOT NULL, caused_by TEXT NOT NULL,
    created_at BIGINT NOT NULL, due_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets (tenant_id, id)
);
CREATE INDEX automation_tasks_due ON automation_tasks (due_at, tenant_id, id);
CREATE TABLE automation_effects (
    tenant_id TEXT NOT NULL, ticket_id TEXT NOT NULL, last_version BIGINT NOT NULL,
    first_version BIGINT NOT NULL, rule_id TEXT NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, ticket_id, last_version),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets (tenant_id, id)
) WITHOUT ROWID;
CREATE INDEX automation_effects_created_at ON automation_effects (created_at);
CREATE TABLE sla_policies (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, position BIGINT NOT NULL,
    settings TEXT NOT NULL, version BIGINT NOT NULL, created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE TABLE sla_renewals (
    tenant_id TEXT NOT NULL, ticket_id TEXT NOT NULL, stepped_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE INDEX sla_renewals_stepped_at ON sla_renewals (stepped_at, tenant_id);
CREATE TABLE customer_addresses (
    tenant_id TEXT NOT NULL, email_identity TEXT NOT NULL, customer_id TEXT NOT NULL,
    PRIMARY KEY (tenant_id, email_identity),
    FOREIGN KEY (tenant_id, customer_id) REFERENCES customers (tenant_id, id)
) WITHOUT ROWID;
CREATE INDEX customer_addresses_customer ON customer_addresses (tenant_id, customer_id,
    email_identity);
CREATE TABLE customer_merges (
    tenant_id TEXT NOT NULL, source_id TEXT NOT NULL, target_id TEXT NOT NULL,
    customer TEXT NOT NULL, gained TEXT NOT NULL, ticket_ids TEXT NOT NULL,
    merged_at BIGINT NOT NULL, external_id TEXT,
    PRIMARY KEY (tenant_id, source_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE INDEX customer_merges_target ON customer_merges (tenant_id, target_id, source_id);
CREATE INDEX customer_merges_external_id ON customer_merges (tenant_id, external_id, source_id)
    WHERE external_id IS NOT NULL;
CREATE TABLE rating_settings (
    tenant_id TEXT NOT NULL, is_on BOOLEAN NOT NULL, delay_hours BIGINT NOT NULL,
    base_url TEXT NOT NULL, updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE TABLE ticket_measures (
    tenant_id TEXT NOT NULL, ticket_id TEXT NOT NULL, created_at BIGINT NOT NULL,
    answered_at BIGINT, resolved_at BIGINT, counted TEXT NOT NULL, reopened_at BIGINT,
    rated_at BIGINT,
    PRIMARY KEY (tenant_id, ticket_id),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets (tenant_id, id)
) WITHOUT ROWID;
CREATE INDEX ticket_measures_created_at ON ticket_measures (tenant_id, created_at, ticket_id);
CREATE INDEX ticket_measures_answered_at ON ticket_measures (tenant_id, answered_at, ticket_id)
    WHERE answered_at IS NOT NULL;
CREATE INDEX ticket_measures_resolved_at ON ticket_measures (tenant_id, resolved_at, ticket_id)
    WHERE resolved_at IS NOT NULL;
CREATE INDEX ticket_measures_reopened_at ON ticket_measures (tenant_id, reopened_at, ticket_id)
    WHERE reopened_at IS NOT NULL;
CREATE INDEX ticket_measures_rated_at ON ticket_measures (tenant_id, rated_at, ticket_id) WHERE
    rated_at IS NOT NULL;
CREATE TABLE report_sums (
    tenant_id TEXT NOT NULL, dimension TEXT NOT NULL, length BIGINT NOT NULL, start BIGINT NOT NULL,
    value TEXT NOT NULL, sums TEXT NOT NULL,
    PRIMARY KEY (tenant_id, dimension, length, start, value),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) WITHOUT ROWID;
CREATE TABLE report_rebuilds (
    tenant_id TEXT NOT NULL, is_clearing BOOLEAN NOT NULL, ticket_id TEXT NOT NULL,
    stepped_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE INDEX report_rebuilds_stepped_at ON report_rebuilds (stepped_at, tenant_id);
CREATE TABLE ticket_links (
    tenant_id TEXT NOT NULL, ticket_id TEXT NOT NULL, other_id TEXT NOT NULL,
    relation TEXT NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, ticket_id, other_id),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets (tenant_id, id),
    FOREIGN KEY (tenant_id, other_id) REFERENCES tickets (tenant_id, id)
) WITHOUT ROWID;
CREATE TABLE saved_reports (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, user_id TEXT NOT NULL, query TEXT NOT NULL,
    language TEXT NOT NULL, base_url TEXT NOT NULL, created_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id)
);
CREATE INDEX saved_reports_user ON saved_reports (tenant_id, user_id, id);
CREATE INDEX saved_reports_due_at ON saved_reports (due_at, tenant_id, id);
CREATE TABLE reply_settings (
    tenant_id TEXT NOT NULL, is_on BOOLEAN NOT NULL, updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE TABLE held_replies (
    tenant_id TEXT NOT NULL, id TEXT NOT NULL, ticket_id TEXT NOT NULL, user_id TEXT NOT NULL,
    user_name TEXT NOT NULL, form TEXT NOT NULL, due_at BIGINT NOT NULL, failed_at BIGINT,
    reason TEXT,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets (tenant_id, id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id)
);
CREATE INDEX held_replies_due ON held_replies (due_at, tenant_id, id) WHERE failed_at IS NULL;
CREATE INDEX held_replies_ticket ON held_replies (tenant_id, ticket_id, id);
CREATE INDEX held_replies_user ON held_replies (tenant_id, user_id, id);
CREATE INDEX held_replies_failed_at ON held_replies (failed_at);
