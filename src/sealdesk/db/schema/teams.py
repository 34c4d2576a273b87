"""Tables of teams."""

from sqlalchemy import BigInteger, Column, Index, Table

from sealdesk.db.schema.columns import (
    TEXT,
    id_,
    metadata,
    of_tenant,
    refers,
    tenant,
    texts,
    time_,
)

# deleted_at: tickets still name it; its name_identity is then its id, so that the name is free.
# assignment: by_hand or round_robin. capacity: the most open tickets that a member is given.
Table(
    "teams",
    metadata,
    tenant(),
    id_(key=True),
    *texts("name", "name_identity", "assignment"),
    Column("capacity", BigInteger, nullable=False),
    time_("created_at"),
    time_("deleted_at", null=True),
    of_tenant(),
    Index("teams_name", "tenant_id", "name_identity", unique=True),
)
# seen_at: when the user last used a page, to a minute. last_assigned_at: by the round robin.
Table(
    "team_members",
    metadata,
    tenant(),
    Column("team_id", TEXT, primary_key=True),
    Column("user_id", TEXT, primary_key=True),
    time_("last_assigned_at", null=True),
    time_("seen_at", null=True),
    refers("team_id", "teams"),
    refers("user_id", "users"),
    Index("team_members_user", "tenant_id", "user_id"),
    sqlite_with_rowid=False,
)
