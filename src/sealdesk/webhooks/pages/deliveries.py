"""Settings → Webhooks: what was sent to an endpoint, and sending it again."""

from sealdesk import clock
from sealdesk.db.engine import Tx
from sealdesk.errors import Clash, Invalid, Refusal
from sealdesk.paging import PageRequest
from sealdesk.web import body
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.messages import retold
from sealdesk.web.request import Answer, Call
from sealdesk.web.router import page
from sealdesk.webhooks import actions, endpoint_service, rules
from sealdesk.webhooks.rules import Endpoint, Replay
from sealdesk.webhooks.store import endpoints as endpoint_store
from sealdesk.webhooks.types import DeliveryWithAttempts, NewReplay

_ROOM = "sealdesk.webhooks"
_PATH = "/settings/webhooks"
_HOUR_US = 3600 * 1_000_000
_REPLAYS = PageRequest(5, None)


@page
async def show_delivery(call: Call) -> Answer:
    """One delivery: what was sent, and how each attempt was answered."""
    tenant_id, (endpoint_id, delivery_id) = call.caller.tenant_id, call.params

    async def work(tx: Tx) -> tuple[Endpoint, DeliveryWithAttempts]:
        endpoint = await actions.get_webhook(tx, tenant_id, endpoint_id)
        return endpoint, await actions.get_delivery(tx, tenant_id, endpoint_id, delivery_id)

    endpoint, delivery = await call.read(work)
    webhook = rules.shown(endpoint, call.now_us)
    return await render.show(call, _ROOM, "delivery.html", webhook=webhook, delivery=delivery)


@page
async def try_webhook(call: Call) -> Answer:
    """Send a test now, and show what came of it."""
    (endpoint_id,) = call.params
    tried = await endpoint_service.try_webhook(call, endpoint_id)
    return render.go(call, f"{_PATH}/{endpoint_id}/deliveries/{tried.id}")


@page
async def redeliver(call: Call) -> Answer:
    """Send it again, soon."""
    endpoint_id, delivery_id = call.params
    await call.write(
        lambda tx: actions.redeliver(tx, call.caller, endpoint_id, delivery_id, now_us=call.now_us)
    )
    return render.go(call, f"{_PATH}/{endpoint_id}/deliveries/{delivery_id}")


@page
async def replay_form(call: Call) -> Answer:
    """Which range of time to send again; the last hour, if nothing else is typed."""
    since = clock.iso(call.now_us - _HOUR_US)
    return await _replay_form(call, {"since": since, "until": ""})


@page
async def replay(call: Call) -> Answer:
    """Have a range of time delivered again. Without an end it is up to now."""
    form, (endpoint_id,) = forms.read(call), call.params
    typed = {"since": form.text("since"), "until": form.text("until")}
    try:
        wanted = {**typed, "until": typed["until"] or clock.iso(call.now_us)}
        new = body.convert(wanted, NewReplay)
        await call.write(
            lambda tx: actions.replay(tx, call.caller, endpoint_id, new, now_us=call.now_us)
        )
    except (Invalid, Clash) as refusal:
        return await _replay_form(call, typed, refusal)
    return render.go(call, f"{_PATH}/{endpoint_id}/replay")


async def _replay_form(call: Call, typed: dict[str, str], refusal: Refusal | None = None) -> Answer:
    tenant_id, (endpoint_id,) = call.caller.tenant_id, call.params

    async def work(tx: Tx) -> tuple[Endpoint, list[Replay]]:
        endpoint = await actions.get_webhook(tx, tenant_id, endpoint_id)
        return endpoint, await endpoint_store.list_replays(tx, tenant_id, endpoint_id, _REPLAYS)

    endpoint, replays = await call.read(work)
    return await render.show(
        call, _ROOM, "replay.html", refusal.status if refusal else 200,
        webhook=rules.shown(endpoint, call.now_us),
        replays=[rules.replay_shown(each) for each in replays[: _REPLAYS.per_page]],
        typed={name: _as_typed(text) for name, text in typed.items()},
        faults=forms.faults_of(refusal) if isinstance(refusal, Invalid) else {},
        wrong=retold(refusal.detail) if isinstance(refusal, Clash) else "",
    )  # fmt: skip


def _as_typed(text: str) -> str:
    """An instant as fields for it take it: in UTC, to the minute."""
    at_us = clock.parse_instant(text)
    return text if at_us is None else clock.iso(at_us)[:16]
