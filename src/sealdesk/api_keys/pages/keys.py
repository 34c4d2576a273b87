"""Pages of Settings → API Keys."""

import ipaddress
from typing import Any

from sealdesk import clock
from sealdesk.api_keys import actions, rules, store
from sealdesk.api_keys.pages import form as key_form
from sealdesk.api_keys.rules import ApiKey, ApiKeyChange, CreatedApiKey, NewApiKey
from sealdesk.api_keys.store import StoredRefusal
from sealdesk.api_keys.usage import plots, report
from sealdesk.api_keys.usage.plots import DAY, MONTH
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, PreconditionFailed, ValidationFailed
from sealdesk.paging import PageRequest
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.pages.i18n import gettext_noop
from sealdesk.web.pages.messages import translate
from sealdesk.web.pages.site import NavItem
from sealdesk.web.request import Request, Response, is_within

_PATH = "/settings/api-keys"
NAV_ITEM = NavItem(_PATH, gettext_noop("API Keys"))
_PER_PAGE = 50
_SOON_US = 14 * 24 * 3600 * 1_000_000
_REFUSALS_SHOWN = 5


@page
async def list_keys(request: Request) -> Response:
    """All keys, with those that expire soon marked."""
    trail = cursor_trail.read(forms.read_query(request))
    page_request = PageRequest(_PER_PAGE, [trail[-1]] if trail else None)
    tenant_id = request.caller.tenant_id
    keys = await request.read(lambda tx: store.list_keys(tx, tenant_id, page_request))
    shown = keys[:_PER_PAGE]
    return await render.page(
        request, "api_keys/api_keys.html",
        keys=[_view(key, request.now_us) for key in shown],
        older=cursor_trail.older(trail, shown[-1].id) if len(keys) > _PER_PAGE else None,
        newer=cursor_trail.newer(trail),
    )  # fmt: skip


def _view(key: ApiKey, now_us: int) -> dict[str, Any]:
    """A key as the API shows it, with its state and the preset of its permissions."""
    is_soon = key.expires_at is not None and key.expires_at - now_us <= _SOON_US
    state = "expiring" if is_soon else "active"
    if not rules.is_active(key, now_us):
        state = "expired" if key.revoked_at is None else "revoked"
    days = 0 if key.expires_at is None else max(0, key.expires_at - now_us) // plots.DAY_US
    grant = key_form.grant_of(key.permissions)
    return rules.shown(key, now_us) | {"state": state, "days_left": days, "grant": grant}


@page
async def new_key(request: Request) -> Response:
    """The form of a new key."""
    return await _form(request, "new.html", key_form.blank(await _newest_id(request)))


async def _newest_id(request: Request) -> str:
    one = PageRequest(1, None)
    keys = await request.read(lambda tx: store.list_keys(tx, request.caller.tenant_id, one))
    return keys[0].id if keys else key_form.NONE_SEEN


@page
async def create_key(request: Request) -> Response:
    """The new key with its secret, which is shown once."""
    form = forms.read(request)
    typed = key_form.typed(form)
    try:
        new = body.convert(key_form.wanted(form, request.now_us), NewApiKey)
        made = await request.write(lambda tx: _create_unless_twin(tx, request, new, typed["seen"]))
    except ValidationFailed as refusal:
        return await _form(request, "new.html", typed, refusal)
    if isinstance(made, ApiKey):
        # Perhaps sent twice; sending the form again creates a second key of this name.
        return await _form(
            request, "new.html", typed | {"seen": await _newest_id(request)}, twin=made
        )
    return await _show_created(request, made)


async def _create_unless_twin(
    tx: Tx, request: Request, new: NewApiKey, seen: str
) -> CreatedApiKey | ApiKey:
    """The new key, or one of the same name that was created since the form was opened."""
    twin = await actions.find_twin(tx, request.caller.tenant_id, new.name, seen) if seen else None
    return twin or await actions.create_key(
        tx, request.caller, new, key_ring=request.state.key_ring, now_us=request.now_us
    )


async def _show_created(request: Request, made: CreatedApiKey) -> Response:
    from sealdesk.web.openapi.html import snippet  # late: it imports Jinja

    target = f"{request.state.settings.path_prefix}/api/v1/external/whoami"
    allowed = [ipaddress.ip_network(each) for each in made.allowed_ips or ()]
    return await render.page(
        request, "api_keys/made.html", 201,
        key=made, curl=snippet("curl", method="GET", target=target, body="''"),
        address=render.base_url(request), ip=request.address,
        is_from_here=not allowed or is_within(request.address, tuple(allowed)),
    )  # fmt: skip


@page
async def show_key(request: Request) -> Response:
    """A key: its settings, usage and latest refusals."""
    span = MONTH if forms.read_query(request).text("span") == MONTH.name else DAY
    key = await _get(request)
    look = await report.find_report(request, key.id, span)
    page_request = PageRequest(_REFUSALS_SHOWN, None)

    async def work(tx: Tx) -> list[StoredRefusal]:
        return await store.list_refusals(tx, key.tenant_id, key.id, page_request)

    refusals = (await request.read(work))[:_REFUSALS_SHOWN]
    used = {name for name, _ in look.permissions} if look else set(key.permissions)
    unused = [name for name in key.permissions if name not in used]
    return await render.page(
        request, "api_keys/api_key.html",
        key=_view(key, request.now_us), span=span.name, look=look, unused=unused,
        refusals=refusals, iso=clock.iso, most=report.VALUES_SHOWN, kind_of=plots.kind_of,
    )  # fmt: skip


@page
async def edit_key(request: Request) -> Response:
    """The form of an existing key."""
    key = await _get(request)
    return await _form(request, "edit.html", key_form.of_key(key), key=key)


@page
async def change_key(request: Request) -> Response:
    """Change a key; its next request has the change."""
    form, key = forms.read(request), await _get(request)
    try:
        change = body.convert(key_form.wanted(form, request.now_us), ApiKeyChange)
        await request.write(
            lambda tx: actions.change_key(
                tx, request.caller, key.id, change, now_us=request.now_us, seen=form.text("seen")
            )
        )
    except (ValidationFailed, Conflict) as refusal:
        return await _form(request, "edit.html", key_form.typed(form), refusal, key=key)
    except PreconditionFailed as refusal:
        key = await _get(request)
        typed = key_form.typed(form) | {"seen": rules.state_of(key)}
        return await _form(request, "edit.html", typed, refusal, key=key)
    return render.redirect(request, f"{_PATH}/{key.id}")


@page
async def confirm_rotation(request: Request) -> Response:
    """The confirmation page of a rotation."""
    return await _confirm(request, "rotate.html")


@page
async def rotate_key(request: Request) -> Response:
    """The new secret, which is shown once."""
    (key_id,), seen = request.params, forms.read(request).text("seen")
    try:
        rotated = await request.write(
            lambda tx: actions.rotate_key(
                tx,
                request.caller,
                key_id,
                key_ring=request.state.key_ring,
                now_us=request.now_us,
                seen=seen,
            )
        )
    except (PreconditionFailed, ValidationFailed) as refusal:
        return await _confirm(request, "rotate.html", refusal)
    return await render.page(request, "api_keys/made.html", key=rotated, curl="", address="")


@page
async def confirm_revocation(request: Request) -> Response:
    """The confirmation page of a revocation."""
    return await _confirm(request, "revoke.html")


@page
async def revoke_key(request: Request) -> Response:
    """Revoke a key."""
    (key_id,) = request.params
    try:
        await request.write(
            lambda tx: actions.revoke_key(tx, request.caller, key_id, now_us=request.now_us)
        )
    except ValidationFailed as refusal:
        return await _confirm(request, "revoke.html", refusal)
    return render.redirect(request, f"{_PATH}/{key_id}")


async def _confirm(request: Request, template: str, refusal: ApiError | None = None) -> Response:
    key = await _get(request)
    is_reauthentication = isinstance(refusal, ValidationFailed)
    looks = [await report.find_report(request, key.id, span) for span in (DAY, MONTH)]
    return await render.page(
        request, f"api_keys/{template}", refusal.status if refusal else 200,
        is_stale=isinstance(refusal, PreconditionFailed),
        seen=forms.read(request).text("seen") if is_reauthentication else key.secret_version,
        key=_view(key, request.now_us), day=looks[0], month=looks[1],
        is_busy=looks[0] is not None and looks[0].plot.totals["good"] > 0,
    )  # fmt: skip


async def _get(request: Request) -> ApiKey:
    (key_id,) = request.params
    return await request.read(lambda tx: actions.get_key(tx, request.caller.tenant_id, key_id))


async def _form(
    request: Request,
    template: str,
    typed: dict[str, Any],
    refusal: ApiError | None = None,
    *,
    key: ApiKey | None = None,
    twin: ApiKey | None = None,
) -> Response:
    """A form with its values, and the error of each field."""
    status = 409 if twin is not None else 200
    return await render.page(
        request, f"api_keys/{template}", refusal.status if refusal else status,
        typed=typed, twin=twin,
        faults=key_form.faults(refusal, typed) if isinstance(refusal, ValidationFailed) else {},
        wrong=translate(refusal) if isinstance(refusal, Conflict) else "",
        is_stale=isinstance(refusal, PreconditionFailed),
        known=rules.PERMISSIONS,
        key=None if key is None else _view(key, request.now_us),
    )  # fmt: skip
