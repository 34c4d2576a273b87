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
    """The log-in; whoever is logged in goes on to their work."""
    wanted = _wanted(request, forms.read_query(request).text("next"))
    if request.visitor is None:
        return await _ask(request, wanted, had_ended=session.find(request) is not None)
    return render.redirect(request, wanted or request.site.home)


@page
async def log_in(request: Request) -> Response:
    """Begin a session. As the API does, it counts failures and tells nobody what was wrong."""
    form = forms.read(request)
    email, wanted = form.text("email").strip(), _wanted(request, form.text("next"))
    typed = _carried(request, form)
    try:
        given = body.convert({"email": email, "password": form.text("password")}, Login)
        user = await login.log_in(request, given.email, given.password)
        if request.visitor is not None:
            await login.end_session(request, session.get(request))
    except (ValidationFailed, Unauthorized, TooManyRequests, ServiceUnavailable) as refusal:
        return await _ask(request, wanted, typed=typed, email=email, refusal=refusal)
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
    """End the session, for the very next request and wherever its token may be."""
    await login.log_out(request, session.get(request))
    return render.redirect(request, return_paths.LOG_IN, session.end(request))


@page
async def reset_form(request: Request) -> Response:
    """Where a reset link leads. Its token stands behind the #, which browsers send to nobody."""
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
        return await _reset_again(request, refusal, forms.faults_by_field(refusal), token)
    except Unauthorized as refusal:
        return await _reset_again(request, refusal, {"token": translate(refusal)}, token)
    return await render.page(request, "identity/reset_done.html")


async def _reset_again(
    request: Request, refusal: ApiError, faults: dict[str, str], token: str
) -> Response:
    return await render.page(
        request, "identity/reset.html", refusal.status, faults=faults, token=token
    )


async def _ask(
    request: Request,
    wanted: str,
    *,
    typed: Resubmission | None = None,
    email: str = "",
    refusal: ApiError | None = None,
    had_ended: bool = False,
) -> Response:
    """The log-in form, with what was typed and what was wrong."""
    status, wrong = (refusal.status, _words(refusal)) if refusal else (200, "")
    response = await error_pages.login_page(
        request,
        status,
        next_path=wanted,
        submitted=typed,
        email=email,
        error_text=wrong,
        has_expired=had_ended,
    )
    if refusal is not None:
        response.headers += [(name.encode(), value.encode()) for name, value in refusal.headers]
    elif had_ended:
        response.headers.append(session.end(request))
    return response


def _words(refusal: ApiError) -> str:
    if isinstance(refusal, ServiceUnavailable):
        return gettext("The storage cannot be reached right now. Try again in a moment.")
    is_long = isinstance(refusal, ValidationFailed)
    return gettext("That is too long.") if is_long else translate(refusal)


def _carried(request: Request, form: Form) -> Resubmission | None:
    """What was typed before the log-in had ended, if it goes to a page of ours."""
    typed = resubmission.from_login(form)
    return typed if typed is not None and return_paths.is_page(request, typed.to) else None


def _wanted(request: Request, path: str) -> str:
    """Where to go after the log-in, "" when it leads to no page of ours."""
    return path if return_paths.may_return_to(request, path) else ""
