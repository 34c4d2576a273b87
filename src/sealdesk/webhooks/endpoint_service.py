"""What administrators do, from a page or a program, that goes out to the network as well.

No transaction is open meanwhile.
"""

import structlog

from sealdesk.crypto.sealing import Unsealable
from sealdesk.errors import Fault, Unavailable, invalid
from sealdesk.http_client import Unsent
from sealdesk.web.request import Call
from sealdesk.webhooks import actions
from sealdesk.webhooks.delivery.signed_post import send
from sealdesk.webhooks.types import (
    DeliveryWithAttempts,
    NewWebhook,
    WebhookChange,
    WebhookShown,
    WebhookWithSecret,
)

log = structlog.get_logger("sealdesk.webhooks")


async def create_webhook(call: Call, new: NewWebhook) -> WebhookWithSecret:
    """A new endpoint that can be reached. Raises Invalid, Clash."""
    await _check(call, new.url)
    caller, ring = call.caller, call.shared.ring
    return await call.write(
        lambda tx: actions.create_webhook(tx, caller, new, ring=ring, now_us=call.now_us)
    )


async def change_webhook(call: Call, endpoint_id: str, change: WebhookChange) -> WebhookShown:
    """Change what is named; a new URL can be reached. Raises Missing, Invalid."""
    caller = call.caller
    endpoint = await call.read(lambda tx: actions.get_webhook(tx, caller.tenant_id, endpoint_id))
    if isinstance(change.url, str) and change.url != endpoint.url:
        await _check(call, change.url)
    return await call.write(
        lambda tx: actions.change_webhook(tx, caller, endpoint_id, change, now_us=call.now_us)
    )


async def try_webhook(call: Call, endpoint_id: str) -> DeliveryWithAttempts:
    """Send an endpoint an event of its own now, once, whether or not it is active.

    Changes nothing of the endpoint, whatever comes of it. Raises Missing, Unavailable.
    """
    shared = call.shared

    endpoint, event_id, payload = await call.write(
        lambda tx: actions.begin_test(tx, call.caller, endpoint_id, now_us=call.now_us)
    )
    try:
        attempt = await send(
            shared.sender, shared.ring, endpoint, event_id, payload, number=1, clock=shared.clock
        )
    except Unsealable as error:
        log.error(
            "a secret cannot be opened: is SEALDESK_MASTER_KEY the right one?",
            webhook_id=endpoint_id,
        )
        raise Unavailable(detail="The endpoint's secret cannot be read by this server.") from error
    return await call.write(
        lambda tx: actions.end_test(tx, endpoint, event_id, attempt, now_us=call.now_us)
    )


async def _check(call: Call, url: str) -> None:
    """See whether an endpoint may be and can be reached there. Raises Invalid."""
    try:
        await call.shared.sender.check(url)
    except Unsent as unsent:
        raise invalid([Fault("/url", unsent.cause, unsent.text)]) from unsent
