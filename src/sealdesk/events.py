"""The outbox: what happened, written in the transaction of the change (decisions 11)."""

from typing import Any, Literal

import msgspec

from sealdesk import ids
from sealdesk.db.engine import Tx

EventType = Literal[
    "ticket.created",
    "ticket.updated",
    "ticket.status_changed",
    "reply.created",
    "customer.created",
    "customer.updated",
    "api_key.created",
    "api_key.updated",
    "api_key.revoked",
    "api_key.rotated",
]
Changes = dict[str, tuple[Any, Any]]
NO_CHANGES: Changes = {}

_INSERT = """
INSERT INTO events (tenant_id, id, type, object, changes, created_at)
VALUES (:tenant_id, :id, :type, :object, :changes, :created_at)
"""

_PRUNE = """
DELETE FROM events WHERE tenant_id = :tenant_id AND id IN
    (SELECT id FROM events WHERE tenant_id = :tenant_id AND id < :before ORDER BY id LIMIT :limit)
"""


async def record(
    tx: Tx, tenant_id: str, kind: EventType, document: bytes, changes: Changes, now_us: int
) -> None:
    """Note that something happened.

    document: the object as the API shows it, as JSON. changes: field → (old, new).
    """
    await tx.put(
        _INSERT,
        {
            "tenant_id": tenant_id,
            "id": ids.mint(now_us),
            "type": kind,
            "object": document,
            "changes": msgspec.json.encode(changes).decode() if changes else "{}",
            "created_at": now_us,
        },
    )


async def prune(tx: Tx, tenant_id: str, before_us: int, limit: int) -> int:
    """Delete some of a tenant's events older than an instant; how many."""
    return await tx.run(
        _PRUNE, {"tenant_id": tenant_id, "before": ids.lowest(before_us), "limit": limit}
    )
