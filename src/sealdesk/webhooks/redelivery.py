"""Actions that send many deliveries of an endpoint again; each is one transaction."""

from collections.abc import Sequence

from sealdesk import clock
from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import raise_any
from sealdesk.webhooks import actions, rules
from sealdesk.webhooks.store import delivery_log
from sealdesk.webhooks.store import endpoints as endpoint_store
from sealdesk.webhooks.types import NewRedelivery, Restarted

MOST = 1000  # in one transaction, which other writes wait for


async def redeliver_failed(
    tx: Tx, caller: Caller, endpoint_id: str, new: NewRedelivery, *, now_us: int
) -> Restarted:
    """Send failed deliveries again, oldest first. Raises NotFound, Conflict, ValidationFailed."""
    since = clock.parse_instant(new.since) or 0
    raise_any(rules.find_since_faults(since, now_us))
    await actions.get_active(tx, caller.tenant_id, endpoint_id)
    count = await delivery_log.restart_failed(
        tx, caller.tenant_id, endpoint_id, since, now_us=now_us, limit=MOST
    )
    return await _wake(tx, caller, endpoint_id, count, now_us)


async def count_failed(
    tx: Tx, tenant_id: str, endpoint_id: str, sinces_us: Sequence[int]
) -> list[int]:
    """How many deliveries `redeliver_failed` would find since each time, counted up to MOST + 1."""
    return [
        await delivery_log.count_failed(tx, tenant_id, endpoint_id, since_us, limit=MOST + 1)
        for since_us in sinces_us
    ]


async def retry_now(tx: Tx, caller: Caller, endpoint_id: str, *, now_us: int) -> Restarted:
    """Make the next attempt of waiting deliveries now. Raises NotFound, Conflict."""
    await actions.get_active(tx, caller.tenant_id, endpoint_id)
    count = await delivery_log.retry_waiting(
        tx, caller.tenant_id, endpoint_id, now_us=now_us, limit=MOST
    )
    return await _wake(tx, caller, endpoint_id, count, now_us)


async def _wake(tx: Tx, caller: Caller, endpoint_id: str, count: int, now_us: int) -> Restarted:
    if count:
        endpoint = await actions.get_webhook(tx, caller.tenant_id, endpoint_id)
        await endpoint_store.wake(tx, caller.tenant_id, endpoint_id, now_us)
        await actions.record_audit(
            tx, caller, "webhook.redelivered", endpoint, now_us, delivery_count=count
        )
    return Restarted(count, has_more=count == MOST)
