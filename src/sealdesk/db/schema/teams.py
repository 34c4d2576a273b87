"""Tables of teams."""

from sealdesk.db.schema.definitions import (
    id_,
    identity_of,
    index,
    number,
    of_tenant,
    refers,
    table,
    tenant,
    text_,
    time_,
)

# deleted_at: tickets still name it; its name_identity is then its id, so that the name is free.
# assignment: by_hand or round_robin. capacity: the most open tickets that a member is given.
# hours: JSON as in business_hours; null for those of the desk.
table(
    "teams",
    tenant(),
    id_(key=True),
    text_("name"),
    identity_of("name"),
    text_("assignment"),
    number("capacity"),
    time_("created_at"),
    time_("deleted_at", null=True),
    text_("hours", null=True),
    of_tenant(),
    index("teams_name", "tenant_id name_identity"),
    runtime="UPDATE",
    worker="SELECT UPDATE",
)
# seen_at: when the user last did something in a page, to a minute. away_at: since when they say
# that they are away. last_assigned_at: by the round robin. capacity: in place of the team's.
table(
    "team_members",
    tenant(),
    text_("team_id", key=True),
    text_("user_id", key=True),
    time_("last_assigned_at", null=True),
    time_("seen_at", null=True),
    time_("away_at", null=True),
    number("capacity", null=True),
    refers("team_id", "teams"),
    refers("user_id", "users"),
    index("team_members_user", "tenant_id user_id"),
    has_rowid=False,
    runtime="UPDATE DELETE",
    worker="SELECT",
)
