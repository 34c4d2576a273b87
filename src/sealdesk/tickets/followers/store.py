"""The SQL of followers. The ticket has their number, so that others cost no statement."""

from collections.abc import Sequence
from typing import NamedTuple

from sealdesk.db.column_lists import delete_row, insert_once, select_row
from sealdesk.db.engine import Tx
from sealdesk.tickets.followers.types import FollowerResponse

MAX_FOLLOWERS = 50

_LIST = """
SELECT u.id, u.name FROM ticket_followers f JOIN users u ON u.tenant_id = :tenant_id
    AND u.id = f.user_id
WHERE f.tenant_id = :tenant_id AND f.ticket_id = :ticket_id AND u.is_active
ORDER BY u.id LIMIT :limit
"""
_LIST_ALL = """
SELECT u.id, u.name, u.is_active FROM ticket_followers f JOIN users u ON u.tenant_id = :tenant_id
    AND u.id = f.user_id
WHERE f.tenant_id = :tenant_id AND f.ticket_id = :ticket_id
ORDER BY u.id LIMIT :limit
"""
_IS_FOLLOWER = select_row("ticket_followers", "1", "tenant_id user_id ticket_id")
_FOLLOWER = "tenant_id user_id ticket_id"
_ADD = insert_once("ticket_followers", _FOLLOWER, _FOLLOWER)
_DELETE = delete_row("ticket_followers", "tenant_id user_id ticket_id")
_COUNT_UP = """
UPDATE tickets SET follower_count = follower_count + 1
WHERE tenant_id = :tenant_id AND id = :id AND follower_count < :most
"""
_COUNT_DOWN = """
UPDATE tickets SET follower_count = follower_count - 1
WHERE tenant_id = :tenant_id AND id = :id AND follower_count > 0
"""


class Follower(NamedTuple):
    """An active user who follows a ticket."""

    id: str
    name: str


async def list_followers(tx: Tx, tenant_id: str, ticket_id: str) -> Sequence[Follower]:
    """Those who are active; others stay without notifications until they are active again."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "limit": MAX_FOLLOWERS}
    return [Follower(*row) for row in await tx.fetch_all(_LIST, params)]


async def list_all(tx: Tx, tenant_id: str, ticket_id: str) -> list[FollowerResponse]:
    """All followers, deactivated users too."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "limit": MAX_FOLLOWERS}
    return [
        FollowerResponse(row["id"], row["name"], bool(row["is_active"]))
        for row in await tx.fetch_all(_LIST_ALL, params)
    ]


async def add(tx: Tx, tenant_id: str, ticket_id: str, user_id: str) -> bool:
    """Whether the user follows the ticket now; False if it has no room for a further follower."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "user_id": user_id}
    if await tx.fetch_one(_IS_FOLLOWER, params):
        return True
    counted = {"tenant_id": tenant_id, "id": ticket_id}
    if not await tx.execute(_COUNT_UP, {**counted, "most": MAX_FOLLOWERS}):
        return False
    if not await tx.execute(_ADD, params):  # somebody else has added them meanwhile
        await tx.execute(_COUNT_DOWN, counted)
    return True


async def remove(tx: Tx, tenant_id: str, ticket_id: str, user_id: str) -> None:
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "user_id": user_id}
    if await tx.execute(_DELETE, params):
        await tx.execute(_COUNT_DOWN, {"tenant_id": tenant_id, "id": ticket_id})
