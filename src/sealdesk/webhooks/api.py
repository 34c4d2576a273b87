"""The API of webhook management (spec decision 11)."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.event_log import events
from sealdesk.web import body, envelope, query
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, ListRequest, list_all, page, read_list
from sealdesk.web.request import Request, Response
from sealdesk.webhooks import actions, endpoint_service, examples, redelivery, rules
from sealdesk.webhooks.errors import REPLAY_IN_PROGRESS, TOO_MANY_WEBHOOKS, WEBHOOK_INACTIVE
from sealdesk.webhooks.store import delivery_log
from sealdesk.webhooks.store import endpoints as endpoint_store
from sealdesk.webhooks.types import (
    DELIVERY_STATUSES,
    DeliveryFilter,
    DeliveryResponse,
    NewRedelivery,
    NewReplay,
    NewWebhook,
    ReplayResponse,
    WebhookChange,
    WebhookResponse,
)

S = TypeVar("S", DeliveryResponse, ReplayResponse)
_TAG = "Webhooks"
_FILTERS = (
    query.one_of("status", DELIVERY_STATUSES, "Deliveries in this state."),
    query.one_of("event_type", events.TYPES, "Deliveries of events of this type."),
    query.instant("created_after", "Deliveries created at this time or later."),
    query.instant("created_before", "Deliveries created before this time."),
)


@operation("List webhook endpoints", tag=_TAG, gives=examples.WEBHOOK, is_list=True, params=PAGING)
async def list_webhooks(request: Request) -> Response:
    """Newest first. Never shows a secret."""
    now_us = request.now_us
    return await list_all(
        request, endpoint_store.list_endpoints, lambda each: rules.endpoint_response(each, now_us)
    )


@operation(
    "Create a webhook endpoint",
    tag=_TAG,
    takes=NewWebhook,
    gives=examples.CREATED_WEBHOOK,
    status=201,
    response_headers=("location",),
    fails=(TOO_MANY_WEBHOOKS,),
    example=examples.NEW_WEBHOOK,
)
async def create_webhook(request: Request) -> Response:
    """The URL must be reachable now; nothing is sent to it yet. The response contains `secret`,
    which signs the deliveries and is never shown again."""
    created = await endpoint_service.create_webhook(request, body.read(request, NewWebhook))
    return envelope.created(request, created)


@operation("Get a webhook endpoint", tag=_TAG, gives=examples.WEBHOOK)
async def get_webhook(request: Request, endpoint_id: str) -> Response:
    """One endpoint, without its secret."""
    return envelope.one(await _show(request, endpoint_id))


async def _show(request: Request, endpoint_id: str) -> WebhookResponse:
    endpoint = await request.fetch(actions.get_webhook, endpoint_id)
    return rules.endpoint_response(endpoint, request.now_us)


@operation(
    "Change a webhook endpoint",
    tag=_TAG,
    takes=WebhookChange,
    gives=examples.WEBHOOK,
    example=examples.WEBHOOK_CHANGE,
)
async def change_webhook(request: Request, endpoint_id: str) -> Response:
    """A JSON Merge Patch. `is_active: false` pauses: pending deliveries are kept, and no new ones
    are added. `is_active: true` resumes, also after Sealdesk has disabled the endpoint."""
    change = await body.read_change(request, WebhookChange, lambda: _show(request, endpoint_id))
    return envelope.one(await endpoint_service.change_webhook(request, endpoint_id, change))


@operation("Delete a webhook endpoint", tag=_TAG, status=204)
async def delete_webhook(request: Request, endpoint_id: str) -> Response:
    """Deletes the endpoint with its pending deliveries, its delivery log and its secret."""
    await request.act(actions.delete_webhook, endpoint_id, now_us=request.now_us)
    return envelope.nothing()


@operation("Rotate a webhook endpoint's secret", tag=_TAG, gives=examples.ROTATED_WEBHOOK)
async def rotate_webhook_secret(request: Request, endpoint_id: str) -> Response:
    """Creates a new `secret`, which is shown only once. For 24 hours deliveries carry two
    signatures, by the new and by the previous secret, so a receiver can change without a gap."""
    rotated = await request.act(
        actions.rotate_secret, endpoint_id, key_ring=request.state.key_ring, now_us=request.now_us
    )
    return envelope.one(rotated)


@operation("Test a webhook endpoint", tag=_TAG, gives=examples.DELIVERY_WITH_ATTEMPTS)
async def test_webhook(request: Request, endpoint_id: str) -> Response:
    """Sends one signed `webhook.test` now, also to a paused endpoint, and returns the delivery with
    its attempt. The status is 200 even if the delivery failed; see the field `status`."""
    return envelope.one(await endpoint_service.send_test(request, endpoint_id))


@operation(
    "List a webhook endpoint's deliveries",
    tag=_TAG,
    gives=examples.DELIVERY,
    is_list=True,
    params=(*_FILTERS, *PAGING),
)
async def list_deliveries(request: Request, endpoint_id: str) -> Response:
    """Newest first, of the last 30 days, each with the result of its last attempt."""
    list_request = read_list(request, _FILTERS)
    wanted = DeliveryFilter(**{each.name: list_request.values.get(each.name) for each in _FILTERS})

    async def work(tx: Tx, tenant_id: str, endpoint_id: str) -> list[DeliveryResponse]:
        return await delivery_log.list_deliveries(
            tx, tenant_id, endpoint_id, list_request.page, wanted
        )

    return await _list_of_endpoint(
        request, endpoint_id, list_request, work, is_indexed=not wanted.event_type
    )


@operation("Get a webhook delivery", tag=_TAG, gives=examples.DELIVERY_WITH_ATTEMPTS)
async def get_delivery(request: Request, endpoint_id: str, delivery_id: str) -> Response:
    """The delivery with the request and the response of each attempt."""
    return envelope.one(await request.fetch(actions.get_delivery, endpoint_id, delivery_id))


@operation(
    "Redeliver a webhook delivery",
    tag=_TAG,
    gives=examples.REDELIVERY,
    status=202,
    fails=(WEBHOOK_INACTIVE,),
)
async def redeliver(request: Request, endpoint_id: str, delivery_id: str) -> Response:
    """Sends the event again now with the same `webhook-id`, even if it was delivered, and retries
    on the full schedule if that fails."""
    delivery = await request.act(actions.redeliver, endpoint_id, delivery_id, now_us=request.now_us)
    return envelope.one(delivery, 202)


@operation(
    "Redeliver a webhook endpoint's failed deliveries",
    tag=_TAG,
    takes=NewRedelivery,
    gives=examples.RESTARTED,
    status=202,
    fails=(WEBHOOK_INACTIVE,),
    example=examples.NEW_REDELIVERY,
)
async def redeliver_failed(request: Request, endpoint_id: str) -> Response:
    """Sends up to 1000 failed deliveries since `since` again, oldest first, each on the full
    schedule; tests are left out. While `has_more` is true, repeat it."""
    new = body.read(request, NewRedelivery)
    restarted = await request.act(
        redelivery.redeliver_failed, endpoint_id, new, now_us=request.now_us
    )
    return envelope.one(restarted, 202)


@operation(
    "Retry a webhook endpoint's waiting deliveries now",
    tag=_TAG,
    gives=examples.RESTARTED,
    status=202,
    fails=(WEBHOOK_INACTIVE,),
)
async def retry_now(request: Request, endpoint_id: str) -> Response:
    """Makes the next attempt of up to 1000 deliveries that wait for it now. If it fails, the
    schedule goes on."""
    restarted = await request.act(redelivery.retry_now, endpoint_id, now_us=request.now_us)
    return envelope.one(restarted, 202)


@operation(
    "Replay events to a webhook endpoint",
    tag=_TAG,
    takes=NewReplay,
    gives=examples.REPLAY,
    status=202,
    fails=(WEBHOOK_INACTIVE, REPLAY_IN_PROGRESS),
    example=examples.NEW_REPLAY,
)
async def replay_events(request: Request, endpoint_id: str) -> Response:
    """Delivers again all events of the subscribed types from `since` up to but not including
    `until`, even delivered ones, each with its original `webhook-id`."""
    new = body.read(request, NewReplay)
    replay = await request.act(actions.replay, endpoint_id, new, now_us=request.now_us)
    return envelope.one(replay, 202)


@operation(
    "List a webhook endpoint's replays",
    tag=_TAG,
    gives=examples.REPLAY,
    is_list=True,
    params=PAGING,
)
async def list_replays(request: Request, endpoint_id: str) -> Response:
    """Newest first, each with its progress."""
    list_request = read_list(request, ())

    async def work(tx: Tx, tenant_id: str, endpoint_id: str) -> list[ReplayResponse]:
        replays = await endpoint_store.list_replays(tx, tenant_id, endpoint_id, list_request.page)
        return [rules.replay_response(replay) for replay in replays]

    return await _list_of_endpoint(request, endpoint_id, list_request, work)


async def _list_of_endpoint(
    request: Request,
    endpoint_id: str,
    list_request: ListRequest,
    list_rows: Callable[[Tx, str, str], Awaitable[list[S]]],
    *,
    is_indexed: bool = True,
) -> Response:
    """The page of a list that belongs to the endpoint in the path."""
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> list[S]:
        await actions.get_webhook(tx, tenant_id, endpoint_id)
        return await list_rows(tx, tenant_id, endpoint_id)

    rows = await (request.read(work) if is_indexed else request.read_unindexed(work))
    return page(request, list_request, rows, show=msgspec.json.encode)
