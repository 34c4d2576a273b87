"""Pages of the user's own two-factor authentication."""

from markupsafe import Markup

from sealdesk import clock
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, ValidationFailed, must_exist
from sealdesk.identity import store
from sealdesk.identity.pages.login import begin_session
from sealdesk.identity.two_factor import actions, rules
from sealdesk.identity.types import User
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.request import Request, Response

_PATH = "/account/two-factor"


@page
async def show(request: Request) -> Response:
    """Whether it is on, and the forms that change it."""
    return await _render_state(request)


@page
async def begin(request: Request) -> Response:
    """A new secret for the user's app, as a QR code; it counts once a code confirms it."""

    async def work(tx: Tx) -> tuple[User, str | None]:
        user = await _get_own_user(tx, request)
        key_ring, now_us = request.state.key_ring, request.now_us
        return user, await actions.begin_setup(tx, user, key_ring=key_ring, now_us=now_us)

    try:
        user, secret = await request.write(work)
    except ValidationFailed as error:
        return await _render_state(request, error)
    if secret is None:
        return render.redirect(request, _PATH)
    return await _render_setup(request, user, secret)


@page
async def confirm(request: Request) -> Response:
    """Turn it on with a code of the app, and show the recovery codes.

    All sessions end, and this browser gets a new one.
    """
    code = forms.read(request).text("code")

    async def work(tx: Tx) -> tuple[str, ...]:
        user = await _get_own_user(tx, request)
        return await actions.confirm(
            tx,
            user,
            code,
            key_ring=request.state.key_ring,
            caller=request.caller,
            now_us=request.now_us,
        )

    try:
        codes = await request.write(work)
    except ValidationFailed as error:
        return await _show_setup_again(request, error)
    cookie = begin_session(request, await request.read(lambda tx: _get_own_user(tx, request)))
    response = await render.page(request, "identity/recovery_codes.html", codes=codes, is_new=True)
    response.headers.append(cookie)
    return response


@page
async def renew(request: Request) -> Response:
    """New recovery codes, which are shown once."""

    async def work(tx: Tx) -> tuple[str, ...]:
        user = await _get_own_user(tx, request)
        caller, now_us = request.caller, request.now_us
        return await actions.renew_recovery_codes(tx, user, caller=caller, now_us=now_us)

    try:
        codes = await request.write(work)
    except ValidationFailed as error:
        return await _render_state(request, error)
    return await render.page(request, "identity/recovery_codes.html", codes=codes, is_new=False)


@page
async def turn_off(request: Request) -> Response:
    """Log-ins need only the password from now on."""

    async def work(tx: Tx) -> bool:
        user = await _get_own_user(tx, request)
        return await actions.turn_off(tx, user, caller=request.caller, now_us=request.now_us)

    try:
        await request.write(work)
    except ValidationFailed as error:
        return await _render_state(request, error)
    return render.redirect(request, _PATH)


async def _render_state(request: Request, error: ApiError | None = None) -> Response:
    async def load(tx: Tx) -> rules.SecondFactor | None:
        return await actions.find_confirmed(tx, await _get_own_user(tx, request))

    factor = await request.read(load)
    return await render.page(
        request,
        "identity/two_factor.html",
        error.status if error else 200,
        factor=factor,
        confirmed_at=clock.iso(factor.confirmed_at or 0) if factor else "",
        codes_left=len(factor.recovery_hashes) if factor else 0,
    )


async def _show_setup_again(request: Request, error: ValidationFailed) -> Response:
    async def load(tx: Tx) -> tuple[User, str]:
        user = await _get_own_user(tx, request)
        key_ring = request.state.key_ring
        return user, await actions.get_pending_secret(tx, user, key_ring=key_ring)

    user, secret = await request.read(load)
    return await _render_setup(request, user, secret, error)


async def _render_setup(
    request: Request, user: User, secret: str, error: ValidationFailed | None = None
) -> Response:
    import segno  # late: 34 ms of the start (2026-11-22)

    code = segno.make(rules.otpauth_uri(secret, user.email), error="m", micro=False)
    groups = (secret[at : at + 4] for at in range(0, len(secret), 4))
    return await forms.show(
        request,
        "identity/two_factor_setup.html",
        error,
        # Light in dark pages too: readers expect dark modules on a light ground.
        qr_code=Markup(code.svg_inline(scale=5, light="#fff", border=3)),  # noqa: S704 - made of numbers
        secret=" ".join(groups),
    )


async def _get_own_user(tx: Tx, request: Request) -> User:
    caller = request.caller
    return must_exist(await store.find(tx, caller.tenant_id, caller.actor.id))
