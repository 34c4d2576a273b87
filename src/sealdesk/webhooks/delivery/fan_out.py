"""The fan-out: a consumer of the event log that makes a delivery for each subscribed endpoint."""

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.event_log.consumers import LogEvent
from sealdesk.webhooks.store import fan_out as fan_out_store
from sealdesk.webhooks.store.fan_out import NewDelivery

_BATCH_DELIVERIES = 500  # some 10 ms of the loop's time on SQLite


class FanOut:
    """Makes the deliveries of new events."""

    name = "webhooks"
    batch_size = fan_out_store.BATCH_EVENTS

    async def handle(self, tx: Tx, events: Sequence[LogEvent], now_us: int) -> int:
        first, last = events[0].log_position, events[-1].log_position
        subscriptions = await fan_out_store.list_subscriptions(tx, first, last)
        deliveries: list[NewDelivery] = []
        handled = 0
        for event in events:
            deliveries += [
                NewDelivery(event.tenant_id, one.endpoint_id, event.id, event.type)
                for one in subscriptions.get(event.tenant_id, ())
                if event.position > one.starts_after and event.type in _decode_types(one.types)
            ]
            handled += 1
            if len(deliveries) >= _BATCH_DELIVERIES:
                break
        if deliveries:
            await fan_out_store.add(tx, deliveries, now_us)
        return handled

    async def recover(self, tx: Tx) -> None:
        """Nothing: a pruned event is too old to be delivered."""


@lru_cache(1000)
def _decode_types(types: str) -> frozenset[str]:
    return frozenset(msgspec.json.decode(types))
