"""The SQL of held replies, and of whether a desk holds them."""

from sealdesk.db.column_lists import delete_row, insert_into, insert_or_update, update_row
from sealdesk.db.engine import Tx
from sealdesk.tickets.held_replies.types import MAX_OF_USER, DueReply, HeldReply

MAX_OF_TICKET = 20  # that its page shows

_SELECT = """
SELECT h.tenant_id, h.id, h.ticket_id, t.number, h.user_id, h.user_name, h.form, h.due_at,
    h.failed_at, h.reason
FROM held_replies h JOIN tickets t ON t.tenant_id = :tenant_id AND t.id = h.ticket_id
WHERE h.tenant_id = :tenant_id"""
_FIND = f"{_SELECT} AND h.id = :id LIMIT 1"
_LIST_OF_TICKET = f"{_SELECT} AND h.ticket_id = :ticket_id ORDER BY h.id LIMIT :limit"
_LIST_OF_USER = f"{_SELECT} AND h.user_id = :user_id ORDER BY h.id LIMIT :limit"
_PRUNE_DUE = """
SELECT tenant_id, id FROM held_replies WHERE failed_at IS NULL AND due_at <= :now
ORDER BY due_at, tenant_id, id LIMIT :limit
"""
_ADD = insert_into("held_replies", "tenant_id id ticket_id user_id user_name form due_at")
_DELETE = delete_row("held_replies")
_DELETE_OF_TICKET = delete_row("held_replies", "tenant_id ticket_id")
_FAIL = update_row("held_replies", "failed_at reason ticket_id")
_MOVE = """
UPDATE held_replies SET ticket_id = :to_id WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id
"""
_FIND_SETTING = (
    "SELECT tenant_id, is_on FROM reply_settings WHERE tenant_id = :tenant_id LIMIT :limit"
)
_SAVE_SETTING = insert_or_update("reply_settings", "tenant_id", "is_on updated_at")


async def find(tx: Tx, tenant_id: str, held_id: str) -> HeldReply | None:
    row = await tx.fetch_one(_FIND, {"tenant_id": tenant_id, "id": held_id})
    return None if row is None else HeldReply(*row)


async def list_of_ticket(tx: Tx, tenant_id: str, ticket_id: str) -> list[HeldReply]:
    """In the order in which they were sent."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "limit": MAX_OF_TICKET}
    return [HeldReply(*row) for row in await tx.fetch_all(_LIST_OF_TICKET, params)]


async def list_of_user(tx: Tx, tenant_id: str, user_id: str) -> list[HeldReply]:
    """The same of all tickets."""
    params = {"tenant_id": tenant_id, "user_id": user_id, "limit": MAX_OF_USER}
    return [HeldReply(*row) for row in await tx.fetch_all(_LIST_OF_USER, params)]


async def list_due_replies(tx: Tx, now_us: int, limit: int) -> list[DueReply]:
    """Of all tenants; the earliest first."""
    return [
        DueReply(*row) for row in await tx.fetch_all(_PRUNE_DUE, {"now": now_us, "limit": limit})
    ]


async def add(tx: Tx, held: HeldReply) -> None:
    values = held._asdict() | {"form": held.fields}
    await tx.execute_one(_ADD, values)


async def delete(tx: Tx, held: HeldReply) -> None:
    """The work runs again if somebody else has deleted it meanwhile."""
    await tx.execute_one(_DELETE, {"tenant_id": held.tenant_id, "id": held.id})


async def delete_of_ticket(tx: Tx, tenant_id: str, ticket_id: str) -> None:
    await tx.execute(_DELETE_OF_TICKET, {"tenant_id": tenant_id, "ticket_id": ticket_id})


async def fail(tx: Tx, held: HeldReply, failed_at: int, reason: str, ticket_id: str) -> None:
    """Record that it could not leave. ticket_id: on whose page it is shown."""
    params = {"tenant_id": held.tenant_id, "id": held.id, "ticket_id": ticket_id}
    await tx.execute_one(_FAIL, {**params, "failed_at": failed_at, "reason": reason})


async def move(tx: Tx, tenant_id: str, from_id: str, to_id: str) -> None:
    """Let those of a ticket be of the one that it is merged into."""
    await tx.execute(_MOVE, {"tenant_id": tenant_id, "ticket_id": from_id, "to_id": to_id})


async def is_on(tx: Tx, tenant_id: str) -> bool:
    """Whether a desk holds public replies."""
    row = await tx.fetch_one(_FIND_SETTING, {"tenant_id": tenant_id, "limit": 1})
    return row is not None and bool(row["is_on"])


async def save_setting(tx: Tx, tenant_id: str, *, is_on: bool, now_us: int) -> None:
    params = {"tenant_id": tenant_id, "is_on": is_on, "updated_at": now_us}
    await tx.execute_one(_SAVE_SETTING, params)
