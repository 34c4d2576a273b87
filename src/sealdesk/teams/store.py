"""The SQL of teams, their members, and the tickets that wait for one of them."""

from collections.abc import Mapping, Sequence

from sealdesk.db.column_lists import column_list, delete_row, insert_into, select_row, update_row
from sealdesk.db.engine import Row, StructRows, Tx
from sealdesk.resources.identity import identity
from sealdesk.resources.paging import PageRequest
from sealdesk.teams.rules import MAX_MEMBERS
from sealdesk.teams.types import MAX_CAPACITY, Member, Team
from sealdesk.tickets.ticket.store.teams import MAX_TEAMS

_ROWS = StructRows(Team)
_COLUMNS = column_list(_ROWS.columns)
_FIND = select_row("teams", _COLUMNS)
_FIND_NAME = select_row("teams", "id", "tenant_id name_identity")
_LIST = f"""
SELECT {_COLUMNS} FROM teams WHERE tenant_id = :tenant_id AND id < :before AND deleted_at IS NULL
ORDER BY id DESC LIMIT :limit
"""
_ADD = insert_into("teams", (*_ROWS.columns, "name_identity"))
_CHANGED = "name name_identity assignment capacity deleted_at"
_REPLACE = f"{update_row('teams', _CHANGED)} AND deleted_at IS NULL"
# Reads at most so many entries of the index for each member.
_LIST_MEMBERS = f"""
SELECT m.user_id, u.name, u.is_active, m.seen_at, m.last_assigned_at,
    (SELECT count(*) FROM (SELECT 1 FROM tickets t WHERE t.tenant_id = :tenant_id
        AND t.status = 'open' AND t.assignee_id = m.user_id LIMIT {MAX_CAPACITY}) x) AS open_count,
    m.away_at, m.capacity
FROM team_members m JOIN users u ON u.tenant_id = :tenant_id AND u.id = m.user_id
WHERE m.tenant_id = :tenant_id AND m.team_id = :team_id ORDER BY m.user_id LIMIT :limit
"""
_ADD_MEMBER = insert_into("team_members", "tenant_id team_id user_id away_at capacity")
_FIND_AWAY = """
SELECT away_at FROM team_members WHERE tenant_id = :tenant_id AND user_id = :user_id
ORDER BY team_id LIMIT 1
"""
_DELETE_MEMBER = delete_row("team_members", "tenant_id team_id user_id")
_SET_ASSIGNED = update_row("team_members", "last_assigned_at", key="tenant_id team_id user_id")
_SET_CAPACITY = update_row("team_members", "capacity", key="tenant_id team_id user_id")
_IS_MEMBER = """
SELECT user_id FROM team_members WHERE tenant_id = :tenant_id AND user_id = :user_id LIMIT :limit
"""
_SET_SEEN = update_row("team_members", "seen_at", key="tenant_id user_id")
_LIST_WAITING = f"""
SELECT {column_list(_ROWS.columns, "g")} FROM teams g
WHERE g.tenant_id = :tenant_id AND g.assignment = 'round_robin' AND g.deleted_at IS NULL
    AND EXISTS (SELECT 1 FROM tickets t WHERE t.tenant_id = :tenant_id AND t.team_id = g.id
        AND t.status = 'open' AND t.assignee_id IS NULL AND t.snoozed_until IS NULL)
ORDER BY g.id LIMIT :limit
"""
_LIST_TICKETS = """
SELECT t.id FROM tickets t WHERE t.tenant_id = :tenant_id AND t.team_id = :team_id
    AND t.status = 'open' AND t.assignee_id IS NULL AND t.snoozed_until IS NULL
ORDER BY t.id LIMIT :limit
"""


async def find(tx: Tx, tenant_id: str, team_id: str) -> Team | None:
    """A team, also a deleted one."""
    return await _ROWS.find(tx, _FIND, {"tenant_id": tenant_id, "id": team_id})


async def find_name(tx: Tx, tenant_id: str, name: str) -> str | None:
    """The id of the team with this name."""
    params = {"tenant_id": tenant_id, "name_identity": identity(name)}
    row = await tx.fetch_one(_FIND_NAME, params)
    return None if row is None else str(row["id"])


async def list_teams(tx: Tx, tenant_id: str, page: PageRequest) -> list[Team]:
    """Newest first; one more than the page when there are more."""
    params = page.params(tenant_id)
    return [_ROWS.read(row) for row in await tx.fetch_all(_LIST, params)]


async def add(tx: Tx, team: Team) -> None:
    await tx.execute_one(_ADD, _params(team))


async def replace(tx: Tx, team: Team) -> None:
    """Store a changed or deleted team."""
    await tx.execute_one(_REPLACE, _params(team))


async def list_members(tx: Tx, tenant_id: str, team_id: str) -> list[Member]:
    """All members, each with the number of their open tickets."""
    params = {"tenant_id": tenant_id, "team_id": team_id}
    rows = await tx.fetch_all(_LIST_MEMBERS, {**params, "limit": MAX_MEMBERS})
    return [_member(row) for row in rows]


async def add_member(
    tx: Tx, tenant_id: str, team_id: str, user_id: str, capacity: int | None
) -> None:
    params: dict[str, object] = {"tenant_id": tenant_id, "user_id": user_id}
    elsewhere = await tx.fetch_one(_FIND_AWAY, params)
    away_at = None if elsewhere is None else elsewhere["away_at"]
    of_team = {"team_id": team_id, "away_at": away_at, "capacity": capacity}
    await tx.execute_one(_ADD_MEMBER, params | of_team)


async def set_capacity(
    tx: Tx, tenant_id: str, team_id: str, user_id: str, capacity: int | None
) -> None:
    params = {"tenant_id": tenant_id, "team_id": team_id, "user_id": user_id}
    await tx.execute_one(_SET_CAPACITY, {**params, "capacity": capacity})


async def delete_member(tx: Tx, tenant_id: str, team_id: str, user_id: str) -> bool:
    """Whether the user was a member."""
    params = {"tenant_id": tenant_id, "team_id": team_id, "user_id": user_id}
    return await tx.execute(_DELETE_MEMBER, params) == 1


async def set_assigned(
    tx: Tx, tenant_id: str, team_id: str, assigned_at: Mapping[str, int]
) -> None:
    """Store when users were given their last ticket of a team."""
    one = {"tenant_id": tenant_id, "team_id": team_id}
    many = [{**one, "user_id": user, "last_assigned_at": at} for user, at in assigned_at.items()]
    await tx.execute_many(_SET_ASSIGNED, many)


async def list_members_among(tx: Tx, tenant_id: str, user_ids: Sequence[str]) -> list[str]:
    """Those of the users who are members of a team."""
    many = [{"tenant_id": tenant_id, "user_id": each, "limit": 1} for each in user_ids]
    found = await tx.fetch_for_each(_IS_MEMBER, many)
    return [user for user, rows in zip(user_ids, found, strict=True) if rows]


async def set_seen(tx: Tx, tenant_id: str, seen_at: Mapping[str, int]) -> None:
    """Store when members were seen, in all of their teams."""
    many = [
        {"tenant_id": tenant_id, "user_id": user, "seen_at": at} for user, at in seen_at.items()
    ]
    await tx.execute_many(_SET_SEEN, many)


async def list_waiting_teams(tx: Tx, tenant_id: str) -> list[Team]:
    """The teams with round robin that have open tickets of nobody."""
    rows = await tx.fetch_all(_LIST_WAITING, {"tenant_id": tenant_id, "limit": MAX_TEAMS})
    return [_ROWS.read(row) for row in rows]


async def list_waiting_tickets(tx: Tx, tenant_id: str, team_id: str, limit: int) -> list[str]:
    """The ids of the oldest open tickets of a team that nobody has."""
    params = {"tenant_id": tenant_id, "team_id": team_id, "limit": limit}
    return [row["id"] for row in await tx.fetch_all(_LIST_TICKETS, params)]


def _member(row: Row) -> Member:
    user_id, name, is_active, *rest = row
    return Member(user_id, name, bool(is_active), *rest)


def _params(team: Team) -> dict[str, object]:
    is_deleted = team.deleted_at is not None
    name_identity = team.id if is_deleted else identity(team.name)
    return _ROWS.params(team) | {"name_identity": name_identity}
