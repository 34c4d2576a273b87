"""Settings → API Keys: the keys of a tenant as pages."""

import ipaddress
from typing import Any

from sealdesk import clock
from sealdesk.api_keys import actions, rules, store
from sealdesk.api_keys.pages import form as key_form
from sealdesk.api_keys.rules import ApiKey, ApiKeyChange, CreatedApiKey, NewApiKey
from sealdesk.api_keys.store import Refused
from sealdesk.api_keys.usage import plots, report
from sealdesk.api_keys.usage.plots import DAY, MONTH
from sealdesk.db.engine import Tx
from sealdesk.errors import Clash, Invalid, Refusal, Stale
from sealdesk.paging import PageRequest
from sealdesk.web import body
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.pages.messages import retold
from sealdesk.web.request import Answer, Call, is_within
from sealdesk.web.router import page

_ROOM = "sealdesk.api_keys"
_PATH = "/settings/api-keys"
_PER_PAGE = 50
_SOON_US = 14 * 24 * 3600 * 1_000_000
_REFUSALS_SHOWN = 5


@page
async def list_keys(call: Call) -> Answer:
    """All keys, and which of them need a look."""
    way = cursor_trail.read(forms.asked(call))
    wanted = PageRequest(_PER_PAGE, [way[-1]] if way else None)
    tenant_id = call.caller.tenant_id
    keys = await call.read(lambda tx: store.list_keys(tx, tenant_id, wanted))
    shown = keys[:_PER_PAGE]
    return await render.show(
        call, _ROOM, "api_keys.html",
        keys=[_told(key, call.now_us) for key in shown],
        older=cursor_trail.older(way, shown[-1].id) if len(keys) > _PER_PAGE else None,
        newer=cursor_trail.newer(way),
    )  # fmt: skip


def _told(key: ApiKey, now_us: int) -> dict[str, Any]:
    """A key as pages show it: as the API does, with its state and the preset of its permissions."""
    is_soon = key.expires_at is not None and key.expires_at - now_us <= _SOON_US
    state = "expiring" if is_soon else "active"
    if not rules.is_active(key, now_us):
        state = "expired" if key.revoked_at is None else "revoked"
    days = 0 if key.expires_at is None else max(0, key.expires_at - now_us) // plots.DAY_US
    grant = key_form.grant_of(key.permissions)
    return rules.shown(key, now_us) | {"state": state, "days_left": days, "grant": grant}


@page
async def new_key(call: Call) -> Answer:
    """The form of a new key."""
    return await _form(call, "new.html", key_form.blank(await _newest_id(call)))


async def _newest_id(call: Call) -> str:
    one = PageRequest(1, None)
    keys = await call.read(lambda tx: store.list_keys(tx, call.caller.tenant_id, one))
    return keys[0].id if keys else key_form.NONE_SEEN


@page
async def create_key(call: Call) -> Answer:
    """The new key with its secret, which is shown this once."""
    form = forms.read(call)
    typed = key_form.typed(form)
    try:
        new = body.convert(key_form.wanted(form, call.now_us), NewApiKey)
        made = await call.write(lambda tx: _create_once(tx, call, new, typed["seen"]))
    except Invalid as refusal:
        return await _form(call, "new.html", typed, refusal)
    if isinstance(made, ApiKey):
        # Sent twice, perhaps; whoever wants a second one of this name sends it once more.
        return await _form(call, "new.html", typed | {"seen": await _newest_id(call)}, twin=made)
    return await _show_made(call, made)


async def _create_once(tx: Tx, call: Call, new: NewApiKey, seen: str) -> CreatedApiKey | ApiKey:
    """The new key, or the one of the same name that was made since the form was opened."""
    twin = await actions.find_twin(tx, call.caller.tenant_id, new.name, seen) if seen else None
    return twin or await actions.create_key(
        tx, call.caller, new, ring=call.shared.ring, now_us=call.now_us
    )


async def _show_made(call: Call, made: CreatedApiKey) -> Answer:
    from sealdesk.web.openapi.html import snippet  # late: it brings Jinja with it

    target = f"{call.shared.settings.path_prefix}/api/v1/external/whoami"
    allowed = [ipaddress.ip_network(each) for each in made.allowed_ips or ()]
    return await render.show(
        call, _ROOM, "made.html", 201,
        key=made, curl=snippet("curl", method="GET", target=target, body="''"),
        address=render.address(call), ip=call.address,
        is_from_here=not allowed or is_within(call.address, tuple(allowed)),
    )  # fmt: skip


@page
async def show_key(call: Call) -> Answer:
    """One key: what it may, how it is used, and what was refused."""
    span = MONTH if forms.asked(call).text("span") == MONTH.name else DAY
    key = await _get(call)
    look = await report.find_look(call, key.id, span)
    wanted = PageRequest(_REFUSALS_SHOWN, None)

    async def work(tx: Tx) -> list[Refused]:
        return await store.list_refusals(tx, key.tenant_id, key.id, wanted)

    refusals = (await call.read(work))[:_REFUSALS_SHOWN]
    used = {name for name, _ in look.permissions} if look else set(key.permissions)
    unused = [name for name in key.permissions if name not in used]
    return await render.show(
        call, _ROOM, "api_key.html",
        key=_told(key, call.now_us), span=span.name, look=look, unused=unused,
        refusals=refusals, iso=clock.iso, most=report.VALUES_SHOWN, kind_of=plots.kind_of,
    )  # fmt: skip


@page
async def edit_key(call: Call) -> Answer:
    """The form of a key as it is."""
    key = await _get(call)
    return await _form(call, "edit.html", key_form.of_key(key), key=key)


@page
async def change_key(call: Call) -> Answer:
    """Change a key, for the very next request."""
    form, key = forms.read(call), await _get(call)
    try:
        change = body.convert(key_form.wanted(form, call.now_us), ApiKeyChange)
        await call.write(
            lambda tx: actions.change_key(
                tx, call.caller, key.id, change, now_us=call.now_us, seen=form.text("seen")
            )
        )
    except (Invalid, Clash) as refusal:
        return await _form(call, "edit.html", key_form.typed(form), refusal, key=key)
    except Stale as refusal:
        key = await _get(call)
        typed = key_form.typed(form) | {"seen": rules.state_of(key)}
        return await _form(call, "edit.html", typed, refusal, key=key)
    return render.go(call, f"{_PATH}/{key.id}")


@page
async def confirm_rotation(call: Call) -> Answer:
    """What rotating means for who uses the key, before it is done."""
    return await _confirm(call, "rotate.html")


@page
async def rotate_key(call: Call) -> Answer:
    """The new secret, which is shown this once."""
    (key_id,), seen = call.params, forms.read(call).text("seen")
    try:
        rotated = await call.write(
            lambda tx: actions.rotate_key(
                tx, call.caller, key_id, ring=call.shared.ring, now_us=call.now_us, seen=seen
            )
        )
    except (Stale, Invalid) as refusal:
        return await _confirm(call, "rotate.html", refusal)
    return await render.show(call, _ROOM, "made.html", key=rotated, curl="", address="")


@page
async def confirm_revocation(call: Call) -> Answer:
    """What revoking means for who uses the key, before it is done."""
    return await _confirm(call, "revoke.html")


@page
async def revoke_key(call: Call) -> Answer:
    """End a key for good."""
    (key_id,) = call.params
    try:
        await call.write(lambda tx: actions.revoke_key(tx, call.caller, key_id, now_us=call.now_us))
    except Invalid as refusal:
        return await _confirm(call, "revoke.html", refusal)
    return render.go(call, f"{_PATH}/{key_id}")


async def _confirm(call: Call, template: str, refusal: Refusal | None = None) -> Answer:
    key = await _get(call)
    is_asked_again = isinstance(refusal, Invalid)
    looks = [await report.find_look(call, key.id, span) for span in (DAY, MONTH)]
    return await render.show(
        call, _ROOM, template, refusal.status if refusal else 200,
        is_stale=isinstance(refusal, Stale),
        seen=forms.read(call).text("seen") if is_asked_again else key.secret_version,
        key=_told(key, call.now_us), day=looks[0], month=looks[1],
        is_busy=looks[0] is not None and looks[0].plot.totals["good"] > 0,
    )  # fmt: skip


async def _get(call: Call) -> ApiKey:
    (key_id,) = call.params
    return await call.read(lambda tx: actions.get_key(tx, call.caller.tenant_id, key_id))


async def _form(
    call: Call,
    template: str,
    typed: dict[str, Any],
    refusal: Refusal | None = None,
    *,
    key: ApiKey | None = None,
    twin: ApiKey | None = None,
) -> Answer:
    """A form with what was typed, and beside each field what is wrong."""
    status = 409 if twin is not None else 200
    return await render.show(
        call, _ROOM, template, refusal.status if refusal else status,
        typed=typed, twin=twin,
        faults=key_form.faults(refusal, typed) if isinstance(refusal, Invalid) else {},
        wrong=retold(refusal.detail) if isinstance(refusal, Clash) else "",
        is_stale=isinstance(refusal, Stale),
        known=rules.PERMISSIONS,
        key=None if key is None else _told(key, call.now_us),
    )  # fmt: skip
