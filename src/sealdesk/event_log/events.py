"""The outbox: what happened, written in the transaction of the change (decisions 11).

An event has no position at first. Once its transaction is durable the sequencer gives it one,
in order; what has a position is shown in the feed and delivered to webhook endpoints.
"""

from collections.abc import Sequence
from itertools import takewhile
from typing import Any, Literal, get_args

import msgspec

from sealdesk import clock, ids
from sealdesk.db.engine import Row, Tx

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
    "webhook.disabled",
    "webhook.test",
]
TYPES: tuple[str, ...] = get_args(EventType)
KEPT_US = 30 * 24 * 3600 * 1_000_000
Changes = dict[str, tuple[Any, Any]]
NO_CHANGES: Changes = {}

_INSERT = """
INSERT INTO events (tenant_id, id, type, object, changes, created_at)
VALUES (:tenant_id, :id, :type, :object, :changes, :created_at)
"""

_PENDING = """
SELECT tenant_id, id, type FROM events WHERE position IS NULL ORDER BY id LIMIT :limit
"""
_DRAW_POSITIONS = """
INSERT INTO feed_positions (tenant_id, last_position, pruned_position)
VALUES (:tenant_id, :count, 0)
ON CONFLICT (tenant_id) DO UPDATE SET last_position = feed_positions.last_position + :count
RETURNING last_position
"""
_PLACE = "UPDATE events SET position = :position WHERE tenant_id = :tenant_id AND id = :id"

_PRUNE_OLDEST = """
SELECT id, position FROM events WHERE tenant_id = :tenant_id AND position > 0
ORDER BY position LIMIT :limit
"""
_PRUNE = "DELETE FROM events WHERE tenant_id = :tenant_id AND position <= :position"
_PRUNE_NOTED = """
UPDATE feed_positions SET pruned_position = :position
WHERE tenant_id = :tenant_id AND pruned_position < :position
"""


class Pending(msgspec.Struct, frozen=True):
    """An event that has no position yet."""

    tenant_id: str
    id: str
    type: str


async def record(
    tx: Tx, tenant_id: str, kind: EventType, document: bytes, changes: Changes, now_us: int
) -> str:
    """Note that something happened; the event's id.

    document: the object as the API shows it, as JSON. changes: field → (old, new).
    """
    event_id = ids.mint(now_us)
    await tx.execute_one(
        _INSERT,
        {
            "tenant_id": tenant_id,
            "id": event_id,
            "type": kind,
            "object": document,
            "changes": msgspec.json.encode(changes).decode() if changes else "{}",
            "created_at": now_us,
        },
    )
    return event_id


def payload(row: Row) -> bytes:
    """An event as the feed and webhooks show it, from its row."""
    head = (
        f'{{"id":"{row["id"]}","type":"{row["type"]}","timestamp":"{clock.iso(row["created_at"])}"'
    )
    changes: str = row["changes"]
    return b"".join(
        (
            head.encode(),
            b',"data":{"object":',
            row["object"],
            b',"changes":',
            changes.encode(),
            b"}}",
        )
    )


async def list_pending(tx: Tx, limit: int) -> list[Pending]:
    """The oldest events without a position, of all tenants."""
    rows = await tx.fetch_all(_PENDING, {"limit": limit})
    return [Pending(row["tenant_id"], row["id"], row["type"]) for row in rows]


async def place(tx: Tx, tenant_id: str, event_ids: Sequence[str]) -> None:
    """Give a tenant's events the next positions, in this order. Only one sequencer may run."""
    drawn = await tx.fetch_one(_DRAW_POSITIONS, {"tenant_id": tenant_id, "count": len(event_ids)})
    if drawn is None:
        raise RuntimeError("an upsert returns its row")
    first = drawn["last_position"] - len(event_ids) + 1
    await tx.execute_many(
        _PLACE,
        [
            {"tenant_id": tenant_id, "id": event_id, "position": position}
            for position, event_id in enumerate(event_ids, first)
        ],
    )


async def prune(tx: Tx, tenant_id: str, before_us: int, limit: int) -> int:
    """Delete a tenant's oldest events up to the first that is not older; how many.

    In the order of their positions, so that what is left of the feed has no gaps, and what waits
    for its position waits on.
    """
    before = ids.lowest(before_us)
    old: list[Row] = []
    for count in (1, limit):  # mostly there is not one
        rows = await tx.fetch_all(_PRUNE_OLDEST, {"tenant_id": tenant_id, "limit": count})
        old = list(takewhile(lambda row: row["id"] < before, rows))
        if not old:
            return 0
    params = {"tenant_id": tenant_id, "position": old[-1]["position"]}
    await tx.enqueue(_PRUNE_NOTED, params)
    return await tx.execute(_PRUNE, params)
