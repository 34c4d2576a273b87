"""Settings → Webhooks: the delivery log of an endpoint, redelivery and replay."""

from sealdesk import clock
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, ValidationFailed
from sealdesk.resources.paging import PageRequest
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.request import Request, Response
from sealdesk.webhooks import actions, endpoint_service, redelivery, rules
from sealdesk.webhooks.store import endpoints as endpoint_store
from sealdesk.webhooks.types import DeliveryWithAttempts, Endpoint, NewReplay, Replay

_PATH = "/settings/webhooks"
_HOUR_US = 3600 * 1_000_000
_REPLAYS = PageRequest(5, None)
_MAX_PAYLOAD_LENGTH = 64 * 1024  # on the page; the API shows all


@page
async def show_delivery(request: Request, endpoint_id: str, delivery_id: str) -> Response:
    """One delivery with its attempts."""
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> tuple[Endpoint, DeliveryWithAttempts]:
        endpoint = await actions.get_webhook(tx, tenant_id, endpoint_id)
        return endpoint, await actions.get_delivery(tx, tenant_id, endpoint_id, delivery_id)

    endpoint, delivery = await request.read(work)
    webhook = rules.endpoint_response(endpoint, request.now_us)
    return await render.page(
        request,
        "webhooks/delivery.html",
        webhook=webhook,
        delivery=delivery,
        max_payload=_MAX_PAYLOAD_LENGTH,
    )


@page
async def send_test(request: Request, endpoint_id: str) -> Response:
    """Send a test event now, and show its delivery."""
    delivery = await endpoint_service.send_test(request, endpoint_id)
    return render.redirect(request, f"{_PATH}/{endpoint_id}/deliveries/{delivery.id}")


@page
async def redeliver(request: Request, endpoint_id: str, delivery_id: str) -> Response:
    """Schedule a delivery to be sent again."""
    await request.act(actions.redeliver, endpoint_id, delivery_id, now_us=request.now_us)
    return render.redirect(request, f"{_PATH}/{endpoint_id}/deliveries/{delivery_id}")


@page
async def retry_now(request: Request, endpoint_id: str) -> Response:
    """Make the next attempts of waiting deliveries now."""
    await request.act(redelivery.retry_now, endpoint_id, now_us=request.now_us)
    return render.redirect(request, f"{_PATH}/{endpoint_id}")


@page
async def replay_form(request: Request, endpoint_id: str) -> Response:
    """The form for a replay; its default is the last hour."""
    since = clock.iso(request.now_us - _HOUR_US)
    return await _replay_form(request, endpoint_id, {"since": since, "until": ""})


@page
async def replay(request: Request, endpoint_id: str) -> Response:
    """Start a replay; without `until` it ends now."""
    form = forms.read(request)
    typed = {"since": form.text("since"), "until": form.text("until")}
    try:
        values = {**typed, "until": typed["until"] or clock.iso(request.now_us)}
        new = body.convert(values, NewReplay)
        await request.act(actions.replay, endpoint_id, new, now_us=request.now_us)
    except (ValidationFailed, Conflict) as error:
        return await _replay_form(request, endpoint_id, typed, error)
    return render.redirect(request, f"{_PATH}/{endpoint_id}/replay")


async def _replay_form(
    request: Request, endpoint_id: str, typed: dict[str, str], error: ApiError | None = None
) -> Response:
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> tuple[Endpoint, list[Replay]]:
        endpoint = await actions.get_webhook(tx, tenant_id, endpoint_id)
        return endpoint, await endpoint_store.list_replays(tx, tenant_id, endpoint_id, _REPLAYS)

    endpoint, replays = await request.read(work)
    return await forms.show(
        request,
        "webhooks/replay.html",
        error,
        webhook=rules.endpoint_response(endpoint, request.now_us),
        replays=[rules.replay_response(each) for each in replays[: _REPLAYS.per_page]],
        typed={name: _as_input(text) for name, text in typed.items()},
    )


def _as_input(text: str) -> str:
    """An instant as the value of a datetime-local input: in UTC, to the minute."""
    at_us = clock.parse_instant(text)
    return text if at_us is None else clock.iso(at_us)[:16]
