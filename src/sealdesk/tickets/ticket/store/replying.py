"""The SQL of who is writing a reply to a ticket at the moment."""

from collections.abc import Sequence

from sealdesk.caller import Actor
from sealdesk.db.column_lists import delete_row, insert_or_update
from sealdesk.db.engine import Tx
from sealdesk.db.schema.retention import kept_us

# An agent counts as writing a reply for so long after the last heartbeat of the page: three missed.
REPLYING_US = kept_us("answering")
MAX_NAMES = 10

_RECORD = insert_or_update("answering", "tenant_id ticket_id user_id", "user_name seen_at")
_LIST = """
SELECT user_id, user_name FROM answering
WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id AND seen_at >= :seen_since
ORDER BY seen_at DESC, user_id LIMIT :limit
"""
_CLEAR = delete_row("answering", "tenant_id ticket_id user_id")


async def record_replying(
    tx: Tx, tenant_id: str, ticket_id: str, actor: Actor, now_us: int
) -> None:
    """Record that an agent is writing a reply."""
    await tx.enqueue(
        _RECORD,
        {
            "tenant_id": tenant_id,
            "ticket_id": ticket_id,
            "user_id": actor.id,
            "user_name": actor.name,
            "seen_at": now_us,
        },
    )


async def clear_replying(tx: Tx, tenant_id: str, ticket_id: str, user_id: str) -> None:
    """Record that an agent is no longer writing: the reply was sent."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "user_id": user_id}
    await tx.enqueue(_CLEAR, params)


async def list_replying(
    tx: Tx, tenant_id: str, ticket_id: str, *, except_id: str, now_us: int
) -> Sequence[str]:
    """The names of the other agents who are writing a reply."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "limit": MAX_NAMES}
    rows = await tx.fetch_all(_LIST, {**params, "seen_since": now_us - REPLYING_US})
    return [row["user_name"] for row in rows if row["user_id"] != except_id]
