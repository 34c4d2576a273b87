"""The SQL of handing events to the endpoints that want them, as they happen or once more."""

from collections.abc import Collection
from typing import NamedTuple

import msgspec

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.webhooks.rules import MAX_ENDPOINTS
from sealdesk.webhooks.store.endpoints import WAKE

_SUBSCRIBERS = """
SELECT id, events FROM endpoints
WHERE tenant_id = :tenant_id AND is_active AND deleted_at IS NULL ORDER BY id LIMIT :limit
"""
_ADD = """
INSERT INTO deliveries (tenant_id, id, endpoint_id, event_id, event_type, status, attempt_count,
    retry_count, due_at, created_at)
VALUES (:tenant_id, :id, :endpoint_id, :event_id, :event_type, 'pending', 0, 0, :now, :now)
"""

_CLAIM_REPLAYS = """
SELECT tenant_id, id, endpoint_id, until, after_id FROM replays
WHERE finished_at IS NULL ORDER BY id LIMIT :limit
"""
_WANTED = """
SELECT events FROM endpoints
WHERE tenant_id = :tenant_id AND id = :endpoint_id AND deleted_at IS NULL LIMIT 1
"""
_EVENTS = """
SELECT id, type FROM events
WHERE tenant_id = :tenant_id AND id > :after_id AND id < :until_id AND position IS NOT NULL
ORDER BY id LIMIT :limit
"""
_ADVANCE = """
UPDATE replays SET after_id = :after_id, delivery_count = delivery_count + :count,
    finished_at = :finished_at
WHERE tenant_id = :tenant_id AND id = :id
"""


class New(NamedTuple):
    """An event that an endpoint is to get."""

    tenant_id: str
    endpoint_id: str
    event_id: str
    event_type: str


class Replay(NamedTuple):
    """A range of a tenant's events that an endpoint is to get once more: what is left of it."""

    tenant_id: str
    id: str
    endpoint_id: str
    until: int
    after_id: str


async def list_subscribers(tx: Tx, tenant_id: str) -> list[tuple[str, frozenset[str]]]:
    """The ids of a tenant's active endpoints, with the event types that they want."""
    rows = await tx.fetch_all(_SUBSCRIBERS, {"tenant_id": tenant_id, "limit": MAX_ENDPOINTS})
    return [(row["id"], _types(row["events"])) for row in rows]


async def add(tx: Tx, deliveries: Collection[New], now_us: int) -> None:
    """Have these delivered, in this order."""
    await tx.execute_many(
        _ADD, [{**new._asdict(), "id": ids.mint(now_us), "now": now_us} for new in deliveries]
    )
    endpoints = sorted({(new.tenant_id, new.endpoint_id) for new in deliveries})
    await tx.execute_many(
        WAKE, [{"tenant_id": tenant, "id": one, "now": now_us} for tenant, one in endpoints]
    )


async def claim_replays(tx: Tx, limit: int) -> list[Replay]:
    """The oldest that are under way and nobody else is at."""
    return [Replay(*row) for row in await tx.select_for_update(_CLAIM_REPLAYS, {"limit": limit})]


async def go_on(tx: Tx, replay: Replay, now_us: int, limit: int) -> None:
    """Have the next events of a replay delivered, or finish it."""
    params = {"tenant_id": replay.tenant_id, "endpoint_id": replay.endpoint_id}
    endpoint = await tx.fetch_one(_WANTED, params)
    until_id = ids.lowest(replay.until if endpoint else 0)
    left = {"after_id": replay.after_id, "until_id": until_id, "limit": limit}
    rows = await tx.fetch_all(_EVENTS, {**params, **left})
    wanted = _types(endpoint["events"]) if endpoint else frozenset()
    deliveries = [
        New(replay.tenant_id, replay.endpoint_id, row["id"], row["type"])
        for row in rows
        if row["type"] in wanted
    ]
    if deliveries:
        await add(tx, deliveries, now_us)
    change = {
        "tenant_id": replay.tenant_id,
        "id": replay.id,
        "after_id": rows[-1]["id"] if rows else replay.after_id,
        "count": len(deliveries),
        "finished_at": now_us if len(rows) < limit else None,
    }
    await tx.enqueue(_ADVANCE, change)


def _types(text: str) -> frozenset[str]:
    return frozenset(msgspec.json.decode(text))
