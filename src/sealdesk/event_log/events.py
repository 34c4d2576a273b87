"""Recording events, in the transaction of the change (spec decision 11).

An event has a position in the feed of its tenant and one in the log that consumers read, both in
the order of commits. On SQLite one transaction writes at a time, so it gives them itself. On
PostgreSQL the event waits in the outbox until the transaction is durable and the sequencer comes.
"""

from itertools import takewhile
from typing import Any, Literal, get_args

import msgspec

from sealdesk import clock, ids
from sealdesk.db.column_lists import insert_into
from sealdesk.db.engine import Row, Tx
from sealdesk.event_log import positions

EventType = Literal[
    "ticket.created",
    "ticket.updated",
    "ticket.status_changed",
    "ticket.sla_warning",
    "ticket.sla_breached",
    "ticket.rated",
    "ticket.rule_matched",
    "reply.created",
    "reply.updated",
    "reply.delivered",
    "reply.bounced",
    "customer.created",
    "customer.updated",
    "customer.deleted",
    "customer.merged",
    "customer.erased",
    "api_key.created",
    "api_key.updated",
    "api_key.revoked",
    "api_key.rotated",
    "webhook.disabled",
    "webhook.test",
    "mailbox.failing",
    "mailbox.recovered",
]
TYPES: tuple[str, ...] = get_args(EventType)
KEPT_US = 30 * 24 * 3600 * 1_000_000
Changes = dict[str, tuple[Any, Any]]
NO_CHANGES: Changes = {}

_ADD_TO_OUTBOX = insert_into("event_outbox", "tenant_id id type object changes created_at")
_ADD_TO_LOG = insert_into(
    "events", "tenant_id id type object changes created_at position log_position"
)

_PRUNE_OLDEST = """
SELECT id, position FROM events WHERE tenant_id = :tenant_id AND position > 0
ORDER BY position LIMIT :limit
"""
_PRUNE = "DELETE FROM events WHERE tenant_id = :tenant_id AND position <= :position"
_STORE_PRUNED = """
UPDATE feed_positions SET pruned_position = :position
WHERE tenant_id = :tenant_id AND pruned_position < :position
"""


async def record(
    tx: Tx, tenant_id: str, kind: EventType, document: bytes, changes: Changes, now_us: int
) -> str:
    """Record an event; its id.

    document: the object as the API shows it, as JSON. changes: field → (old, new).
    """
    return await _record(tx, tenant_id, kind, document, changes, now_us, now_us)


async def record_new(
    tx: Tx, tenant_id: str, kind: EventType, document: bytes, happened_at: int, now_us: int
) -> str:
    """Record that something was created; the id of the event.

    happened_at: before now for imported e-mail, which webhooks leave out.
    """
    return await _record(tx, tenant_id, kind, document, NO_CHANGES, happened_at, now_us)


async def _record(
    tx: Tx,
    tenant_id: str,
    kind: EventType,
    document: bytes,
    changes: Changes,
    happened_at: int,
    now_us: int,
) -> str:
    event_id = ids.mint(now_us)
    event = {
        "tenant_id": tenant_id,
        "id": event_id,
        "type": kind,
        "object": document,
        "changes": msgspec.json.encode(changes).decode() if changes else "{}",
        "created_at": happened_at,
    }
    if tx.dialect == "postgresql":
        await tx.execute_one(_ADD_TO_OUTBOX, event)
        return event_id
    event["position"] = await tx.increment(positions.FEEDS, tenant_id)
    event["log_position"] = await tx.increment(positions.LOG, positions.END)
    await tx.execute_one(_ADD_TO_LOG, event)
    tx.announce(tenant_id)
    return event_id


def is_history(event_id: str, happened_at: int) -> bool:
    """Whether an event was recorded later than it happened: it was imported from e-mail."""
    return happened_at < ids.instant_of(event_id)


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


async def prune(tx: Tx, tenant_id: str, before_us: int, limit: int) -> int:
    """Delete a tenant's oldest events up to the first that is not older; how many.

    Deletes in the order of positions, so the rest of the feed has no gaps. Events without a
    position stay.
    """
    before = ids.lowest(before_us)
    old: list[Row] = []
    for count in (1, limit):  # usually no event is old enough
        rows = await tx.fetch_all(_PRUNE_OLDEST, {"tenant_id": tenant_id, "limit": count})
        old = list(takewhile(lambda row: row["id"] < before, rows))
        if not old:
            return 0
    params = {"tenant_id": tenant_id, "position": old[-1]["position"]}
    await tx.enqueue(_STORE_PRUNED, params)
    return await tx.execute(_PRUNE, params)
