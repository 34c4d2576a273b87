"""Tables of events, webhook endpoints and deliveries, and the audit log.

The background loop finds due endpoints, deliveries and replays by partial indexes, which hold no
other rows.
"""

from sealdesk.db.schema.definitions import (
    ONE_SHARD,
    Column,
    blob,
    flag,
    id_,
    index,
    number,
    of_tenant,
    refers,
    small,
    table,
    tenant,
    text_,
    texts,
    time_,
)


def _recorded_columns() -> tuple[Column, ...]:
    """The columns that the transaction of a change writes."""
    return (
        tenant(),
        id_(key=True),
        text_("type"),
        blob("object"),
        text_("changes"),
        time_("created_at"),
    )


table(
    "events",
    *_recorded_columns(),
    # position: in the feed of the tenant. log_position: in the log of all tenants, which consumers
    # read; NULL for events from before there was a log, and on distributed tables, where there is
    # none (decisions 0025, 0037 and 0081).
    number("position", null=True),
    number("log_position", null=True),
    index("events_position", "tenant_id position", where="position IS NOT NULL", is_unique=True),
    index("events_type", "tenant_id type position", where="position IS NOT NULL"),
    index("events_log", "log_position", where="log_position IS NOT NULL"),
    worker="SELECT INSERT UPDATE DELETE",
)
# On PostgreSQL, the events that the sequencer has not moved to `events` yet.
table("event_outbox", *_recorded_columns(), worker="SELECT INSERT DELETE")
# The last position that was written (name "sequencer") and the last that each consumer has read.
table(
    "log_positions",
    id_("name", key=True),
    number("position"),
    place=ONE_SHARD,
    worker="SELECT INSERT UPDATE",
)
table(
    "feed_positions",
    tenant(),
    number("last_position"),
    # The highest position whose event has been deleted.
    number("pruned_position"),
    of_tenant(),
    worker="SELECT INSERT UPDATE",
)

# Where tables are distributed over nodes, each tenant has a log of its own, its feed: the position
# in it up to which each consumer has read. Elsewhere there are no rows (decision 0081).
table(
    "consumer_positions",
    tenant(),
    id_("name", key=True),
    number("position"),
    of_tenant(),
    worker="SELECT INSERT UPDATE",
)

# The events of a tenant that the fan-out has passed without making their deliveries, because the
# tenant has too many: those behind after_position, up to until_position.
table(
    "fan_out_backlogs",
    tenant(),
    *(number(name) for name in ("after_position", "until_position")),
    time_("served_at"),
    of_tenant(),
    worker="SELECT INSERT UPDATE DELETE",
)

table(
    "endpoints",
    tenant(),
    id_(key=True),
    *texts("url", "events"),
    text_("description", null=True),
    flag("is_active"),
    text_("disabled_reason", null=True),
    blob("sealed_secret", null=True),
    number("secret_version"),
    # The previous secret also signs until old_secret_until.
    blob("sealed_old_secret", null=True),
    time_("old_secret_until", null=True),
    # The first failure after the last success.
    time_("failing_since", null=True),
    # The end of its last outage, while deliveries of before wait for their next attempt.
    time_("recovered_at", null=True),
    # due_at: the next delivery. leased_until: only one worker delivers until then.
    time_("due_at", null=True),
    time_("leased_until", null=True),
    # Increases with each added delivery: a worker that found nothing more to deliver compares it,
    # and keeps due_at when one was added meanwhile.
    number("wakes"),
    # The last feed position when it was last activated: events up to it are not delivered, also
    # if the fan-out reaches them later.
    number("starts_after", default="0"),
    time_("created_at"),
    time_("deleted_at", null=True),
    of_tenant(),
    index("endpoints_due", "due_at", where="due_at IS NOT NULL"),
    index("endpoints_deleted", "deleted_at", where="deleted_at IS NOT NULL"),
    runtime="UPDATE",
    worker="SELECT UPDATE DELETE",
)
table(
    "deliveries",
    tenant(),
    id_(key=True),
    id_("endpoint_id"),
    id_("event_id"),
    *texts("event_type", "status"),
    number("attempt_count"),
    # Retries in the current schedule; a manual retry starts a new schedule.
    small("retry_count"),
    time_("due_at", null=True),
    time_("created_at"),
    refers("endpoint_id", "endpoints"),
    index("deliveries_endpoint", "tenant_id endpoint_id id"),
    index("deliveries_status", "tenant_id endpoint_id status id"),
    index("deliveries_due", "tenant_id endpoint_id due_at id", where="due_at IS NOT NULL"),
    runtime="UPDATE",
    worker="SELECT INSERT UPDATE DELETE",
)
table(
    "attempts",
    tenant(),
    id_("delivery_id", key=True),
    number("number", key=True),
    time_("sent_at"),
    number("duration_ms"),
    *texts("url", "request_headers"),
    small("status", null=True),
    *texts("answer_headers", "answer_body", "error", null=True),
    refers("delivery_id", "deliveries"),
    worker="SELECT INSERT UPDATE DELETE",
)
table(
    "replays",
    tenant(),
    id_(key=True),
    id_("endpoint_id"),
    time_("since"),
    time_("until"),
    # The last event that was processed.
    id_("after_id"),
    number("delivery_count"),
    time_("created_at"),
    time_("finished_at", null=True),
    refers("endpoint_id", "endpoints"),
    index("replays_open", "id", where="finished_at IS NULL"),
    worker="SELECT UPDATE DELETE",
)

table(
    "audit",
    tenant(),
    id_(key=True),
    *texts("action", "actor_kind"),
    id_("actor_id"),
    *texts("actor_name", "address"),
    id_("object_id", null=True),
    text_("details"),
    time_("created_at"),
    worker="SELECT UPDATE",
)
