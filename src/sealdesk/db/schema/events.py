"""Tables of events, webhook endpoints and deliveries, and the audit log.

The background loop finds due endpoints, deliveries and replays by partial indexes, which hold no
other rows.
"""

from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Index, LargeBinary, SmallInteger, Table, text

from sealdesk.db.schema.columns import id_, metadata, of_tenant, refers, tenant, text_, texts, time_


def _index_where(name: str, condition: str, *columns: str, unique: bool = False) -> Index:
    where = text(condition)
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


def _recorded_columns() -> tuple[Column[Any], ...]:
    """The columns that the transaction of a change writes."""
    return (
        tenant(),
        id_(key=True),
        text_("type"),
        Column("object", LargeBinary, nullable=False),
        text_("changes"),
        time_("created_at"),
    )


Table(
    "events",
    metadata,
    *_recorded_columns(),
    # position: in the feed of the tenant. log_position: in the log of all tenants, which consumers
    # read; NULL for events from before there was a log, and on distributed tables, where there is
    # none (decisions 0025, 0037 and 0081).
    Column("position", BigInteger, nullable=True),
    Column("log_position", BigInteger, nullable=True),
    _index_where("events_position", "position IS NOT NULL", "tenant_id", "position", unique=True),
    _index_where("events_type", "position IS NOT NULL", "tenant_id", "type", "position"),
    _index_where("events_log", "log_position IS NOT NULL", "log_position"),
)
# On PostgreSQL, the events that the sequencer has not moved to `events` yet.
Table("event_outbox", metadata, *_recorded_columns())
# The last position that was written (name "sequencer") and the last that each consumer has read.
Table(
    "log_positions",
    metadata,
    id_("name", key=True),
    Column("position", BigInteger, nullable=False),
)
Table(
    "feed_positions",
    metadata,
    tenant(),
    Column("last_position", BigInteger, nullable=False),
    # The highest position whose event has been deleted.
    Column("pruned_position", BigInteger, nullable=False),
    of_tenant(),
)

# Where tables are distributed over nodes, each tenant has a log of its own, its feed: the position
# in it up to which each consumer has read. Elsewhere there are no rows (decision 0081).
Table(
    "consumer_positions",
    metadata,
    tenant(),
    id_("name", key=True),
    Column("position", BigInteger, nullable=False),
    of_tenant(),
)

# The events of a tenant that the fan-out has passed without making their deliveries, because the
# tenant has too many: those behind after_position, up to until_position.
Table(
    "fan_out_backlogs",
    metadata,
    tenant(),
    *(Column(name, BigInteger, nullable=False) for name in ("after_position", "until_position")),
    time_("served_at"),
    of_tenant(),
)

Table(
    "endpoints",
    metadata,
    tenant(),
    id_(key=True),
    *texts("url", "events"),
    text_("description", null=True),
    Column("is_active", Boolean, nullable=False),
    text_("disabled_reason", null=True),
    Column("sealed_secret", LargeBinary, nullable=True),
    Column("secret_version", BigInteger, nullable=False),
    # The previous secret also signs until old_secret_until.
    Column("sealed_old_secret", LargeBinary, nullable=True),
    time_("old_secret_until", null=True),
    # The first failure after the last success.
    time_("failing_since", null=True),
    # due_at: the next delivery. leased_until: only one worker delivers until then.
    time_("due_at", null=True),
    time_("leased_until", null=True),
    # Increases with each added delivery: a worker that found nothing more to deliver compares it,
    # and keeps due_at when one was added meanwhile.
    Column("wakes", BigInteger, nullable=False),
    # The last feed position when it was last activated: events up to it are not delivered, also
    # if the fan-out reaches them later.
    Column("starts_after", BigInteger, nullable=False, server_default="0"),
    time_("created_at"),
    time_("deleted_at", null=True),
    of_tenant(),
    _index_where("endpoints_due", "due_at IS NOT NULL", "due_at"),
    _index_where("endpoints_deleted", "deleted_at IS NOT NULL", "deleted_at"),
)
Table(
    "deliveries",
    metadata,
    tenant(),
    id_(key=True),
    id_("endpoint_id"),
    id_("event_id"),
    *texts("event_type", "status"),
    Column("attempt_count", BigInteger, nullable=False),
    # Retries in the current schedule; a manual retry starts a new schedule.
    Column("retry_count", SmallInteger, nullable=False),
    time_("due_at", null=True),
    time_("created_at"),
    refers("endpoint_id", "endpoints"),
    Index("deliveries_endpoint", "tenant_id", "endpoint_id", "id"),
    Index("deliveries_status", "tenant_id", "endpoint_id", "status", "id"),
    _index_where(
        "deliveries_due", "due_at IS NOT NULL", "tenant_id", "endpoint_id", "due_at", "id"
    ),
)
Table(
    "attempts",
    metadata,
    tenant(),
    id_("delivery_id", key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    time_("sent_at"),
    Column("duration_ms", BigInteger, nullable=False),
    *texts("url", "request_headers"),
    Column("status", SmallInteger, nullable=True),
    *texts("answer_headers", "answer_body", "error", null=True),
    refers("delivery_id", "deliveries"),
)
Table(
    "replays",
    metadata,
    tenant(),
    id_(key=True),
    id_("endpoint_id"),
    time_("since"),
    time_("until"),
    # The last event that was processed.
    id_("after_id"),
    Column("delivery_count", BigInteger, nullable=False),
    time_("created_at"),
    time_("finished_at", null=True),
    refers("endpoint_id", "endpoints"),
    _index_where("replays_open", "finished_at IS NULL", "id"),
)

Table(
    "audit",
    metadata,
    tenant(),
    id_(key=True),
    *texts("action", "actor_kind"),
    id_("actor_id"),
    *texts("actor_name", "address"),
    id_("object_id", null=True),
    text_("details"),
    time_("created_at"),
)
