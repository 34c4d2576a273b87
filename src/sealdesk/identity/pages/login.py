"""Pages to log in, to log out and to reset a password."""

import msgspec

from sealdesk.errors import (
    ApiError,
    ServiceUnavailable,
    TooManyRequests,
    Unauthorized,
    ValidationFailed,
)
from sealdesk.identity.auth import login, session, tokens
from sealdesk.identity.rules import Login, PasswordReset
from sealdesk.web import body
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import error_pages, forms, render, resubmission, return_paths
from sealdesk.web.pages.i18n import gettext
from sealdesk.web.pages.messages import translate
from sealdesk.web.pages.resubmission import Resubmission
from sealdesk.web.request import Request, Response


@page
async def front(request: Request) -> Response:
    """The log-in form; a user who is logged in is redirected."""
    wanted = _read_next_path(request, forms.read_query(request).text("next"))
    if request.visitor is None:
        return await _show_login(request, wanted, has_expired=session.find(request) is not None)
    return render.redirect(request, wanted or request.site.home)


@page
async def log_in(request: Request) -> Response:
    """Begin a session. Failures are counted, and not explained, as in the API."""
    form = forms.read(request)
    email, wanted = form.text("email").strip(), _read_next_path(request, form.text("next"))
    typed = _read_resubmission(request, form)
    try:
        given = body.convert({"email": email, "password": form.text("password")}, Login)
        user = await login.log_in(request, given.email, given.password)
        if request.visitor is not None:
            await login.end_session(request, session.get(request))
    except (ValidationFailed, Unauthorized, TooManyRequests, ServiceUnavailable) as refusal:
        return await _show_login(request, wanted, typed=typed, email=email, refusal=refusal)
    token = login.access_token(request, user)
    if typed is None:
        return render.redirect(
            request, wanted or return_paths.LOG_IN, session.begin(request, token)
        )
    begun = tokens.decode(token, request.state.settings.jwt_secret, request.now_us)
    visitor = session.visitor(request, user, begun)
    request.proof = msgspec.structs.replace(request.proof, visitor=visitor)
    response = await error_pages.resubmission_page(request, typed, wanted)
    response.headers.append(session.begin(request, token))
    return response


@page
async def log_out(request: Request) -> Response:
    """End the session with its next request, wherever its token may be."""
    await login.log_out(request, session.get(request))
    return render.redirect(request, return_paths.LOG_IN, session.end(request))


@page
async def reset_form(request: Request) -> Response:
    """The page of a reset link. Its token is in the fragment, which browsers do not send."""
    return await render.page(request, "identity/reset.html", faults={}, token="")


@page
async def reset(request: Request) -> Response:
    """Set a new password with the one-time token."""
    form = forms.read(request)
    token = form.text("token").strip()
    try:
        wanted = body.convert({"token": token, "new": form.text("new")}, PasswordReset)
        await login.use_reset_token(request, wanted)
    except ValidationFailed as refusal:
        return await _show_reset_form(request, refusal, forms.faults_by_field(refusal), token)
    except Unauthorized as refusal:
        return await _show_reset_form(request, refusal, {"token": translate(refusal)}, token)
    return await render.page(request, "identity/reset_done.html")


async def _show_reset_form(
    request: Request, refusal: ApiError, faults: dict[str, str], token: str
) -> Response:
    return await render.page(
        request, "identity/reset.html", refusal.status, faults=faults, token=token
    )


async def _show_login(
    request: Request,
    wanted: str,
    *,
    typed: Resubmission | None = None,
    email: str = "",
    refusal: ApiError | None = None,
    has_expired: bool = False,
) -> Response:
    """The log-in form, with the values and the error of the last attempt."""
    status, wrong = (refusal.status, _error_text(refusal)) if refusal else (200, "")
    response = await error_pages.login_page(
        request,
        status,
        next_path=wanted,
        submitted=typed,
        email=email,
        error_text=wrong,
        has_expired=has_expired,
    )
    if refusal is not None:
        response.headers += [(name.encode(), value.encode()) for name, value in refusal.headers]
    elif has_expired:
        response.headers.append(session.end(request))
    return response


def _error_text(refusal: ApiError) -> str:
    if isinstance(refusal, ServiceUnavailable):
        return gettext("The storage cannot be reached right now. Try again in a moment.")
    is_long = isinstance(refusal, ValidationFailed)
    return gettext("That is too long.") if is_long else translate(refusal)


def _read_resubmission(request: Request, form: Form) -> Resubmission | None:
    """The form that was sent into an expired session, if it goes to a page of ours."""
    typed = resubmission.from_login(form)
    return typed if typed is not None and return_paths.is_page(request, typed.to) else None


def _read_next_path(request: Request, path: str) -> str:
    """The path after the log-in, "" when it is no page of ours."""
    return path if return_paths.may_return_to(request, path) else ""
