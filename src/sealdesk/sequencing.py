"""The sequencer: gives what happened its place in each tenant's feed, once it is durable."""

from itertools import groupby
from operator import attrgetter

from sealdesk import events
from sealdesk.db.engine import Tx
from sealdesk.shared import Shared

_STEP_EVENTS = 200


async def sequence(shared: Shared) -> int:
    """Place the events that wait, and hand them to the webhooks; how many."""
    if not await shared.database.read(lambda tx: events.list_pending(tx, 1)):
        return 0
    return await shared.database.write(_step)


async def _step(tx: Tx) -> int:
    # Of several workers one gives positions at a time, so that a lower one is never seen later.
    if not await tx.try_lock("sequencer"):
        return 0
    pending = await events.list_pending(tx, _STEP_EVENTS)
    of_tenant = attrgetter("tenant_id")
    for tenant_id, found in groupby(sorted(pending, key=of_tenant), of_tenant):
        await events.place(tx, tenant_id, [event.id for event in found])
    return len(pending)
