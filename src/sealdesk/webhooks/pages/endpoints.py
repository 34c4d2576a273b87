"""Settings → Webhooks: the endpoints of a tenant as pages."""

from typing import Any, get_args

import msgspec

from sealdesk import clock
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, PreconditionFailed, ValidationFailed
from sealdesk.event_log import events
from sealdesk.resources.paging import PageRequest
from sealdesk.web import body
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.pages.i18n import gettext_noop
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response
from sealdesk.webhooks import actions, endpoint_service, errors, labels, rules
from sealdesk.webhooks.store import delivery_log
from sealdesk.webhooks.store import endpoints as endpoint_store
from sealdesk.webhooks.types import (
    EVERY_TYPE,
    SUBSCRIBABLE,
    DeliveryFilter,
    DeliveryResponse,
    DeliveryStatus,
    Endpoint,
    NewWebhook,
    WebhookChange,
)

_PATH = "/settings/webhooks"
NAV_ITEM = NavItem(_PATH, gettext_noop("Webhooks"), section="developers")
ROOM = Room("webhooks", errors, labels, NAV_ITEM, object_type="webhook")
_PER_PAGE = 25
_FILTERS = ("status", "event_type", "created_after", "created_before")
_STATUSES: dict[str, DeliveryStatus] = {each: each for each in get_args(DeliveryStatus)}


@page
async def list_webhooks(request: Request) -> Response:
    """All endpoints, each with its last delivery."""
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> tuple[list[Endpoint], dict[str, DeliveryResponse]]:
        page_request = PageRequest(rules.MAX_ENDPOINTS, None)
        endpoints = await endpoint_store.list_endpoints(tx, tenant_id, page_request)
        return endpoints, await delivery_log.last_deliveries(tx, tenant_id, rules.MAX_ENDPOINTS)

    endpoints, last = await request.read(work)
    rows = [
        (rules.endpoint_response(each, request.now_us), last.get(each.id)) for each in endpoints
    ]
    return await render.page(request, "webhooks/webhooks.html", rows=rows, most=rules.MAX_ENDPOINTS)


@page
async def new_webhook(request: Request) -> Response:
    """The form of a new endpoint; all event types are selected."""
    return await _form(request, "new.html", {"url": "", "description": "", "events": (EVERY_TYPE,)})


@page
async def create_webhook(request: Request) -> Response:
    """Create an endpoint; its secret is shown only once."""
    form = forms.read(request)
    try:
        new = body.convert(_read_fields(form), NewWebhook)
        created = await endpoint_service.create_webhook(request, new)
    except (ValidationFailed, Conflict) as error:
        return await _form(request, "new.html", _read_fields(form), error)
    return await render.page(request, "webhooks/secret.html", 201, webhook=created, is_new=True)


@page
async def show_webhook(request: Request, endpoint_id: str) -> Response:
    """One endpoint with its actions and its deliveries."""
    query = forms.read_query(request)
    typed = {name: query.text(name) for name in _FILTERS}
    wanted = DeliveryFilter(
        status=_STATUSES.get(typed["status"]),
        event_type=typed["event_type"] if typed["event_type"] in events.TYPES else None,
        created_after=clock.parse_instant(typed["created_after"]),
        created_before=clock.parse_instant(typed["created_before"]),
    )
    trail = cursor_trail.read(query)
    page_request = PageRequest(_PER_PAGE, [trail[-1]] if trail else None)
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> tuple[Endpoint, list[DeliveryResponse]]:
        endpoint = await actions.get_webhook(tx, tenant_id, endpoint_id)
        return endpoint, await delivery_log.list_deliveries(
            tx, tenant_id, endpoint_id, page_request, wanted
        )

    endpoint, rows = await (
        request.read_unindexed(work) if wanted.event_type else request.read(work)
    )
    deliveries = rows[:_PER_PAGE]
    return await render.page(
        request,
        "webhooks/webhook.html",
        webhook=rules.endpoint_response(endpoint, request.now_us),
        deliveries=deliveries,
        filter=wanted.status,
        filters=_shown_filters(wanted),
        kinds=events.TYPES,
        older=cursor_trail.older(trail, deliveries[-1].id) if len(rows) > _PER_PAGE else None,
        newer=cursor_trail.newer(trail),
    )


def _shown_filters(wanted: DeliveryFilter) -> dict[str, str]:
    """The filters besides the status, as the form shows them and links carry them."""
    after, before = wanted.created_after, wanted.created_before
    shown = {
        "event_type": wanted.event_type or "",
        "created_after": "" if after is None else clock.iso(after)[:16],
        "created_before": "" if before is None else clock.iso(before)[:16],
    }
    return {name: text for name, text in shown.items() if text}


@page
async def edit_webhook(request: Request, endpoint_id: str) -> Response:
    endpoint = await request.fetch(actions.get_webhook, endpoint_id)
    return await _edit_form(request, endpoint, msgspec.structs.asdict(endpoint))


@page
async def change_webhook(request: Request, endpoint_id: str) -> Response:
    """Change an endpoint, unless somebody else has changed it since the form was opened.

    A new URL must be reachable.
    """
    form, endpoint = forms.read(request), await request.fetch(actions.get_webhook, endpoint_id)
    typed, seen = _read_fields(form), form.text("seen")
    try:
        change = body.convert(typed, WebhookChange)
        await endpoint_service.change_webhook(request, endpoint.id, change, seen)
    except ValidationFailed as error:
        return await _edit_form(request, endpoint, typed, error, seen)
    except PreconditionFailed as error:
        changed = await request.fetch(actions.get_webhook, endpoint_id)
        return await _edit_form(request, changed, typed, error)
    return render.redirect(request, f"{_PATH}/{endpoint.id}")


@page
async def pause_webhook(request: Request, endpoint_id: str) -> Response:
    return await _set_active(request, endpoint_id, WebhookChange(is_active=False))


@page
async def activate_webhook(request: Request, endpoint_id: str) -> Response:
    return await _set_active(request, endpoint_id, WebhookChange(is_active=True))


async def _set_active(request: Request, endpoint_id: str, change: WebhookChange) -> Response:
    await endpoint_service.change_webhook(request, endpoint_id, change)
    return render.redirect(request, f"{_PATH}/{endpoint_id}")


@page
async def confirm_rotation(request: Request, endpoint_id: str) -> Response:
    return await _confirm(request, endpoint_id, "rotate.html")


@page
async def rotate_secret(request: Request, endpoint_id: str) -> Response:
    """Rotate the secret; the new one is shown only once."""
    try:
        rotated = await request.act(
            actions.rotate_secret,
            endpoint_id,
            key_ring=request.state.key_ring,
            now_us=request.now_us,
        )
    except ValidationFailed as error:
        return await _confirm(request, endpoint_id, "rotate.html", error)
    return await render.page(request, "webhooks/secret.html", webhook=rotated, is_new=False)


@page
async def confirm_deletion(request: Request, endpoint_id: str) -> Response:
    return await _confirm(request, endpoint_id, "delete.html")


@page
async def delete_webhook(request: Request, endpoint_id: str) -> Response:
    try:
        await request.act(actions.delete_webhook, endpoint_id, now_us=request.now_us)
    except ValidationFailed as error:
        return await _confirm(request, endpoint_id, "delete.html", error)
    return render.redirect(request, _PATH)


async def _confirm(
    request: Request, endpoint_id: str, template: str, error: ValidationFailed | None = None
) -> Response:
    endpoint = await request.fetch(actions.get_webhook, endpoint_id)
    webhook = rules.endpoint_response(endpoint, request.now_us)
    status = error.status if error else 200
    return await render.page(request, f"webhooks/{template}", status, webhook=webhook)


def _read_fields(form: Form) -> dict[str, Any]:
    """The form fields as the body of an API request."""
    is_everything = form.text("everything") != ""
    return {
        "url": form.text("url").strip(),
        "description": form.text("description").strip() or None,
        "events": [EVERY_TYPE] if is_everything else form.texts("events"),
    }


async def _edit_form(
    request: Request,
    endpoint: Endpoint,
    typed: dict[str, Any],
    error: ApiError | None = None,
    seen: str = "",
) -> Response:
    """seen: see `actions.change_webhook`; "" for the endpoint as it is."""
    seen = seen or rules.settings_hash(endpoint)
    return await _form(request, "edit.html", typed, error, webhook=endpoint, seen=seen)


async def _form(
    request: Request,
    template: str,
    typed: dict[str, Any],
    error: ApiError | None = None,
    **values: Any,
) -> Response:
    """A form with the submitted values and a message beside each invalid field."""
    return await forms.show(
        request,
        f"webhooks/{template}",
        error,
        typed=typed,
        kinds=SUBSCRIBABLE,
        **values,
    )
