"""The SQL of the fan-out: deliveries of new and of replayed events."""

from collections import defaultdict
from collections.abc import Collection
from typing import NamedTuple

import msgspec

from sealdesk import ids
from sealdesk.db.column_lists import select_row
from sealdesk.db.engine import Params, Tx
from sealdesk.event_log import events
from sealdesk.records.endpoints import WAKE
from sealdesk.webhooks.rules import MAX_ENDPOINTS, is_subscribed

BATCH_EVENTS = 200  # the most events of one step

# Reads only the tenants of these events; a tenant without endpoints adds no cost.
_SUBSCRIPTIONS = """
SELECT tenant_id, id, events, starts_after FROM endpoints
WHERE is_active AND deleted_at IS NULL AND tenant_id IN
    (SELECT tenant_id FROM events WHERE log_position >= :first AND log_position <= :last)
ORDER BY tenant_id, id LIMIT :limit
"""
_SUBSCRIPTIONS_OF = """
SELECT id, events, starts_after FROM endpoints
WHERE tenant_id = :tenant_id AND is_active AND deleted_at IS NULL ORDER BY id LIMIT :limit
"""
_BACKLOGS = """
SELECT tenant_id, after_position, until_position FROM fan_out_backlogs
ORDER BY served_at, tenant_id LIMIT :limit
"""
_BACKLOG_OF = select_row(
    "fan_out_backlogs", "tenant_id, after_position, until_position", "tenant_id"
)
_ADD_TO_BACKLOG = """
INSERT INTO fan_out_backlogs (tenant_id, after_position, until_position, served_at)
VALUES (:tenant_id, :after, :until, :now)
ON CONFLICT (tenant_id) DO UPDATE SET until_position = excluded.until_position
"""
_OF_BACKLOG = """
SELECT tenant_id, position, id, type, created_at FROM events
WHERE tenant_id = :tenant_id AND position > :after AND position <= :until
ORDER BY position LIMIT :limit
"""
_SHORTEN_BACKLOG = """
UPDATE fan_out_backlogs SET after_position = :after, served_at = :now WHERE tenant_id = :tenant_id
"""
_END_BACKLOG = """
DELETE FROM fan_out_backlogs WHERE tenant_id = :tenant_id AND until_position = :until
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
_SUBSCRIBED_TYPES = """
SELECT events FROM endpoints
WHERE tenant_id = :tenant_id AND id = :endpoint_id AND deleted_at IS NULL LIMIT 1
"""
_EVENTS = """
SELECT id, type, created_at FROM events
WHERE tenant_id = :tenant_id AND id > :after_id AND id < :until_id AND position IS NOT NULL
ORDER BY id LIMIT :limit
"""
_ADVANCE = """
UPDATE replays SET after_id = :after_id, delivery_count = delivery_count + :count,
    finished_at = :finished_at
WHERE tenant_id = :tenant_id AND id = :id
"""


class NewDelivery(NamedTuple):
    """A delivery of one event to one endpoint."""

    tenant_id: str
    endpoint_id: str
    event_id: str
    event_type: str


class Subscription(NamedTuple):
    """An active endpoint. types: event types as JSON. starts_after: see the table."""

    endpoint_id: str
    types: str
    starts_after: int


class Backlog(NamedTuple):
    """The events of a tenant behind `after` up to `until` wait for their deliveries."""

    tenant_id: str
    after: int
    until: int


class WaitingEvent(NamedTuple):
    """An event of a backlog. position: in the tenant's feed."""

    tenant_id: str
    position: int
    id: str
    type: str
    happened_at: int


class Replay(NamedTuple):
    """An unfinished replay. after_id: the last event that it has handled."""

    tenant_id: str
    id: str
    endpoint_id: str
    until: int
    after_id: str


async def list_subscriptions(tx: Tx, first: int, last: int) -> dict[str, list[Subscription]]:
    """Tenant → its active endpoints, for the tenants that have events in a range of the log.

    The range has at most BATCH_EVENTS events.
    """
    params = {"first": first, "last": last, "limit": BATCH_EVENTS * MAX_ENDPOINTS}
    subscriptions: dict[str, list[Subscription]] = defaultdict(list)
    for tenant_id, *values in await tx.fetch_all(_SUBSCRIPTIONS, params):
        subscriptions[tenant_id].append(Subscription(*values))
    return subscriptions


async def list_subscriptions_of(tx: Tx, tenant_id: str) -> list[Subscription]:
    """The active endpoints of a tenant."""
    params = {"tenant_id": tenant_id, "limit": MAX_ENDPOINTS}
    return [Subscription(*row) for row in await tx.fetch_all(_SUBSCRIPTIONS_OF, params)]


async def list_backlogs(tx: Tx, limit: int) -> list[Backlog]:
    """The backlogs that have waited longest for their turn, first."""
    return [Backlog(*row) for row in await tx.fetch_all(_BACKLOGS, {"limit": limit})]


async def find_backlog_of(tx: Tx, tenant_id: str) -> Backlog | None:
    row = await tx.fetch_one(_BACKLOG_OF, {"tenant_id": tenant_id})
    return None if row is None else Backlog(*row)


async def add_to_backlogs(tx: Tx, backlogs: Collection[Backlog], now_us: int) -> None:
    """Begin the backlogs of these tenants, or extend them up to `until`."""
    # Sorted by tenant, so that two transactions cannot deadlock.
    params = [{**backlog._asdict(), "now": now_us} for backlog in sorted(backlogs)]
    await tx.execute_many(_ADD_TO_BACKLOG, params)


async def list_events_of(tx: Tx, backlog: Backlog) -> list[WaitingEvent]:
    """The first events of a backlog."""
    params = {**backlog._asdict(), "limit": BATCH_EVENTS}
    return [WaitingEvent(*row) for row in await tx.fetch_all(_OF_BACKLOG, params)]


async def shorten_backlog(tx: Tx, tenant_id: str, after: int, now_us: int) -> None:
    """Let a backlog begin behind this position."""
    params = {"tenant_id": tenant_id, "after": after, "now": now_us}
    await tx.execute(_SHORTEN_BACKLOG, params)


async def end_backlog(tx: Tx, backlog: Backlog) -> bool:
    """Delete a backlog whose events are handled; False if it was extended meanwhile."""
    params = {"tenant_id": backlog.tenant_id, "until": backlog.until}
    return await tx.execute(_END_BACKLOG, params) > 0


async def add(tx: Tx, deliveries: Collection[NewDelivery], now_us: int) -> None:
    """Store new deliveries in this order, and make their endpoints due."""
    await tx.execute_many(_ADD, [_new_params(new, now_us) for new in deliveries])
    # Sorted, so that two transactions cannot deadlock.
    endpoints = sorted({(new.tenant_id, new.endpoint_id) for new in deliveries})
    await tx.execute_many(
        WAKE, [{"tenant_id": tenant, "id": one, "now": now_us} for tenant, one in endpoints]
    )


def _new_params(new: NewDelivery, now_us: int) -> Params:
    # The clock of a test tenant can be ahead: a delivery is not older than its event.
    at_us = max(now_us, ids.instant_of(new.event_id))
    return {**new._asdict(), "id": ids.mint(at_us), "now": at_us}


async def claim_replays(tx: Tx, limit: int) -> list[Replay]:
    """The oldest unfinished replays that no other worker has claimed."""
    return [Replay(*row) for row in await tx.select_for_update(_CLAIM_REPLAYS, {"limit": limit})]


async def continue_replay(tx: Tx, replay: Replay, now_us: int, limit: int) -> None:
    """Add deliveries for the next events of a replay, or finish it."""
    params = {"tenant_id": replay.tenant_id, "endpoint_id": replay.endpoint_id}
    endpoint = await tx.fetch_one(_SUBSCRIBED_TYPES, params)
    until_id = ids.lowest(replay.until if endpoint else 0)
    remaining = {"after_id": replay.after_id, "until_id": until_id, "limit": limit}
    rows = await tx.fetch_all(_EVENTS, {**params, **remaining})
    types = frozenset(msgspec.json.decode(endpoint["events"]) if endpoint else ())
    deliveries = [
        NewDelivery(replay.tenant_id, replay.endpoint_id, row["id"], row["type"])
        for row in rows
        if is_subscribed(types, row["type"]) and not events.is_history(row["id"], row["created_at"])
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
