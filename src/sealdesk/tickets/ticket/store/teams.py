"""The SQL of teams as far as tickets are concerned."""

from collections.abc import Collection
from typing import NamedTuple

from sealdesk.db.column_lists import id_parameters
from sealdesk.db.engine import Tx

MAX_TEAMS = 200  # of a tenant
_IS_TEAM = """
SELECT 1 FROM teams WHERE tenant_id = :tenant_id AND id = :id AND deleted_at IS NULL LIMIT 1
"""
_LIST = """
SELECT id, name FROM teams WHERE tenant_id = :tenant_id AND deleted_at IS NULL
ORDER BY name_identity, id LIMIT :limit
"""
# At most 200 teams are put in order, of which one has few members.
_LIST_NEAR = """
SELECT g.id, g.name FROM teams g
LEFT JOIN team_members m
    ON m.tenant_id = :tenant_id AND m.team_id = g.id AND m.user_id = :user_id
WHERE g.tenant_id = :tenant_id AND g.deleted_at IS NULL
ORDER BY CASE WHEN m.user_id IS NULL THEN 1 ELSE 0 END, g.name_identity, g.id LIMIT :limit
"""
_LIST_MEMBERS = """
SELECT m.user_id FROM team_members m
JOIN users u ON u.tenant_id = :tenant_id AND u.id = m.user_id
WHERE m.tenant_id = :tenant_id AND m.team_id = :team_id AND u.is_active
ORDER BY m.user_id LIMIT :limit
"""
_MAX_MEMBERS = 50  # as many as a team may have (teams.rules)


class TeamOption(NamedTuple):
    """A team that tickets can be given to."""

    id: str
    name: str


async def is_team(tx: Tx, tenant_id: str, team_id: str) -> bool:
    """Whether a ticket of the tenant can be given to this team."""
    return await tx.fetch_one(_IS_TEAM, {"tenant_id": tenant_id, "id": team_id}) is not None


async def list_teams(tx: Tx, tenant_id: str) -> list[TeamOption]:
    """All teams by their names."""
    rows = await tx.fetch_all(_LIST, {"tenant_id": tenant_id, "limit": MAX_TEAMS})
    return [TeamOption(row["id"], row["name"]) for row in rows]


async def list_choices(tx: Tx, tenant_id: str, chosen_id: str | None) -> list[TeamOption]:
    """The teams by their names, and the one that is chosen, which may be deleted."""
    teams = await list_teams(tx, tenant_id)
    if chosen_id and chosen_id not in dict(teams):
        names = await list_names(tx, tenant_id, [chosen_id])
        teams += [TeamOption(*each) for each in names.items()]
    return teams


async def list_near(tx: Tx, tenant_id: str, user_id: str, limit: int) -> list[TeamOption]:
    """The first teams: those of a user, then the others, each by their names."""
    params = {"tenant_id": tenant_id, "user_id": user_id, "limit": limit}
    return [TeamOption(row["id"], row["name"]) for row in await tx.fetch_all(_LIST_NEAR, params)]


async def list_member_ids(tx: Tx, tenant_id: str, team_id: str) -> list[str]:
    """The ids of the active members of a team."""
    params = {"tenant_id": tenant_id, "team_id": team_id, "limit": _MAX_MEMBERS}
    return [row["user_id"] for row in await tx.fetch_all(_LIST_MEMBERS, params)]


async def list_names(tx: Tx, tenant_id: str, team_ids: Collection[str]) -> dict[str, str]:
    """The names of teams by their id, also of deleted ones; unknown ids are left out."""
    keys, params = id_parameters(team_ids)
    params |= {"tenant_id": tenant_id, "limit": len(team_ids)}
    sql = (
        f"SELECT id, name FROM teams WHERE tenant_id = :tenant_id AND id IN ({keys})"
        " ORDER BY id LIMIT :limit"
    )
    return {row["id"]: row["name"] for row in await tx.fetch_all(sql, params)} if keys else {}
