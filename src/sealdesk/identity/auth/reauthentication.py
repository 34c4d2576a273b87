"""The password once more, for what outlasts a log-in that is no longer fresh."""

from sealdesk.errors import Fault, Invalid, Refusal, TooMany, Unproven, invalid
from sealdesk.identity.auth import login, session, tokens
from sealdesk.identity.auth.tokens import Token
from sealdesk.identity.rules import Login, User
from sealdesk.web import body
from sealdesk.web.pages import forms
from sealdesk.web.pages.i18n import gettext
from sealdesk.web.pages.messages import retold
from sealdesk.web.request import Call

_FIELD = "password"


async def confirm(call: Call, user: User, token: Token) -> None:
    """Begin a new session with the password of the form; without it this call changes nothing."""
    password = forms.read(call).text(_FIELD)
    refusal: Refusal | None = None
    words = gettext("Type your password to go on. Nothing is changed yet.")
    if password:
        try:
            given = body.convert({"email": user.email, "password": password}, Login)
            await login.prove_password(call, given.email, given.password)
            return await _begin_anew(call, user, token)
        except (Invalid, Unproven) as wrong:
            refusal, words = wrong, gettext("That is not your password.")
        except TooMany as too_many:
            refusal, words = too_many, retold(too_many.detail)
    _withhold(call, words, refusal)
    call.visitor = session.visitor(call, user, token, words)


async def _begin_anew(call: Call, user: User, token: Token) -> None:
    """As at a log-in: another token, and the one before ends."""
    text = login.access_token(call, user)
    await login.end(call, token)
    call.answer_headers.append(session.begin(call, text))
    begun = tokens.opened(text, call.shared.settings.jwt_secret, call.now_us)
    call.visitor = session.visitor(call, user, begun)


def _withhold(call: Call, words: str, refusal: Refusal | None) -> None:
    call.withheld = invalid([Fault(f"/{_FIELD}", "required", words)])
    if refusal is not None:
        call.withheld.status = refusal.status
        call.answer_headers += [(n.encode(), v.encode()) for n, v in refusal.headers]
