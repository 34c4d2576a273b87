"""Pages to log in, to log out and to reset a password."""

import msgspec

from sealdesk.errors import (
    ApiError,
    Conflict,
    ServiceUnavailable,
    TooManyRequests,
    Unauthorized,
    ValidationFailed,
)
from sealdesk.identity import store
from sealdesk.identity.auth import login, session, tokens, two_factor
from sealdesk.identity.errors import INVALID_CREDENTIALS, TWO_FACTOR_REQUIRED
from sealdesk.identity.types import Login, PasswordReset, User
from sealdesk.web import body
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import error_pages, forms, render, resubmission, return_paths
from sealdesk.web.pages.i18n import gettext, translate
from sealdesk.web.pages.resubmission import Resubmission
from sealdesk.web.request import Header, Request, Response


@page
async def front(request: Request) -> Response:
    """The log-in form; a user who is logged in is redirected."""
    next_path = _read_next_path(request, forms.read_query(request).text("next"))
    if request.visitor is None:
        return await _show_login(request, next_path, has_expired=session.find(request) is not None)
    return render.redirect(request, next_path or request.site.home)


@page
async def log_in(request: Request) -> Response:
    """Begin a session. Failures are counted and not explained, as in the API."""
    form = forms.read(request)
    next_path, pending = _read_next_path(request, form.text("next")), form.text("pending")
    typed = _read_resubmission(request, form)
    try:
        user = await _authenticate(request, form)
        if request.visitor is not None:
            await login.end_session(request, session.get(request))
    except (ValidationFailed, Unauthorized, TooManyRequests, ServiceUnavailable) as error:
        email = form.text("email").strip()
        if error.code == TWO_FACTOR_REQUIRED.code:
            pending = pending or await two_factor.seal_pending(request, email)
            return await _show_login(request, next_path, typed=typed, pending=pending)
        if error.code == INVALID_CREDENTIALS.code:
            pending = ""
        return await _show_login(
            request, next_path, typed=typed, email=email, error=error, pending=pending
        )
    cookie = begin_session(request, user)
    if typed is None:
        return render.redirect(request, next_path or return_paths.LOG_IN, cookie)
    response = await error_pages.resubmission_page(request, typed, next_path)
    response.headers.append(cookie)
    return response


def begin_session(request: Request, user: User) -> Header:
    """The cookie of a new session, to which the page of this response already belongs."""
    token = login.access_token(request, user)
    new_session = tokens.decode(token, request.state.settings.jwt_secret, request.now_us)
    desk = request.visitor.desk if request.visitor else ""
    visitor = session.visitor(request, user, new_session, desk=desk)
    request.proof = msgspec.structs.replace(request.proof, visitor=visitor)
    return session.begin(request, token)


async def _authenticate(request: Request, form: Form) -> User:
    """Check the password, or the code of a log-in whose password was right."""
    if pending := form.text("pending"):
        opened = two_factor.open_pending(request, pending)
        return await login.finish_pending(request, opened, form.text("code"))
    typed = {"email": form.text("email").strip(), "password": form.text("password")}
    credentials = body.convert(typed, Login)
    return await login.log_in(request, credentials.email, credentials.password)


@page
async def log_out(request: Request) -> Response:
    """End the session and all copies of its token, from the next request on."""
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
        fields = body.convert({"token": token, "new": form.text("new")}, PasswordReset)
        user = await login.use_reset_token(request, fields)
    except ValidationFailed as error:
        return await _show_reset_form(request, error, forms.faults_by_field(error), token)
    except (Unauthorized, Conflict) as error:
        return await _show_reset_form(request, error, {"token": translate(error)}, token)
    if user.password_hash is None:
        return await _welcome(request, user, fields.new)
    return await render.page(request, "identity/reset_done.html")


async def _welcome(request: Request, invited: User, password: str) -> Response:
    """Log in a user who has accepted an invitation."""
    try:
        user = await login.log_in(request, invited.email, password)
        if request.visitor is not None:
            await login.end_session(request, session.get(request))
    except (Unauthorized, TooManyRequests, ServiceUnavailable):
        return await render.page(request, "identity/reset_done.html")
    tenant = await request.state.database.read(
        lambda tx: store.find_tenant(tx, user.tenant_id), user.tenant_id
    )
    cookie = begin_session(request, user)
    response = await render.page(
        request,
        "identity/welcome.html",
        name=user.name,
        desk=tenant.name if tenant else "",
        home=request.site.home,
    )
    response.headers.append(cookie)
    return response


async def _show_reset_form(
    request: Request, error: ApiError, faults: dict[str, str], token: str
) -> Response:
    return await render.page(
        request, "identity/reset.html", error.status, faults=faults, token=token
    )


async def _show_login(
    request: Request,
    next_path: str,
    *,
    typed: Resubmission | None = None,
    email: str = "",
    error: ApiError | None = None,
    has_expired: bool = False,
    pending: str = "",
) -> Response:
    """The log-in form, with the values and the error of the last attempt.

    pending: the log-in whose password was right; the form asks for its code.
    """
    status, error_text = (error.status, _error_text(error)) if error else (200, "")
    response = await error_pages.login_page(
        request,
        status,
        next_path=next_path,
        submitted=typed,
        email=email,
        error_text=error_text,
        has_expired=has_expired,
        pending=pending,
    )
    if error is not None:
        response.headers += [(name.encode(), value.encode()) for name, value in error.headers]
    elif has_expired:
        response.headers.append(session.end(request))
    return response


def _error_text(error: ApiError) -> str:
    if isinstance(error, ServiceUnavailable):
        return gettext("The storage cannot be reached right now. Try again in a moment.")
    is_too_long = isinstance(error, ValidationFailed)
    return gettext("That is too long.") if is_too_long else translate(error)


def _read_resubmission(request: Request, form: Form) -> Resubmission | None:
    """The form that was submitted with an expired session, if it is for a page of this service."""
    typed = resubmission.from_login(form)
    return typed if typed is not None and return_paths.is_page(request, typed.to) else None


def _read_next_path(request: Request, path: str) -> str:
    """The path after the log-in; "" when it is not a page of this service."""
    return path if return_paths.may_return_to(request, path) else ""
