"""Log-in, log-out and a forgotten password as pages."""

from sealdesk.errors import Invalid, Refusal, TooMany, Unavailable, Unproven
from sealdesk.identity.auth import login, session, tokens
from sealdesk.identity.rules import Login, PasswordReset
from sealdesk.web import body
from sealdesk.web.pages import forms, render, resubmission
from sealdesk.web.pages.forms import Form
from sealdesk.web.pages.i18n import gettext
from sealdesk.web.pages.messages import retold
from sealdesk.web.pages.resubmission import Kept
from sealdesk.web.request import Answer, Call
from sealdesk.web.router import page

_ROOM = "sealdesk.identity"


@page
async def front(call: Call) -> Answer:
    """The log-in; whoever is logged in goes on to their work."""
    wanted = _wanted(forms.asked(call).text("next"))
    if call.visitor is None:
        return await _ask(call, wanted, had_ended=session.find(call) is not None)
    return render.go(call, wanted or render.PLACES[0].path)


@page
async def log_in(call: Call) -> Answer:
    """Begin a session. As the API does, it counts failures and tells nobody what was wrong."""
    form = forms.read(call)
    email, wanted = form.text("email").strip(), _wanted(form.text("next"))
    typed = _carried(form)
    try:
        given = body.convert({"email": email, "password": form.text("password")}, Login)
        user = await login.log_in(call, given.email, given.password)
        if call.visitor is not None:
            await login.end(call, session.get(call))
    except (Invalid, Unproven, TooMany, Unavailable) as refusal:
        return await _ask(call, wanted, typed=typed, email=email, refusal=refusal)
    token = login.access_token(call, user)
    if typed is None:
        return render.go(call, wanted or render.LOG_IN, session.begin(call, token))
    begun = tokens.opened(token, call.shared.settings.jwt_secret, call.now_us)
    call.visitor = session.visitor(call, user, begun)
    answer = await render.offer(call, typed, wanted)
    answer.headers.append(session.begin(call, token))
    return answer


@page
async def log_out(call: Call) -> Answer:
    """End the session, for the very next request and wherever its token may be."""
    await login.log_out(call, session.get(call))
    return render.go(call, render.LOG_IN, session.end(call))


@page
async def reset_form(call: Call) -> Answer:
    """Where a reset link leads. Its token stands behind the #, which browsers send to nobody."""
    return await render.show(call, _ROOM, "reset.html", faults={}, token="")


@page
async def reset(call: Call) -> Answer:
    """Set a new password with the one-time token."""
    form = forms.read(call)
    token = form.text("token").strip()
    try:
        wanted = body.convert({"token": token, "new": form.text("new")}, PasswordReset)
        await login.use_reset_token(call, wanted)
    except Invalid as refusal:
        return await _reset_again(call, refusal, forms.faults_of(refusal), token)
    except Unproven as refusal:
        return await _reset_again(call, refusal, {"token": retold(refusal.detail)}, token)
    return await render.show(call, _ROOM, "reset_done.html")


async def _reset_again(call: Call, refusal: Refusal, faults: dict[str, str], token: str) -> Answer:
    return await render.show(call, _ROOM, "reset.html", refusal.status, faults=faults, token=token)


async def _ask(
    call: Call,
    wanted: str,
    *,
    typed: Kept | None = None,
    email: str = "",
    refusal: Refusal | None = None,
    had_ended: bool = False,
) -> Answer:
    """The log-in form, with what was typed and what was wrong."""
    status, wrong = (refusal.status, _words(refusal)) if refusal else (200, "")
    answer = await render.ask_log_in(
        call, status, wanted=wanted, typed=typed, email=email, wrong=wrong, had_ended=had_ended
    )
    if refusal is not None:
        answer.headers += [(name.encode(), value.encode()) for name, value in refusal.headers]
    elif had_ended:
        answer.headers.append(session.end(call))
    return answer


def _words(refusal: Refusal) -> str:
    if isinstance(refusal, Unavailable):
        return gettext("The storage cannot be reached right now. Try again in a moment.")
    is_long = isinstance(refusal, Invalid)
    return gettext("That is too long.") if is_long else retold(refusal.detail)


def _carried(form: Form) -> Kept | None:
    """What was typed before the log-in had ended, if it goes to a page of ours."""
    typed = resubmission.found(form)
    return typed if typed is not None and render.is_ours(typed.to) else None


def _wanted(path: str) -> str:
    """Where to go after the log-in, "" when it leads to no page of ours."""
    return path if render.is_known(path) else ""
