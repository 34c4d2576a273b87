"""Tables of the dashboard: history, replies, reads, views, fields, macros, and key usage."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Table

from sealdesk.db.schema.columns import (
    TEXT,
    id_,
    metadata,
    of_tenant,
    refers,
    tenant,
    text_,
    texts,
    time_,
)

Table(
    "ticket_changes",
    metadata,
    tenant(),
    id_("ticket_id", key=True),
    id_(key=True),
    *texts("actor_kind", "actor_id", "actor_name"),
    # JSON: field → [old, new].
    text_("changes"),
    time_("created_at"),
    refers("ticket_id", "tickets"),
)
# Agents who are writing a reply; rows expire within a minute.
Table(
    "answering",
    metadata,
    tenant(),
    id_("ticket_id", key=True),
    id_("user_id", key=True),
    text_("user_name"),
    time_("seen_at"),
    refers("ticket_id", "tickets"),
    Index("answering_seen_at", "seen_at"),
)
# Users who have a page of a topic, the id of a ticket, open; rows expire within a minute.
Table(
    "viewers",
    metadata,
    tenant(),
    *(id_(name, key=True) for name in ("topic", "user_id", "process_id")),
    text_("user_name"),
    time_("seen_at"),
    of_tenant(),
    Index("viewers_seen_at", "seen_at"),
)
# How often viewers have changed, for all topics whose hash is the bucket.
Table(
    "presence_counters",
    metadata,
    Column("bucket", BigInteger, primary_key=True, autoincrement=False),
    Column("changes", BigInteger, nullable=False),
)
# When a user last saw a ticket. The row without a ticket ends what counts as read by its age.
Table(
    "reads",
    metadata,
    tenant(),
    id_("user_id", key=True),
    id_("ticket_id", key=True),
    time_("seen_at"),
    of_tenant(),
    Index("reads_seen_at", "tenant_id", "user_id", "seen_at"),
    sqlite_with_rowid=False,
)
# Saved queries of the inbox. owner_id: a user, or "" for the desk. place: in the owner's order.
Table(
    "views",
    metadata,
    tenant(),
    id_(key=True),
    *texts("owner_id", "name", "name_identity", "query"),
    Column("place", BigInteger, nullable=False),
    time_("created_at"),
    of_tenant(),
    Index("views_name", "tenant_id", "owner_id", "name_identity", unique=True),
)
# Definitions of custom fields. choices: a JSON array. place: in the order of the tenant.
Table(
    "field_definitions",
    metadata,
    tenant(),
    id_(key=True),
    *texts("key", "label", "type", "choices"),
    Column("required_on_resolve", Boolean, nullable=False),
    Column("place", BigInteger, nullable=False),
    Column("is_active", Boolean, nullable=False),
    time_("created_at"),
    time_("updated_at"),
    of_tenant(),
)
# Canned replies of the desk. tags: JSON. What is null stays as it is on the ticket.
Table(
    "macros",
    metadata,
    tenant(),
    id_(key=True),
    *texts("name", "shortcut", "shortcut_identity", "body"),
    *texts("status", "priority", "assignee_id", "team_id", null=True),
    text_("tags"),
    time_("created_at"),
    time_("updated_at"),
    of_tenant(),
    Index("macros_shortcut", "tenant_id", "shortcut_identity", unique=True),
)
# What a user should know of; the newest 500 of each. kind: of what has happened.
Table(
    "notifications",
    metadata,
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
    Index("notifications_user", "tenant_id", "user_id", "id"),
)
# Requests of keys in the last 7 days. id: the request id, which begins with the time. target:
# without the values of the query.
Table(
    "request_log",
    metadata,
    tenant(),
    id_(key=True),
    id_("key_id"),
    *texts("method", "target"),
    Column("status", BigInteger, nullable=False),
    Column("duration_us", BigInteger, nullable=False),
    Column("response_bytes", BigInteger, nullable=False),
    refers("key_id", "api_keys"),
    sqlite_with_rowid=False,
)
# Requests of a key per hour, by status, endpoint, address or permission.
Table(
    "key_usage",
    metadata,
    tenant(),
    id_("key_id", key=True),
    Column("hour_at", BigInteger, primary_key=True, autoincrement=False),
    Column("measure", TEXT, primary_key=True),
    Column("value", TEXT, primary_key=True),
    Column("count", BigInteger, nullable=False),
    refers("key_id", "api_keys"),
    Index("key_usage_hour_at", "hour_at"),
    sqlite_with_rowid=False,
)
