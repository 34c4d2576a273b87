"""Settings → Webhooks: the delivery log of an endpoint, redelivery and replay."""

from sealdesk import clock
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, ValidationFailed
from sealdesk.resources.paging import PageRequest
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.messages import translate
from sealdesk.web.request import Request, Response
from sealdesk.webhooks import actions, endpoint_service, redelivery, rules
from sealdesk.webhooks.rules import Endpoint, Replay
from sealdesk.webhooks.store import endpoints as endpoint_store
from sealdesk.webhooks.types import DeliveryWithAttempts, NewReplay

_PATH = "/settings/webhooks"
_HOUR_US = 3600 * 1_000_000
_REPLAYS = PageRequest(5, None)
_MAX_PAYLOAD_LENGTH = 64 * 1024  # on the page; the API shows all


@page
async def show_delivery(request: Request) -> Response:
    """One delivery with its attempts."""
    tenant_id, (endpoint_id, delivery_id) = request.caller.tenant_id, request.params

    async def work(tx: Tx) -> tuple[Endpoint, DeliveryWithAttempts]:
        endpoint = await actions.get_webhook(tx, tenant_id, endpoint_id)
        return endpoint, await actions.get_delivery(tx, tenant_id, endpoint_id, delivery_id)

    endpoint, delivery = await request.read(work)
    webhook = rules.endpoint_response(endpoint, request.now_us)
    return await render.page(
        request, "webhooks/delivery.html",
        webhook=webhook, delivery=delivery, max_payload=_MAX_PAYLOAD_LENGTH,
    )  # fmt: skip


@page
async def send_test(request: Request) -> Response:
    """Send a test event now, and show its delivery."""
    (endpoint_id,) = request.params
    delivery = await endpoint_service.send_test(request, endpoint_id)
    return render.redirect(request, f"{_PATH}/{endpoint_id}/deliveries/{delivery.id}")


@page
async def redeliver(request: Request) -> Response:
    """Schedule a delivery to be sent again."""
    endpoint_id, delivery_id = request.params
    await request.write(
        lambda tx: actions.redeliver(
            tx, request.caller, endpoint_id, delivery_id, now_us=request.now_us
        )
    )
    return render.redirect(request, f"{_PATH}/{endpoint_id}/deliveries/{delivery_id}")


@page
async def retry_now(request: Request) -> Response:
    """Make the next attempts of waiting deliveries now."""
    (endpoint_id,) = request.params
    await request.write(
        lambda tx: redelivery.retry_now(tx, request.caller, endpoint_id, now_us=request.now_us)
    )
    return render.redirect(request, f"{_PATH}/{endpoint_id}")


@page
async def replay_form(request: Request) -> Response:
    """The form for a replay; its default is the last hour."""
    since = clock.iso(request.now_us - _HOUR_US)
    return await _replay_form(request, {"since": since, "until": ""})


@page
async def replay(request: Request) -> Response:
    """Start a replay; without `until` it ends now."""
    form, (endpoint_id,) = forms.read(request), request.params
    typed = {"since": form.text("since"), "until": form.text("until")}
    try:
        values = {**typed, "until": typed["until"] or clock.iso(request.now_us)}
        new = body.convert(values, NewReplay)
        await request.write(
            lambda tx: actions.replay(tx, request.caller, endpoint_id, new, now_us=request.now_us)
        )
    except (ValidationFailed, Conflict) as error:
        return await _replay_form(request, typed, error)
    return render.redirect(request, f"{_PATH}/{endpoint_id}/replay")


async def _replay_form(
    request: Request, typed: dict[str, str], error: ApiError | None = None
) -> Response:
    tenant_id, (endpoint_id,) = request.caller.tenant_id, request.params

    async def work(tx: Tx) -> tuple[Endpoint, list[Replay]]:
        endpoint = await actions.get_webhook(tx, tenant_id, endpoint_id)
        return endpoint, await endpoint_store.list_replays(tx, tenant_id, endpoint_id, _REPLAYS)

    endpoint, replays = await request.read(work)
    return await render.page(
        request, "webhooks/replay.html", error.status if error else 200,
        webhook=rules.endpoint_response(endpoint, request.now_us),
        replays=[rules.replay_response(each) for each in replays[: _REPLAYS.per_page]],
        typed={name: _as_input(text) for name, text in typed.items()},
        faults=forms.faults_by_field(error) if isinstance(error, ValidationFailed) else {},
        wrong=translate(error) if isinstance(error, Conflict) else "",
    )  # fmt: skip


def _as_input(text: str) -> str:
    """An instant as the value of a datetime-local input: in UTC, to the minute."""
    at_us = clock.parse_instant(text)
    return text if at_us is None else clock.iso(at_us)[:16]
