"""Settings → Webhooks: the endpoints of a tenant as pages."""

from typing import Any, get_args

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.errors import Clash, Invalid, Refusal
from sealdesk.paging import PageRequest
from sealdesk.web import body
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.pages.forms import Form
from sealdesk.web.pages.messages import retold
from sealdesk.web.request import Answer, Call
from sealdesk.web.router import page
from sealdesk.webhooks import actions, endpoint_service, rules
from sealdesk.webhooks.rules import Endpoint
from sealdesk.webhooks.store import endpoints as endpoint_store
from sealdesk.webhooks.types import (
    SUBSCRIBABLE,
    DeliveryShown,
    DeliveryStatus,
    NewWebhook,
    WebhookChange,
)

_ROOM = "sealdesk.webhooks"
_PATH = "/settings/webhooks"
_PER_PAGE = 25
_STATUSES: dict[str, DeliveryStatus] = {each: each for each in get_args(DeliveryStatus)}


@page
async def list_webhooks(call: Call) -> Answer:
    """All endpoints, and how each fares."""
    tenant_id = call.caller.tenant_id

    async def work(tx: Tx) -> tuple[list[Endpoint], dict[str, DeliveryShown]]:
        most = PageRequest(rules.MAX_ENDPOINTS, None)
        endpoints = await endpoint_store.list_endpoints(tx, tenant_id, most)
        return endpoints, await endpoint_store.last_deliveries(tx, tenant_id, rules.MAX_ENDPOINTS)

    endpoints, last = await call.read(work)
    rows = [(rules.shown(each, call.now_us), last.get(each.id)) for each in endpoints]
    return await render.show(call, _ROOM, "webhooks.html", rows=rows, most=rules.MAX_ENDPOINTS)


@page
async def new_webhook(call: Call) -> Answer:
    """The form of a new endpoint, to which everything is sent if nothing is unticked."""
    return await _form(call, "new.html", {"url": "", "description": "", "events": SUBSCRIBABLE})


@page
async def create_webhook(call: Call) -> Answer:
    """The new endpoint, with the secret that is shown this once."""
    form = forms.read(call)
    try:
        new = body.convert(_wanted(form), NewWebhook)
        made = await endpoint_service.create_webhook(call, new)
    except (Invalid, Clash) as refusal:
        return await _form(call, "new.html", _wanted(form), refusal)
    return await render.show(call, _ROOM, "secret.html", 201, webhook=made, is_new=True)


@page
async def show_webhook(call: Call) -> Answer:
    """One endpoint, what can be done with it, and what was delivered."""
    asked = forms.asked(call)
    status = _STATUSES.get(asked.text("status"))
    way = cursor_trail.read(asked)
    wanted = PageRequest(_PER_PAGE, [way[-1]] if way else None)
    tenant_id, (endpoint_id,) = call.caller.tenant_id, call.params

    async def work(tx: Tx) -> tuple[Endpoint, list[DeliveryShown]]:
        endpoint = await actions.get_webhook(tx, tenant_id, endpoint_id)
        return endpoint, await endpoint_store.list_deliveries(
            tx, tenant_id, endpoint_id, wanted, status
        )

    endpoint, rows = await call.read(work)
    shown = rows[:_PER_PAGE]
    return await render.show(
        call, _ROOM, "webhook.html",
        webhook=rules.shown(endpoint, call.now_us),
        deliveries=shown,
        filter=status,
        older=cursor_trail.older(way, shown[-1].id) if len(rows) > _PER_PAGE else None,
        newer=cursor_trail.newer(way),
    )  # fmt: skip


@page
async def edit_webhook(call: Call) -> Answer:
    """The form of an endpoint as it is."""
    endpoint = await _get(call)
    return await _form(call, "edit.html", msgspec.structs.asdict(endpoint), webhook=endpoint)


@page
async def change_webhook(call: Call) -> Answer:
    """Change an endpoint; a new URL is tried before."""
    form, endpoint = forms.read(call), await _get(call)
    try:
        change = body.convert(_wanted(form), WebhookChange)
        await endpoint_service.change_webhook(call, endpoint.id, change)
    except Invalid as refusal:
        return await _form(call, "edit.html", _wanted(form), refusal, webhook=endpoint)
    return render.go(call, f"{_PATH}/{endpoint.id}")


@page
async def pause_webhook(call: Call) -> Answer:
    """Send nothing until somebody says so."""
    return await _switch(call, WebhookChange(is_active=False))


@page
async def activate_webhook(call: Call) -> Answer:
    """Go on sending."""
    return await _switch(call, WebhookChange(is_active=True))


async def _switch(call: Call, change: WebhookChange) -> Answer:
    (endpoint_id,) = call.params
    await endpoint_service.change_webhook(call, endpoint_id, change)
    return render.go(call, f"{_PATH}/{endpoint_id}")


@page
async def confirm_rotation(call: Call) -> Answer:
    """What rotating means, before it is done."""
    return await _confirm(call, "rotate.html")


@page
async def rotate_secret(call: Call) -> Answer:
    """The new secret, which is shown this once."""
    (endpoint_id,) = call.params
    try:
        rotated = await call.write(
            lambda tx: actions.rotate_secret(
                tx, call.caller, endpoint_id, ring=call.shared.ring, now_us=call.now_us
            )
        )
    except Invalid as refusal:
        return await _confirm(call, "rotate.html", refusal)
    return await render.show(call, _ROOM, "secret.html", webhook=rotated, is_new=False)


@page
async def confirm_deletion(call: Call) -> Answer:
    """What deleting means, before it is done."""
    return await _confirm(call, "delete.html")


@page
async def delete_webhook(call: Call) -> Answer:
    """End an endpoint for good."""
    (endpoint_id,) = call.params
    try:
        await call.write(
            lambda tx: actions.delete_webhook(tx, call.caller, endpoint_id, now_us=call.now_us)
        )
    except Invalid as refusal:
        return await _confirm(call, "delete.html", refusal)
    return render.go(call, _PATH)


async def _confirm(call: Call, template: str, refusal: Invalid | None = None) -> Answer:
    webhook = rules.shown(await _get(call), call.now_us)
    status = refusal.status if refusal else 200
    return await render.show(call, _ROOM, template, status, webhook=webhook)


async def _get(call: Call) -> Endpoint:
    (endpoint_id,) = call.params
    return await call.read(lambda tx: actions.get_webhook(tx, call.caller.tenant_id, endpoint_id))


def _wanted(form: Form) -> dict[str, Any]:
    """What was typed, as the API takes it."""
    is_everything = form.text("everything") != ""
    return {
        "url": form.text("url").strip(),
        "description": form.text("description").strip() or None,
        "events": list(SUBSCRIBABLE) if is_everything else form.texts("events"),
    }


async def _form(
    call: Call,
    template: str,
    typed: dict[str, Any],
    refusal: Refusal | None = None,
    **values: Any,
) -> Answer:
    """A form with what was typed, and beside each field what is wrong."""
    return await render.show(
        call, _ROOM, template, refusal.status if refusal else 200,
        typed=typed,
        faults=forms.faults_of(refusal) if isinstance(refusal, Invalid) else {},
        wrong=retold(refusal.detail) if isinstance(refusal, Clash) else "",
        kinds=SUBSCRIBABLE,
        **values,
    )  # fmt: skip
