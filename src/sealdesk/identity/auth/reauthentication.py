"""Reauthentication: sensitive forms ask for the password when the log-in is not recent."""

import msgspec

from sealdesk.errors import (
    ApiError,
    Fault,
    TooManyRequests,
    Unauthorized,
    ValidationFailed,
    invalid,
)
from sealdesk.identity.auth import login, session, tokens
from sealdesk.identity.types import Login, Token, User
from sealdesk.web import body
from sealdesk.web.pages import forms
from sealdesk.web.pages.i18n import gettext, translate
from sealdesk.web.proof import Proof, Visitor
from sealdesk.web.request import Request

_FIELD = "password"


async def confirm(request: Request, user: User, token: Token, proof: Proof) -> Proof:
    """Begin a new session with the form's password; without it, refuse writes."""
    password = forms.read(request).text(_FIELD)
    error: ApiError | None = None
    text = gettext("Enter your password to continue. Nothing has been changed yet.")
    if password:
        try:
            given = body.convert({"email": user.email, "password": password}, Login)
            await login.check_password(request, given.email, given.password)
            return await _begin_session(request, user, token, proof)
        except (ValidationFailed, Unauthorized) as wrong:
            error, text = wrong, gettext("That is not your password.")
        except TooManyRequests as too_many:
            error, text = too_many, translate(too_many)
    visitor = session.visitor(request, user, token, desk=_desk(proof), password_error=text)
    return _refuse_writes(proof, visitor, error)


async def _begin_session(request: Request, user: User, token: Token, proof: Proof) -> Proof:
    """Replace the session's token by a new one, as at a log-in."""
    access_token = login.access_token(request, user)
    await login.end_session(request, token)
    begun = tokens.decode(access_token, request.state.settings.jwt_secret, request.now_us)
    return msgspec.structs.replace(
        proof,
        visitor=session.visitor(request, user, begun, desk=_desk(proof)),
        response_headers=(*proof.response_headers, session.begin(request, access_token)),
    )


def _desk(proof: Proof) -> str:
    return proof.visitor.desk if proof.visitor else ""


def _refuse_writes(proof: Proof, visitor: Visitor, error: ApiError | None) -> Proof:
    refusal = invalid(
        [Fault(f"/{_FIELD}", "required", "%(text)s", {"text": visitor.password_error})]
    )
    headers = proof.response_headers
    if error is not None:
        refusal.status = error.status
        headers += tuple((name.encode(), value.encode()) for name, value in error.headers)
    return msgspec.structs.replace(
        proof, visitor=visitor, pending_refusal=refusal, response_headers=headers
    )
