"""The SQL of the page "Team now". Each statement reads a bounded number of tickets."""

from collections.abc import Mapping

from sealdesk import ids
from sealdesk.db.column_lists import update_row
from sealdesk.db.engine import Tx
from sealdesk.team_now.types import FirstReply, Group, Waiting
from sealdesk.tickets.ticket.store.filters import UNFINISHED
from sealdesk.tickets.ticket.store.tickets import decode_due
from sealdesk.tickets.ticket.types import PRIORITIES

MAX_TICKETS = 10_000
MAX_WAITING = 10
_MAX_PEOPLE = 1_000
_GROUPS = """
SELECT assignee_id, team_id, count(*) AS open_count, count(waiting_since) AS waiting_count
FROM (SELECT t.assignee_id, t.team_id, t.waiting_since FROM tickets t
    WHERE t.tenant_id = :tenant_id AND t.status = 'open' AND t.snoozed_until IS NULL
    LIMIT :limit) x
GROUP BY assignee_id, team_id
"""
_WAITING = """
SELECT t.id, t.number, t.subject, t.priority, t.assignee_id, t.team_id, t.waiting_since,
    t.clocks
FROM tickets t WHERE t.tenant_id = :tenant_id AND t.waiting_since IS NOT NULL
    AND t.status = 'open' AND t.snoozed_until IS NULL
ORDER BY t.waiting_since, t.id LIMIT :limit
"""
_WAITING_OF_TEAM = _WAITING.replace("ORDER BY", "    AND t.team_id = :team_id\nORDER BY")
_NEXT_DUE = """
SELECT team_id, min(due_at) AS due_at FROM (SELECT t.team_id, t.due_at FROM tickets t
    WHERE t.tenant_id = :tenant_id AND t.due_at IS NOT NULL AND t.snoozed_until IS NULL
    ORDER BY t.due_at, t.id LIMIT :limit) x
GROUP BY team_id
"""
_FIRST_REPLIES = """
SELECT t.id, t.number, t.assignee_id, t.team_id, t.created_at, t.first_response_at
FROM tickets t WHERE t.tenant_id = :tenant_id AND t.id >= :since
ORDER BY t.id DESC LIMIT :limit
"""
_PRESENCE = """
SELECT user_id, max(seen_at) AS seen_at, max(away_at) AS away_at FROM team_members
WHERE tenant_id = :tenant_id GROUP BY user_id ORDER BY user_id LIMIT :limit
"""
_STATUSES = ", ".join(f"'{status}'" for status in UNFINISHED)
_UNFINISHED = f"""
SELECT t.id FROM tickets t WHERE t.tenant_id = :tenant_id AND t.assignee_id = :user_id
    AND t.status IN ({_STATUSES}) AND t.id > :after_id
ORDER BY t.id LIMIT :limit
"""
_SET_AWAY = update_row("team_members", "away_at", key="tenant_id user_id")


async def list_groups(tx: Tx, tenant_id: str) -> list[Group]:
    """How many open tickets there are by person and team, of the first 10,000."""
    rows = await tx.fetch_all(_GROUPS, {"tenant_id": tenant_id, "limit": MAX_TICKETS})
    return [Group(*row) for row in rows]


async def list_waiting(tx: Tx, tenant_id: str, team_id: str) -> list[Waiting]:
    """The open tickets that have waited longest. team_id: "" for all."""
    params = {"tenant_id": tenant_id, "limit": MAX_WAITING}
    if team_id:
        rows = await tx.fetch_all(_WAITING_OF_TEAM, {**params, "team_id": team_id})
    else:
        rows = await tx.fetch_all(_WAITING, params)
    return [
        Waiting(
            id_,
            number,
            subject,
            PRIORITIES[rank - 1],
            assignee_id,
            team_id,
            since,
            decode_due(clocks),
        )
        for id_, number, subject, rank, assignee_id, team_id, since, clocks in rows
    ]


async def find_next_due(tx: Tx, tenant_id: str) -> dict[str | None, int]:
    """When something of each team is due first, of the first 10,000 tickets."""
    rows = await tx.fetch_all(_NEXT_DUE, {"tenant_id": tenant_id, "limit": MAX_TICKETS})
    return {row["team_id"]: row["due_at"] for row in rows}


async def list_first_replies(tx: Tx, tenant_id: str, since_us: int) -> list[FirstReply]:
    """The tickets since a time, newest first, and how long their first replies took."""
    params = {"tenant_id": tenant_id, "since": ids.lowest(since_us), "limit": MAX_TICKETS}
    return [
        FirstReply(
            row["id"],
            row["number"],
            row["assignee_id"],
            row["team_id"],
            row["first_response_at"] and row["first_response_at"] - row["created_at"],
        )
        for row in await tx.fetch_all(_FIRST_REPLIES, params)
    ]


async def read_presence(tx: Tx, tenant_id: str) -> Mapping[str, tuple[int | None, int | None]]:
    """When members of teams were last seen and since when they are away, by their ids."""
    rows = await tx.fetch_all(_PRESENCE, {"tenant_id": tenant_id, "limit": _MAX_PEOPLE})
    return {row["user_id"]: (row["seen_at"], row["away_at"]) for row in rows}


async def set_away(tx: Tx, tenant_id: str, user_id: str, away_at: int | None) -> int:
    """Store since when a user is away, in all of their teams; how many these are."""
    params = {"tenant_id": tenant_id, "user_id": user_id, "away_at": away_at}
    return await tx.execute(_SET_AWAY, params)


async def list_unfinished(
    tx: Tx, tenant_id: str, user_id: str, after_id: str, limit: int
) -> list[str]:
    """The ids of the unfinished tickets of a user behind an id, also of those asleep."""
    params = {"tenant_id": tenant_id, "user_id": user_id, "after_id": after_id, "limit": limit}
    return [row["id"] for row in await tx.fetch_all(_UNFINISHED, params)]
