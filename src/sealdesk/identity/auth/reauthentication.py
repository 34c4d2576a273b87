"""The password once more, for what outlasts a log-in that is no longer fresh."""

from sealdesk.errors import (
    ApiError,
    Fault,
    TooManyRequests,
    Unauthorized,
    ValidationFailed,
    invalid,
)
from sealdesk.identity.auth import login, session, tokens
from sealdesk.identity.auth.tokens import Token
from sealdesk.identity.rules import Login, User
from sealdesk.web import body
from sealdesk.web.pages import forms
from sealdesk.web.pages.i18n import gettext
from sealdesk.web.pages.messages import translate
from sealdesk.web.request import Request

_FIELD = "password"


async def confirm(request: Request, user: User, token: Token) -> None:
    """Begin a new session with the password of the form; without it this call changes nothing."""
    password = forms.read(request).text(_FIELD)
    refusal: ApiError | None = None
    words = gettext("Type your password to go on. Nothing is changed yet.")
    if password:
        try:
            given = body.convert({"email": user.email, "password": password}, Login)
            await login.prove_password(request, given.email, given.password)
            return await _begin_anew(request, user, token)
        except (ValidationFailed, Unauthorized) as wrong:
            refusal, words = wrong, gettext("That is not your password.")
        except TooManyRequests as too_many:
            refusal, words = too_many, translate(too_many.detail)
    _withhold(request, words, refusal)
    request.visitor = session.visitor(request, user, token, words)


async def _begin_anew(request: Request, user: User, token: Token) -> None:
    """As at a log-in: another token, and the one before ends."""
    text = login.access_token(request, user)
    await login.end(request, token)
    request.response_headers.append(session.begin(request, text))
    begun = tokens.opened(text, request.state.settings.jwt_secret, request.now_us)
    request.visitor = session.visitor(request, user, begun)


def _withhold(request: Request, words: str, refusal: ApiError | None) -> None:
    request.pending_refusal = invalid([Fault(f"/{_FIELD}", "required", words)])
    if refusal is not None:
        request.pending_refusal.status = refusal.status
        request.response_headers += [(n.encode(), v.encode()) for n, v in refusal.headers]
