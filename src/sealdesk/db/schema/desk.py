"""Tables of the dashboard: history, replies, reads, views, fields, macros, and key usage."""

from sealdesk.db.schema.definitions import (
    DAY_US,
    ONE_SHARD,
    SECOND_US,
    Expiry,
    flag,
    id_,
    identity_of,
    index,
    number,
    of_tenant,
    refers,
    table,
    tenant,
    text_,
    texts,
    time_,
)

table(
    "ticket_changes",
    tenant(),
    id_("ticket_id", key=True),
    id_(key=True),
    *texts("actor_kind", "actor_id", "actor_name"),
    # JSON: field → [old, new].
    text_("changes"),
    time_("created_at"),
    refers("ticket_id", "tickets"),
    worker="SELECT INSERT UPDATE",
)
# Agents who are writing a reply; rows expire within a minute.
table(
    "answering",
    tenant(),
    id_("ticket_id", key=True),
    id_("user_id", key=True),
    text_("user_name"),
    time_("seen_at"),
    refers("ticket_id", "tickets"),
    index("answering_seen_at", "seen_at"),
    runtime="UPDATE DELETE",
    worker="SELECT DELETE",
    expiry=Expiry("seen_at", 60 * SECOND_US),
)
# Whether public replies of pages are held for some seconds before they leave.
table(
    "reply_settings",
    tenant(),
    flag("is_on"),
    time_("updated_at"),
    of_tenant(),
    runtime="UPDATE",
)
# Public replies that have not left: until due_at their author can undo them. form: JSON, the fields
# of the composer. failed_at, reason: when and by which error code one could not leave; it stays.
table(
    "held_replies",
    tenant(),
    id_(key=True),
    id_("ticket_id"),
    id_("user_id"),
    *texts("user_name", "form"),
    time_("due_at"),
    time_("failed_at", null=True),
    text_("reason", null=True),
    refers("ticket_id", "tickets"),
    refers("user_id", "users"),
    index("held_replies_due", "due_at tenant_id id", where="failed_at IS NULL"),
    index("held_replies_ticket", "tenant_id ticket_id id"),
    index("held_replies_user", "tenant_id user_id id"),
    index("held_replies_failed_at", "failed_at"),
    runtime="UPDATE DELETE",
    worker="SELECT UPDATE DELETE",
    expiry=Expiry("failed_at", 30 * DAY_US),
)
# Users who have a page of a topic, the id of a ticket, open; rows expire within a minute.
table(
    "viewers",
    tenant(),
    *(id_(name, key=True) for name in ("topic", "user_id", "process_id")),
    text_("user_name"),
    time_("seen_at"),
    of_tenant(),
    index("viewers_seen_at", "seen_at"),
    runtime="UPDATE DELETE",
    worker="SELECT DELETE",
    expiry=Expiry("seen_at", 50 * SECOND_US),
)
# How often viewers have changed, for all topics whose hash is the bucket.
table(
    "presence_counters",
    number("bucket", key=True),
    number("changes"),
    place=ONE_SHARD,
    runtime="UPDATE",
)
# When a user last saw a ticket. The row without a ticket ends what counts as read by its age.
table(
    "reads",
    tenant(),
    id_("user_id", key=True),
    id_("ticket_id", key=True),
    time_("seen_at"),
    of_tenant(),
    index("reads_seen_at", "tenant_id user_id seen_at"),
    has_rowid=False,
    runtime="UPDATE DELETE",
    worker="SELECT INSERT UPDATE",
)
# Saved queries of the inbox. owner_id: a user, or "" for the desk. place: in the owner's order.
table(
    "views",
    tenant(),
    id_(key=True),
    *texts("owner_id", "name"),
    identity_of("name"),
    text_("query"),
    number("place"),
    time_("created_at"),
    of_tenant(),
    index("views_name", "tenant_id owner_id name_identity"),
    runtime="UPDATE DELETE",
    worker="SELECT UPDATE",
)
# Definitions of custom fields. choices: a JSON array. place: in the order of the tenant.
table(
    "field_definitions",
    tenant(),
    id_(key=True),
    *texts("key", "label", "type", "choices"),
    flag("required_on_resolve"),
    number("place"),
    flag("is_active"),
    time_("created_at"),
    time_("updated_at"),
    of_tenant(),
    runtime="UPDATE DELETE",
    worker="SELECT",
)
# When a desk works. settings: JSON.
table(
    "business_hours",
    tenant(),
    text_("settings"),
    time_("updated_at"),
    of_tenant(),
    runtime="UPDATE",
    worker="SELECT INSERT UPDATE",
)
# By when the desk promises what. settings: JSON, what the other columns do not say.
table(
    "sla_policies",
    tenant(),
    id_(key=True),
    text_("name"),
    number("position"),
    text_("settings"),
    number("version"),
    time_("created_at"),
    time_("updated_at"),
    of_tenant(),
    runtime="UPDATE DELETE",
    worker="SELECT",
)
# Tenants whose tickets get the due times of changed policies, by the worker in steps. ticket_id: up
# to which they have them.
table(
    "sla_renewals",
    tenant(),
    id_("ticket_id"),
    time_("stepped_at"),
    of_tenant(),
    index("sla_renewals_stepped_at", "stepped_at tenant_id"),
    runtime="UPDATE",
    worker="SELECT UPDATE DELETE",
)
# Canned replies. owner_id: a user, "" for the desk. tags: JSON. What is null stays as it is on the
# ticket.
table(
    "macros",
    tenant(),
    id_(key=True),
    text_("owner_id", default=""),
    *texts("name", "shortcut"),
    identity_of("shortcut"),
    text_("body"),
    *texts("status", "priority", "assignee_id", "team_id", null=True),
    text_("tags"),
    time_("created_at"),
    time_("updated_at"),
    of_tenant(),
    index("macros_shortcut", "tenant_id owner_id shortcut_identity"),
    runtime="UPDATE DELETE",
    worker="SELECT UPDATE",
)
# What a user should know of; the newest 500 of each. kind: of what has happened.
table(
    "notifications",
    tenant(),
    id_(key=True),
    id_("user_id"),
    text_("kind"),
    id_("ticket_id"),
    text_("actor_name"),
    time_("created_at"),
    time_("read_at", null=True),
    refers("user_id", "users"),
    refers("ticket_id", "tickets"),
    index("notifications_user", "tenant_id user_id id"),
    runtime="UPDATE DELETE",
    worker="SELECT INSERT UPDATE DELETE",
)
# Requests of keys in the last 7 days. id: the request id, which begins with the time. target:
# without the values of the query. cpu_us: how long it held the event loop.
table(
    "request_log",
    tenant(),
    id_(key=True),
    id_("key_id"),
    *texts("method", "target"),
    number("status"),
    number("duration_us"),
    number("response_bytes"),
    number("cpu_us", null=True),
    refers("key_id", "api_keys"),
    has_rowid=False,
    worker="SELECT DELETE",
)
# Requests of a key per hour, by status, endpoint, address or permission.
table(
    "key_usage",
    tenant(),
    id_("key_id", key=True),
    number("hour_at", key=True),
    text_("measure", key=True),
    text_("value", key=True),
    number("count"),
    refers("key_id", "api_keys"),
    index("key_usage_hour_at", "hour_at"),
    has_rowid=False,
    runtime="UPDATE",
    worker="SELECT DELETE",
    expiry=Expiry("hour_at", 30 * DAY_US),
)
