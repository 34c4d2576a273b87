"""Pages of Settings → API keys."""

import ipaddress
import shlex
from typing import Any

from sealdesk import clock
from sealdesk.api_keys import actions, errors, journal, labels, rules, store
from sealdesk.api_keys.pages import form as key_form
from sealdesk.api_keys.permissions import DEFAULT_PERMISSIONS
from sealdesk.api_keys.test_mode import tenants
from sealdesk.api_keys.types import ApiKey, ApiKeyChange, CreatedApiKey, NewApiKey, StoredRefusal
from sealdesk.api_keys.usage import plots, report
from sealdesk.api_keys.usage.plots import DAY, MONTH
from sealdesk.db.engine import Tx
from sealdesk.errors import (
    ApiError,
    Conflict,
    PreconditionFailed,
    TooManyRequests,
    ValidationFailed,
)
from sealdesk.records import test_tenants
from sealdesk.resources.paging import PageRequest
from sealdesk.web import body, snippets
from sealdesk.web.client_address import is_within
from sealdesk.web.operation import page
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.pages.i18n import gettext_noop, translate
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

_PATH = "/settings/api-keys"
NAV_ITEM = NavItem(_PATH, gettext_noop("API keys"), section="developers")
ROOM = Room("api_keys", errors, labels, NAV_ITEM, object_type="api_key")
_PER_PAGE = 50
_SOON_US = 14 * 24 * 3600 * 1_000_000
_REFUSALS_SHOWN = 5


@page
async def list_keys(request: Request) -> Response:
    """All keys; those that expire soon are marked."""
    trail = cursor_trail.read(forms.read_query(request))
    page_request = PageRequest(_PER_PAGE, [trail[-1]] if trail else None)
    keys = await request.fetch(store.list_keys, page_request)
    shown = keys[:_PER_PAGE]
    waiting = await request.fetch(store.list_unconfirmed, request.now_us, 1)
    test_keys = [] if trail else await _list_test_keys(request)
    return await render.page(
        request,
        "api_keys/api_keys.html",
        is_waiting=bool(waiting),
        keys=[view_key(key, request.now_us) for key in shown],
        test_keys=[view_key(key, request.now_us) for key in test_keys],
        uses=await report.list_recent(request, [key.id for key in shown]),
        older=cursor_trail.older(trail, shown[-1].id) if len(keys) > _PER_PAGE else None,
        newer=cursor_trail.newer(trail),
    )


async def _list_test_keys(request: Request) -> list[ApiKey]:
    """The newest test keys."""
    live_id, database = request.caller.tenant_id, request.state.database
    found = await database.read(lambda tx: test_tenants.find_of(tx, live_id))
    if found is None:
        return []
    tenant_id, newest = found.tenant_id, PageRequest(rules.MAX_ACTIVE_KEYS, None)
    keys = await database.read(lambda tx: store.list_keys(tx, tenant_id, newest), tenant_id)
    return keys[: rules.MAX_ACTIVE_KEYS]


def view_key(key: ApiKey, now_us: int) -> dict[str, Any]:
    """A key as the API shows it, with its state and the preset of its permissions."""
    is_soon = key.expires_at is not None and key.expires_at - now_us <= _SOON_US
    state = "expiring" if is_soon else "active"
    if key.unconfirmed_since is not None:
        state = "unconfirmed"
    elif not rules.is_active(key, now_us):
        state = "expired" if key.revoked_at is None else "revoked"
    days = 0 if key.expires_at is None else max(0, key.expires_at - now_us) // plots.DAY_US
    preset = key_form.grant_of(key.permissions)
    return rules.shown(key, now_us) | {"state": state, "days_left": days, "grant": preset}


@page
async def new_key(request: Request) -> Response:
    return await _render_form(
        request, "new.html", key_form.empty_values(await _find_newest_id(request))
    )


async def _find_newest_id(request: Request) -> str:
    newest_page = PageRequest(1, None)
    keys = await request.fetch(store.list_keys, newest_page)
    return keys[0].id if keys else key_form.NONE_SEEN


@page
async def create_key(request: Request) -> Response:
    """The new key with its secret, which is shown once."""
    form = forms.read(request)
    typed = key_form.read_values(form)
    try:
        fields = key_form.to_body(form, request.now_us) | {"mode": typed["mode"] or "live"}
        new = body.convert(fields, NewApiKey)
        if new.mode == "test":
            await tenants.enter(request)
        created = await request.write(
            lambda tx: _create_unless_duplicate(tx, request, new, typed["seen"])
        )
    except (ValidationFailed, Conflict, TooManyRequests) as error:
        return await _render_form(request, "new.html", typed, error)
    if isinstance(created, ApiKey):
        # Probably submitted twice; submitting it again creates a second key with this name.
        return await _render_form(
            request, "new.html", typed | {"seen": await _find_newest_id(request)}, duplicate=created
        )
    journal.record_request(request, "created", created.id, name=created.name)
    return await _render_created(request, created)


async def _create_unless_duplicate(
    tx: Tx, request: Request, new: NewApiKey, seen: str
) -> CreatedApiKey | ApiKey:
    """The new key, or one with the same name that was created since the form was opened."""
    if seen:
        tenant_id = request.caller.tenant_id
        duplicate = await actions.find_duplicate_key(tx, tenant_id, new.name, seen)
        if duplicate is not None:
            return duplicate
    return await actions.create_key(
        tx, request.caller, new, key_ring=request.state.key_ring, now_us=request.now_us
    )


_FIRST_TICKET = (
    '{"subject":"Hello","description":"This is our first ticket.",'
    '"customer":{"email":"ann@example.com","name":"Ann"}}'
)


async def _render_created(request: Request, created: CreatedApiKey) -> Response:
    external = f"{request.state.settings.path_prefix}/api/v1/external"
    ticket = shlex.quote(_FIRST_TICKET)
    allowed = [ipaddress.ip_network(each) for each in created.allowed_ips or ()]
    return await render.page(
        request,
        "api_keys/made.html",
        201,
        key=created,
        programs=snippets.SNIPPETS[1:],
        curl=snippets.curl("GET", f"{external}/whoami"),
        ticket_curl=snippets.curl("POST", f"{external}/tickets", ticket)
        if "tickets:write" in created.permissions
        else "",
        address=render.base_url(request),
        ip=request.address,
        is_from_here=not allowed or is_within(request.address, tuple(allowed)),
    )


@page
async def show_key(request: Request, key_id: str) -> Response:
    """The settings, usage and latest refusals of a key."""
    span = MONTH if forms.read_query(request).text("span") == MONTH.name else DAY
    key = await _get_key(request, key_id)
    usage = await report.find_report(request, key.id, span)
    page_request = PageRequest(_REFUSALS_SHOWN, None)

    async def work(tx: Tx) -> list[StoredRefusal]:
        return await store.list_refusals(tx, key.tenant_id, key.id, page_request)

    refusals = (await request.read(work))[:_REFUSALS_SHOWN]
    used_permissions = {name for name, _ in usage.permissions} if usage else set(key.permissions)
    unused_permissions = [name for name in key.permissions if name not in used_permissions]
    return await render.page(
        request,
        "api_keys/api_key.html",
        key=view_key(key, request.now_us),
        span=span.name,
        usage=usage,
        unused=unused_permissions,
        refusals=refusals,
        iso=clock.iso,
        most=report.VALUES_SHOWN,
        kind_of=plots.kind_of,
    )


@page
async def edit_key(request: Request, key_id: str) -> Response:
    """The form of an existing key."""
    key = await _get_key(request, key_id)
    return await _render_form(request, "edit.html", key_form.values_of_key(key), key=key)


@page
async def change_key(request: Request, key_id: str) -> Response:
    """Change a key, from its next request on."""
    form, key = forms.read(request), await _get_key(request, key_id)
    try:
        change = body.convert(key_form.to_body(form, request.now_us), ApiKeyChange)
        await request.act(
            actions.change_key, key.id, change, now_us=request.now_us, seen=form.text("seen")
        )
    except (ValidationFailed, Conflict) as error:
        return await _render_form(request, "edit.html", key_form.read_values(form), error, key=key)
    except PreconditionFailed as error:
        key = await _get_key(request, key_id)
        typed = key_form.read_values(form) | {"seen": rules.settings_hash(key)}
        return await _render_form(request, "edit.html", typed, error, key=key)
    return render.redirect(request, f"{_PATH}/{key.id}")


@page
async def confirm_rotation(request: Request, key_id: str) -> Response:
    return await _render_confirmation(request, key_id, "rotate.html")


@page
async def rotate_key(request: Request, key_id: str) -> Response:
    """The new secret, which is shown once."""
    seen = forms.read(request).text("seen")
    await tenants.enter_for_key(request, key_id)
    try:
        rotated = await request.act(
            actions.rotate_key,
            key_id,
            key_ring=request.state.key_ring,
            now_us=request.now_us,
            seen=seen,
        )
    except (PreconditionFailed, ValidationFailed) as error:
        return await _render_confirmation(request, key_id, "rotate.html", error)
    journal.record_request(request, "rotated", key_id)
    return await render.page(request, "api_keys/made.html", key=rotated, curl="", address="")


@page
async def confirm_revocation(request: Request, key_id: str) -> Response:
    return await _render_confirmation(request, key_id, "revoke.html")


@page
async def revoke_key(request: Request, key_id: str) -> Response:
    await tenants.enter_for_key(request, key_id)
    try:
        await request.act(actions.revoke_key, key_id, now_us=request.now_us)
    except ValidationFailed as error:
        return await _render_confirmation(request, key_id, "revoke.html", error)
    journal.record_request(request, "revoked", key_id)
    return render.redirect(request, f"{_PATH}/{key_id}")


async def _render_confirmation(
    request: Request, key_id: str, template: str, error: ApiError | None = None
) -> Response:
    key = await _get_key(request, key_id)
    is_reauthentication = isinstance(error, ValidationFailed)
    usages = [await report.find_report(request, key.id, span) for span in (DAY, MONTH)]
    return await render.page(
        request,
        f"api_keys/{template}",
        error.status if error else 200,
        is_stale=isinstance(error, PreconditionFailed),
        seen=forms.read(request).text("seen") if is_reauthentication else key.secret_version,
        key=view_key(key, request.now_us),
        day=usages[0],
        month=usages[1],
        is_busy=usages[0] is not None and usages[0].plot.totals["good"] > 0,
    )


async def _get_key(request: Request, key_id: str) -> ApiKey:
    await tenants.enter_for_key(request, key_id)
    return await request.fetch(actions.get_key, key_id)


async def _render_form(
    request: Request,
    template: str,
    typed: dict[str, Any],
    error: ApiError | None = None,
    *,
    key: ApiKey | None = None,
    duplicate: ApiKey | None = None,
) -> Response:
    """A form with its values, and the error of each field."""
    status = 409 if duplicate is not None else 200
    return await render.page(
        request,
        f"api_keys/{template}",
        error.status if error else status,
        typed=typed,
        duplicate=duplicate,
        faults=key_form.faults(error, typed) if isinstance(error, ValidationFailed) else {},
        error_text=translate(error) if isinstance(error, Conflict | TooManyRequests) else "",
        is_stale=isinstance(error, PreconditionFailed),
        known=DEFAULT_PERMISSIONS,
        key=None if key is None else view_key(key, request.now_us),
    )
