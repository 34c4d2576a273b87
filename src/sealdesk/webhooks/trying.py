"""What goes out to an endpoint while an administrator waits; no transaction is open meanwhile."""

import msgspec

from sealdesk import events, ids
from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import Fault, invalid
from sealdesk.outbound import Sender, Unsent
from sealdesk.shared import Shared
from sealdesk.webhooks import actions, rules, store
from sealdesk.webhooks.rules import Attempt, Delivery, Endpoint
from sealdesk.webhooks.sending import send
from sealdesk.webhooks.shapes import DeliveryWithAttempts


async def check_url(sender: Sender, url: str) -> None:
    """See whether an endpoint may be and can be reached there. Raises Invalid."""
    try:
        await sender.check(url)
    except Unsent as unsent:
        raise invalid([Fault("/url", unsent.cause, unsent.text)]) from unsent


async def try_webhook(
    shared: Shared, caller: Caller, endpoint_id: str, *, now_us: int
) -> DeliveryWithAttempts:
    """Send an endpoint an event of its own now, once, whether or not it is active.

    Changes nothing of the endpoint, whatever comes of it. Raises Missing.
    """
    tenant_id = caller.tenant_id

    async def begin(tx: Tx) -> tuple[Endpoint, str, bytes]:
        endpoint = await actions.get_webhook(tx, tenant_id, endpoint_id)
        document = msgspec.json.encode(rules.shown(endpoint, now_us))
        event_id = await events.record(
            tx, tenant_id, "webhook.test", document, events.NO_CHANGES, now_us
        )
        await actions.note(tx, caller, "webhook.tested", endpoint, now_us)
        event = await store.find_event(tx, tenant_id, event_id)
        return endpoint, event_id, events.payload(event)

    endpoint, event_id, payload = await shared.database.write(begin, tenant_id)
    attempt = await send(
        shared.sender, shared.ring, endpoint, event_id, payload, number=1, clock=shared.clock
    )
    delivery = _tried(endpoint, event_id, attempt, now_us)

    async def end(tx: Tx) -> None:
        await actions.get_webhook(tx, tenant_id, endpoint_id)
        await store.add_delivery(tx, delivery)
        await store.add_attempt(tx, tenant_id, delivery.id, attempt)

    await shared.database.write(end, tenant_id)
    return rules.delivery_with_attempts(delivery, [attempt], payload)


def _tried(endpoint: Endpoint, event_id: str, attempt: Attempt, now_us: int) -> Delivery:
    return Delivery(
        tenant_id=endpoint.tenant_id,
        id=ids.mint(now_us),
        endpoint_id=endpoint.id,
        event_id=event_id,
        event_type="webhook.test",
        status="succeeded" if rules.is_success(attempt.status) else "failed",
        attempt_count=1,
        retry_count=0,
        due_at=None,
        created_at=now_us,
    )
