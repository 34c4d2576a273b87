"""The sequencer: gives what happened its place in each tenant's feed, once it is durable, and hands
it to the webhooks; replays hand it to them once more.
"""

from collections import defaultdict
from collections.abc import Sequence

from sealdesk.db.engine import Tx
from sealdesk.event_log import events
from sealdesk.event_log.events import Pending
from sealdesk.state import AppState
from sealdesk.webhooks.store import fan_out
from sealdesk.webhooks.store.fan_out import New

_STEP_EVENTS = 200
_STEP_DELIVERIES = 500
_REPLAYS_AT_ONCE = 4


async def sequence(state: AppState) -> int:
    """Place the events that wait, and hand them to the webhooks; how many."""
    now_us = state.clock.now_us()
    return await state.database.write(lambda tx: _step(tx, now_us))


async def _step(tx: Tx, now_us: int) -> int:
    # Of several workers one gives positions at a time, so that a lower one is never seen later.
    if not await tx.try_lock("sequencer"):
        return 0
    pending = await events.list_pending(tx, _STEP_EVENTS)
    placed, deliveries = await _fanned_out(tx, pending)
    of_tenant = defaultdict(list)
    for event in placed:
        of_tenant[event.tenant_id].append(event.id)
    for tenant_id, event_ids in of_tenant.items():
        await events.place(tx, tenant_id, event_ids)
    if deliveries:
        await fan_out.add(tx, deliveries, now_us)
    return len(placed)


async def _fanned_out(tx: Tx, pending: Sequence[Pending]) -> tuple[list[Pending], list[New]]:
    """As many events as one step can take, and what is to be delivered of them."""
    subscribers: dict[str, list[tuple[str, frozenset[str]]]] = {}
    placed: list[Pending] = []
    deliveries: list[New] = []
    for event in pending:
        tenant_id = event.tenant_id
        if tenant_id not in subscribers:
            subscribers[tenant_id] = await fan_out.list_subscribers(tx, tenant_id)
        placed.append(event)
        deliveries += [
            New(tenant_id, endpoint_id, event.id, event.type)
            for endpoint_id, wanted in subscribers[tenant_id]
            if event.type in wanted
        ]
        if len(deliveries) >= _STEP_DELIVERIES:
            break
    return placed, deliveries


async def replay(state: AppState) -> int:
    """Go on with the replays that are under way; how many there are."""
    now_us = state.clock.now_us()
    return await state.database.write(lambda tx: _replay(tx, now_us))


async def _replay(tx: Tx, now_us: int) -> int:
    replays = await fan_out.claim_replays(tx, _REPLAYS_AT_ONCE)
    for one in replays:
        await fan_out.go_on(tx, one, now_us, _STEP_EVENTS)
    return len(replays)
