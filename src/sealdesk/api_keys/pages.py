"""Settings → API Keys: the keys of a tenant as pages."""

import re
from typing import Any, NamedTuple

from sealdesk import clock, ids
from sealdesk.api_keys import actions, key_form, rules, store, usage_plots
from sealdesk.api_keys.rules import ApiKey, ApiKeyChange, NewApiKey
from sealdesk.api_keys.store import Refused
from sealdesk.api_keys.usage_plots import DAY, MONTH, Plot, Span
from sealdesk.db.engine import Tx
from sealdesk.errors import Clash, Invalid, Refusal, Unavailable
from sealdesk.paging import PageRequest
from sealdesk.web import body, forms, pages
from sealdesk.web.call import Answer, Call
from sealdesk.web.reference_page import snippet
from sealdesk.web.retelling import retold
from sealdesk.web.route import page

_ROOM = "sealdesk.api_keys"
_PATH = "/settings/api-keys"
_PER_PAGE = 50
_TRAIL_LENGTH = 20  # an address has its bounds, and nobody turns back further
_SOON_US = 14 * 24 * 3600 * 1_000_000
_VALUES_SHOWN = 10
_REFUSALS_SHOWN = 5
_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:[0-9]{1,5})?")


class Look(NamedTuple):
    """How a key was used in a span."""

    span: Span
    plot: Plot
    endpoints: list[tuple[str, int]]
    addresses: list[tuple[str, int]]
    permissions: list[tuple[str, int]]


@page
async def list_keys(call: Call) -> Answer:
    """All keys, and which of them need a look."""
    trail = _trail(forms.asked(call).text("before"))
    wanted = PageRequest(_PER_PAGE, [trail[-1]] if trail else None)
    tenant_id = call.caller.tenant_id
    keys = await call.read(lambda tx: store.list_keys(tx, tenant_id, wanted))
    shown = keys[:_PER_PAGE]
    return await pages.show(
        call, _ROOM, "api_keys.html",
        keys=[_told(key, call.now_us) for key in shown],
        older=",".join([*trail, shown[-1].id]) if len(keys) > _PER_PAGE else None,
        newer=",".join(trail[:-1]) if trail else None,
    )  # fmt: skip


def _trail(text: str) -> list[str]:
    parts = [part for part in text.split(",") if ids.is_canonical(part)]
    return parts[-_TRAIL_LENGTH:]


def _told(key: ApiKey, now_us: int) -> dict[str, Any]:
    """A key as pages show it: as the API does, with its state and the preset of its permissions."""
    is_soon = key.expires_at is not None and key.expires_at - now_us <= _SOON_US
    state = "expiring" if is_soon else "active"
    if not rules.is_active(key, now_us):
        state = "expired" if key.revoked_at is None else "revoked"
    days = 0 if key.expires_at is None else max(0, key.expires_at - now_us) // usage_plots.DAY_US
    grant = key_form.grant_of(key.permissions)
    return rules.shown(key, now_us) | {"state": state, "days_left": days, "grant": grant}


@page
async def new_key(call: Call) -> Answer:
    """The form of a new key."""
    return await _form(call, "new.html", key_form.blank())


@page
async def create_key(call: Call) -> Answer:
    """The new key with its secret, which is shown this once."""
    form = forms.read(call)
    try:
        new = body.convert(key_form.wanted(form, call.now_us), NewApiKey)
        made = await call.write(
            lambda tx: actions.create_key(
                tx, call.caller, new, ring=call.shared.ring, now_us=call.now_us
            )
        )
    except Invalid as refusal:
        return await _form(call, "new.html", key_form.typed(form), refusal)
    target = f"{call.shared.settings.path_prefix}/api/v1/external/whoami"
    curl = snippet("curl", method="GET", target=target, body="''")
    return await pages.show(
        call, _ROOM, "made.html", 201, key=made, curl=curl, address=_address(call)
    )


def _address(call: Call) -> str:
    """Where this service is, as the browser names it; it goes into a program for a shell."""
    host = call.headers.get(b"host", b"").decode("latin-1")
    scheme = "https" if call.is_https else "http"
    return f"{scheme}://{host if _HOST.fullmatch(host) else 'desk.example.com'}"


@page
async def show_key(call: Call) -> Answer:
    """One key: what it may, how it is used, and what was refused."""
    span = MONTH if forms.asked(call).text("span") == MONTH.name else DAY
    key = await _get(call)
    look = await _find_look(call, key.id, span)
    wanted = PageRequest(_REFUSALS_SHOWN, None)

    async def work(tx: Tx) -> list[Refused]:
        return await store.list_refusals(tx, key.tenant_id, key.id, wanted)

    refusals = (await call.read(work))[:_REFUSALS_SHOWN]
    used = {name for name, _ in look.permissions} if look else set()
    unused = [name for name in key.permissions if name not in used]
    return await pages.show(
        call, _ROOM, "api_key.html",
        key=_told(key, call.now_us), span=span.name, look=look, unused=unused,
        refusals=refusals, iso=clock.iso,
    )  # fmt: skip


async def _find_look(call: Call, key_id: str, span: Span) -> Look | None:
    """None when there is no time for it now: nobody should wait with revoking a key for that."""
    try:
        return await _look(call, key_id, span)
    except Unavailable as refusal:
        if refusal.code != "query_too_slow":
            raise
        return None


async def _look(call: Call, key_id: str, span: Span) -> Look:
    """Of a busy key this is much to add up, and nobody else should wait for it."""
    tenant_id, since_us = call.caller.tenant_id, span.since_us(call.now_us)

    async def values(tx: Tx, measure: str) -> list[tuple[str, int]]:
        return await store.usage_in_all(
            tx, tenant_id, key_id, measure, since_us=since_us, limit=_VALUES_SHOWN
        )

    async def work(tx: Tx) -> Look:
        statuses = await store.usage_over_time(
            tx, tenant_id, key_id, "status", since_us=since_us, step_us=span.step_us
        )
        plot = usage_plots.plot(statuses, span, call.now_us)
        kinds = [await values(tx, kind) for kind in ("endpoint", "address", "permission")]
        return Look(span, plot, *kinds)

    return await call.read_slowly(work)


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
            lambda tx: actions.change_key(tx, call.caller, key.id, change, now_us=call.now_us)
        )
    except (Invalid, Clash) as refusal:
        return await _form(call, "edit.html", key_form.typed(form), refusal, key=key)
    return pages.go(call, f"{_PATH}/{key.id}")


@page
async def confirm_rotation(call: Call) -> Answer:
    """What rotating means for who uses the key, before it is done."""
    return await _confirm(call, "rotate.html")


@page
async def rotate_key(call: Call) -> Answer:
    """The new secret, which is shown this once."""
    (key_id,) = call.params
    rotated = await call.write(
        lambda tx: actions.rotate_key(
            tx, call.caller, key_id, ring=call.shared.ring, now_us=call.now_us
        )
    )
    return await pages.show(call, _ROOM, "made.html", key=rotated, curl="", address="")


@page
async def confirm_revocation(call: Call) -> Answer:
    """What revoking means for who uses the key, before it is done."""
    return await _confirm(call, "revoke.html")


@page
async def revoke_key(call: Call) -> Answer:
    """End a key for good."""
    (key_id,) = call.params
    await call.write(lambda tx: actions.revoke_key(tx, call.caller, key_id, now_us=call.now_us))
    return pages.go(call, f"{_PATH}/{key_id}")


async def _confirm(call: Call, template: str) -> Answer:
    key = await _get(call)
    looks = [await _find_look(call, key.id, span) for span in (DAY, MONTH)]
    return await pages.show(
        call, _ROOM, template,
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
    key: ApiKey | None = None,
) -> Answer:
    """A form with what was typed, and beside each field what is wrong."""
    return await pages.show(
        call, _ROOM, template, refusal.status if refusal else 200,
        typed=typed,
        faults=forms.faults_of(refusal) if isinstance(refusal, Invalid) else {},
        wrong=retold(refusal.detail) if isinstance(refusal, Clash) else "",
        known=rules.PERMISSIONS,
        key=None if key is None else _told(key, call.now_us),
    )  # fmt: skip
