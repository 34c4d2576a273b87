"""Settings → Webhooks: the endpoints of a tenant as pages."""

from typing import Any, get_args

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, ValidationFailed
from sealdesk.paging import PageRequest
from sealdesk.web import body
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.pages.i18n import gettext_noop
from sealdesk.web.pages.messages import translate
from sealdesk.web.pages.site import NavItem
from sealdesk.web.request import Request, Response
from sealdesk.webhooks import actions, endpoint_service, rules
from sealdesk.webhooks.rules import Endpoint
from sealdesk.webhooks.store import endpoints as endpoint_store
from sealdesk.webhooks.types import (
    SUBSCRIBABLE,
    DeliveryResponse,
    DeliveryStatus,
    NewWebhook,
    WebhookChange,
)

_PATH = "/settings/webhooks"
NAV_ITEM = NavItem(_PATH, gettext_noop("Webhooks"))
_PER_PAGE = 25
_STATUSES: dict[str, DeliveryStatus] = {each: each for each in get_args(DeliveryStatus)}


@page
async def list_webhooks(request: Request) -> Response:
    """All endpoints, and how each fares."""
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> tuple[list[Endpoint], dict[str, DeliveryResponse]]:
        most = PageRequest(rules.MAX_ENDPOINTS, None)
        endpoints = await endpoint_store.list_endpoints(tx, tenant_id, most)
        return endpoints, await endpoint_store.last_deliveries(tx, tenant_id, rules.MAX_ENDPOINTS)

    endpoints, last = await request.read(work)
    rows = [(rules.shown(each, request.now_us), last.get(each.id)) for each in endpoints]
    return await render.page(request, "webhooks/webhooks.html", rows=rows, most=rules.MAX_ENDPOINTS)


@page
async def new_webhook(request: Request) -> Response:
    """The form of a new endpoint, to which everything is sent if nothing is unticked."""
    return await _form(request, "new.html", {"url": "", "description": "", "events": SUBSCRIBABLE})


@page
async def create_webhook(request: Request) -> Response:
    """The new endpoint, with the secret that is shown this once."""
    form = forms.read(request)
    try:
        new = body.convert(_wanted(form), NewWebhook)
        made = await endpoint_service.create_webhook(request, new)
    except (ValidationFailed, Conflict) as refusal:
        return await _form(request, "new.html", _wanted(form), refusal)
    return await render.page(request, "webhooks/secret.html", 201, webhook=made, is_new=True)


@page
async def show_webhook(request: Request) -> Response:
    """One endpoint, what can be done with it, and what was delivered."""
    asked = forms.read_query(request)
    status = _STATUSES.get(asked.text("status"))
    way = cursor_trail.read(asked)
    wanted = PageRequest(_PER_PAGE, [way[-1]] if way else None)
    tenant_id, (endpoint_id,) = request.caller.tenant_id, request.params

    async def work(tx: Tx) -> tuple[Endpoint, list[DeliveryResponse]]:
        endpoint = await actions.get_webhook(tx, tenant_id, endpoint_id)
        return endpoint, await endpoint_store.list_deliveries(
            tx, tenant_id, endpoint_id, wanted, status
        )

    endpoint, rows = await request.read(work)
    shown = rows[:_PER_PAGE]
    return await render.page(
        request, "webhooks/webhook.html",
        webhook=rules.shown(endpoint, request.now_us),
        deliveries=shown,
        filter=status,
        older=cursor_trail.older(way, shown[-1].id) if len(rows) > _PER_PAGE else None,
        newer=cursor_trail.newer(way),
    )  # fmt: skip


@page
async def edit_webhook(request: Request) -> Response:
    """The form of an endpoint as it is."""
    endpoint = await _get(request)
    return await _form(request, "edit.html", msgspec.structs.asdict(endpoint), webhook=endpoint)


@page
async def change_webhook(request: Request) -> Response:
    """Change an endpoint; a new URL is tried before."""
    form, endpoint = forms.read(request), await _get(request)
    try:
        change = body.convert(_wanted(form), WebhookChange)
        await endpoint_service.change_webhook(request, endpoint.id, change)
    except ValidationFailed as refusal:
        return await _form(request, "edit.html", _wanted(form), refusal, webhook=endpoint)
    return render.redirect(request, f"{_PATH}/{endpoint.id}")


@page
async def pause_webhook(request: Request) -> Response:
    """Send nothing until somebody says so."""
    return await _switch(request, WebhookChange(is_active=False))


@page
async def activate_webhook(request: Request) -> Response:
    """Go on sending."""
    return await _switch(request, WebhookChange(is_active=True))


async def _switch(request: Request, change: WebhookChange) -> Response:
    (endpoint_id,) = request.params
    await endpoint_service.change_webhook(request, endpoint_id, change)
    return render.redirect(request, f"{_PATH}/{endpoint_id}")


@page
async def confirm_rotation(request: Request) -> Response:
    """What rotating means, before it is done."""
    return await _confirm(request, "rotate.html")


@page
async def rotate_secret(request: Request) -> Response:
    """The new secret, which is shown this once."""
    (endpoint_id,) = request.params
    try:
        rotated = await request.write(
            lambda tx: actions.rotate_secret(
                tx,
                request.caller,
                endpoint_id,
                key_ring=request.state.key_ring,
                now_us=request.now_us,
            )
        )
    except ValidationFailed as refusal:
        return await _confirm(request, "rotate.html", refusal)
    return await render.page(request, "webhooks/secret.html", webhook=rotated, is_new=False)


@page
async def confirm_deletion(request: Request) -> Response:
    """What deleting means, before it is done."""
    return await _confirm(request, "delete.html")


@page
async def delete_webhook(request: Request) -> Response:
    """End an endpoint for good."""
    (endpoint_id,) = request.params
    try:
        await request.write(
            lambda tx: actions.delete_webhook(
                tx, request.caller, endpoint_id, now_us=request.now_us
            )
        )
    except ValidationFailed as refusal:
        return await _confirm(request, "delete.html", refusal)
    return render.redirect(request, _PATH)


async def _confirm(
    request: Request, template: str, refusal: ValidationFailed | None = None
) -> Response:
    webhook = rules.shown(await _get(request), request.now_us)
    status = refusal.status if refusal else 200
    return await render.page(request, f"webhooks/{template}", status, webhook=webhook)


async def _get(request: Request) -> Endpoint:
    (endpoint_id,) = request.params
    return await request.read(
        lambda tx: actions.get_webhook(tx, request.caller.tenant_id, endpoint_id)
    )


def _wanted(form: Form) -> dict[str, Any]:
    """What was typed, as the API takes it."""
    is_everything = form.text("everything") != ""
    return {
        "url": form.text("url").strip(),
        "description": form.text("description").strip() or None,
        "events": list(SUBSCRIBABLE) if is_everything else form.texts("events"),
    }


async def _form(
    request: Request,
    template: str,
    typed: dict[str, Any],
    refusal: ApiError | None = None,
    **values: Any,
) -> Response:
    """A form with what was typed, and beside each field what is wrong."""
    return await render.page(
        request, f"webhooks/{template}", refusal.status if refusal else 200,
        typed=typed,
        faults=forms.faults_by_field(refusal) if isinstance(refusal, ValidationFailed) else {},
        wrong=translate(refusal) if isinstance(refusal, Conflict) else "",
        kinds=SUBSCRIBABLE,
        **values,
    )  # fmt: skip
