"""Actions on endpoints that also send HTTP requests, for the pages and the API.

No transaction is open while a request is sent.
"""

import logging

from sealdesk.crypto.sealing import UnsealError
from sealdesk.errors import Fault, ServiceUnavailable, invalid
from sealdesk.http_client import RequestFailed
from sealdesk.web.request import Request
from sealdesk.webhooks import actions
from sealdesk.webhooks.delivery.signed_post import send
from sealdesk.webhooks.errors import SECRET_UNREADABLE
from sealdesk.webhooks.types import (
    DeliveryWithAttempts,
    NewWebhook,
    WebhookChange,
    WebhookResponse,
    WebhookWithSecret,
)

log = logging.getLogger("sealdesk.webhooks")


async def create_webhook(request: Request, new: NewWebhook) -> WebhookWithSecret:
    """Create an endpoint; its URL must be reachable. Raises ValidationFailed, Conflict."""
    await _check_url(request, new.url)
    caller, key_ring = request.caller, request.state.key_ring
    return await request.write_more(
        lambda tx: actions.create_webhook(tx, caller, new, key_ring=key_ring, now_us=request.now_us)
    )


async def change_webhook(
    request: Request, endpoint_id: str, change: WebhookChange, seen: str = ""
) -> WebhookResponse:
    """Change an endpoint; a new URL must be reachable. seen: as in `actions.change_webhook`.

    Raises NotFound, PreconditionFailed, ValidationFailed.
    """
    caller = request.caller
    endpoint = await request.fetch(actions.get_webhook, endpoint_id)
    write = request.write
    if isinstance(change.url, str) and change.url != endpoint.url:
        await _check_url(request, change.url)
        write = request.write_more
    return await write(
        lambda tx: actions.change_webhook(
            tx, caller, endpoint_id, change, now_us=request.now_us, seen=seen
        )
    )


async def send_test(request: Request, endpoint_id: str) -> DeliveryWithAttempts:
    """Send one test event to an endpoint now, active or not.

    The result does not change the endpoint. Raises NotFound, ServiceUnavailable.
    """
    state = request.state
    endpoint, event_id, payload = await request.act(
        actions.begin_test, endpoint_id, now_us=request.now_us
    )
    try:
        attempt = await send(
            state.http_client,
            state.key_ring,
            endpoint,
            event_id,
            payload,
            number=1,
            clock=state.clock,
        )
    except UnsealError as error:
        log.error(
            "a secret cannot be opened: is SEALDESK_MASTER_KEY the right one?",
            extra={"webhook_id": endpoint_id},
        )
        raise ServiceUnavailable(SECRET_UNREADABLE) from error
    return await request.write_more(
        lambda tx: actions.end_test(tx, endpoint, event_id, attempt, now_us=request.now_us)
    )


async def _check_url(request: Request, url: str) -> None:
    """Check that the URL is allowed and can be reached; `write_more` follows.

    Raises Unauthorized, ValidationFailed.
    """
    await _use_up_signature(request)
    try:
        await request.state.http_client.check(url)
    except RequestFailed as error:
        raise invalid([Fault("/url", error.cause, "%(reason)s", {"reason": error.text})]) from error


async def _use_up_signature(request: Request) -> None:
    """Run the proof's part of the transaction, so that a replayed request connects nowhere."""
    proof = request.proof
    if proof.pending_refusal is not None:
        raise proof.pending_refusal
    if proof.in_transaction is not None:
        await request.state.database.write(proof.in_transaction, request.caller.tenant_id)
