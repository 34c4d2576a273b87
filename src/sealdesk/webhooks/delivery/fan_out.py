"""The fan-out: a consumer of the event log that makes a delivery for each subscribed endpoint.

A step makes some deliveries of each tenant. A tenant with more gets a backlog, which is a range of
its feed: later steps pass its events, and tenants with backlogs are served in turns. So a tenant
with many events does not delay the webhooks of another.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.event_log.consumers import LogEvent
from sealdesk.event_log.events import is_history
from sealdesk.state import AppState
from sealdesk.webhooks import rules
from sealdesk.webhooks.store import fan_out as fan_out_store
from sealdesk.webhooks.store.fan_out import Backlog, NewDelivery, Subscription, WaitingEvent

_BATCH_DELIVERIES = 500  # some 10 ms of the loop's time on SQLite
_MANY_DELIVERIES = 100  # of one tenant in one step
_MAX_BACKLOGS = 10_000
_BACKLOGS_AT_ONCE = 4
_BACKLOG_LOCK = "fan-out backlogs"
_REPLAY_EVENTS = 200  # of each replay in one step
_REPLAYS_AT_ONCE = 4


class FanOut:
    """Makes the deliveries of new events. tenant_id: of this tenant, else of all tenants."""

    name = "webhooks"
    batch_size = fan_out_store.BATCH_EVENTS
    reads_objects = False

    def __init__(self, tenant_id: str = "") -> None:
        self.tenant_id = tenant_id

    async def wants_any(self, tx: Tx, first: int, last: int) -> bool:
        return any((await self._list_subscriptions(tx, first, last)).values())

    async def handle(self, tx: Tx, events: Sequence[LogEvent], now_us: int) -> int:
        first, last = events[0].log_position, events[-1].log_position
        subscriptions = await self._list_subscriptions(tx, first, last)
        backlogs = await self._list_backlogs(tx) if subscriptions else []
        waiting = {backlog.tenant_id for backlog in backlogs}
        extended: dict[str, Backlog] = {}
        counts: Counter[str] = Counter()
        deliveries: list[NewDelivery] = []
        handled = 0
        for event in events:
            tenant_id = event.tenant_id
            if tenant_id in waiting:
                backlog = extended.get(tenant_id, _backlog_of(event))
                extended[tenant_id] = backlog._replace(until=event.position)
            elif new := _make_deliveries(event, subscriptions.get(tenant_id, ())):
                deliveries += new
                counts[tenant_id] += len(new)
                # In a log of one tenant it delays nobody.
                if counts[tenant_id] >= _MANY_DELIVERIES and not self.tenant_id:
                    waiting.add(tenant_id)
            handled += 1
            if len(deliveries) >= _BATCH_DELIVERIES:
                break
        if deliveries:
            await fan_out_store.add(tx, deliveries, now_us)
        if extended:
            await fan_out_store.add_to_backlogs(tx, extended.values(), now_us)
        return handled

    async def recover(self, tx: Tx) -> None:
        """Nothing: a pruned event is too old to be delivered."""

    async def _list_subscriptions(
        self, tx: Tx, first: int, last: int
    ) -> dict[str, list[Subscription]]:
        if self.tenant_id:
            return {self.tenant_id: await fan_out_store.list_subscriptions_of(tx, self.tenant_id)}
        return await fan_out_store.list_subscriptions(tx, first, last)

    async def _list_backlogs(self, tx: Tx) -> list[Backlog]:
        if self.tenant_id:
            backlog = await fan_out_store.find_backlog_of(tx, self.tenant_id)
            return [backlog] if backlog else []
        return await fan_out_store.list_backlogs(tx, _MAX_BACKLOGS)


async def continue_backlogs(state: AppState) -> int:
    """Make the next deliveries of the backlogs whose turn it is; how many backlogs."""
    now_us = state.clock.now_us()
    return await state.database.write(lambda tx: _continue_backlogs(tx, now_us))


async def continue_replays(state: AppState) -> int:
    """Make the next deliveries of unfinished replays; how many replays there were."""
    now_us = state.clock.now_us()
    return await state.database.write(lambda tx: _continue_replays(tx, now_us))


async def _continue_replays(tx: Tx, now_us: int) -> int:
    replays = await fan_out_store.claim_replays(tx, _REPLAYS_AT_ONCE)
    for replay in replays:
        await fan_out_store.continue_replay(tx, replay, now_us, _REPLAY_EVENTS)
    return len(replays)


async def _continue_backlogs(tx: Tx, now_us: int) -> int:
    return await continue_each(tx, await hold_next_backlogs(tx), now_us)


async def hold_next_backlogs(tx: Tx) -> list[Backlog]:
    """The backlogs whose turn it is; none while another process continues backlogs."""
    # Not the consumer's lock: each would give up while the other holds it.
    if not await tx.try_lock(_BACKLOG_LOCK):
        return []
    # In the order in which the consumer extends them, so that the two cannot deadlock.
    return sorted(await fan_out_store.list_backlogs(tx, _BACKLOGS_AT_ONCE))


async def continue_each(tx: Tx, backlogs: Sequence[Backlog], now_us: int) -> int:
    """Make the next deliveries of these backlogs; how many backlogs."""
    for backlog in backlogs:
        await _continue_backlog(tx, backlog, _BATCH_DELIVERIES // len(backlogs), now_us)
    return len(backlogs)


async def _continue_backlog(tx: Tx, backlog: Backlog, most: int, now_us: int) -> None:
    """Handle the first events of a backlog. most: deliveries, beside those of one event."""
    subscriptions = await fan_out_store.list_subscriptions_of(tx, backlog.tenant_id)
    events = await fan_out_store.list_events_of(tx, backlog)
    deliveries: list[NewDelivery] = []
    reached = backlog.until
    for event in events:
        deliveries += _make_deliveries(event, subscriptions)
        reached = event.position
        if len(deliveries) >= most:
            break
    if deliveries:
        await fan_out_store.add(tx, deliveries, now_us)
    is_over = reached >= backlog.until and await fan_out_store.end_backlog(tx, backlog)
    if not is_over:
        await fan_out_store.shorten_backlog(tx, backlog.tenant_id, reached, now_us)


def _backlog_of(event: LogEvent) -> Backlog:
    return Backlog(event.tenant_id, event.position - 1, event.position)


def _make_deliveries(
    event: LogEvent | WaitingEvent, subscriptions: Iterable[Subscription]
) -> list[NewDelivery]:
    return [
        NewDelivery(event.tenant_id, one.endpoint_id, event.id, event.type)
        for one in subscriptions
        if event.position > one.starts_after
        and not is_history(event.id, event.happened_at)
        and rules.is_subscribed(_decode_types(one.types), event.type)
    ]


@lru_cache(1000)
def _decode_types(types: str) -> frozenset[str]:
    return frozenset(msgspec.json.decode(types))
