"""Proving who looks at a page: a session's cookie, and that a page of ours sent the form."""

from contextlib import suppress
from typing import Literal

from sealdesk.caller import Actor, Caller
from sealdesk.errors import Forbidden, Unauthorized
from sealdesk.identity.auth import login, reauthentication, session
from sealdesk.identity.auth.tokens import Token
from sealdesk.identity.rules import User
from sealdesk.web.pages import forms
from sealdesk.web.request import Request, Visitor


class SessionGuard:
    """The guard of people's pages: a session, and one of the roles in `needs`.

    is_careful: forms of an old log-in change nothing without the password.
    """

    scheme: Literal["session"] = "session"
    fails: tuple[str, ...] = ()

    def __init__(self, needs: tuple[str, ...], *, is_careful: bool = False) -> None:
        self.needs = needs
        self.is_careful = is_careful

    async def prove(self, request: Request) -> None:
        """Set the caller and the visitor. Raises Unproven, Forbidden, TooLarge, WrongType."""
        is_form = request.method == "POST"
        if is_form:
            forms.check_sender(request)
            # Before the session is looked at: the log-in carries along what was typed.
            await request.read_body()
        token = session.get(request)
        user, visitor = await _met(request, token)
        if user.role not in self.needs:
            raise Forbidden("insufficient_role", f"This needs {' or '.join(self.needs)}.")
        if is_form:
            forms.check_token(request, visitor.form_token)
        actor = Actor("user", user.id, user.name)
        request.caller = Caller(user.tenant_id, actor, frozenset((user.role,)), request.address)
        if is_form and self.is_careful and not visitor.is_fresh:
            await reauthentication.confirm(request, user, token)


class VisitorGuard:
    """The guard of pages for everybody; whoever is logged in is known."""

    scheme: Literal["session"] = "session"
    needs: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()

    async def prove(self, request: Request) -> None:
        """Set the visitor, if there is a log-in. Raises Forbidden, TooLarge, WrongType."""
        if request.method == "POST":
            forms.check_sender(request)
            await request.read_body()
        with suppress(Unauthorized):
            await _met(request, session.get(request))


async def _met(request: Request, token: Token) -> tuple[User, Visitor]:
    user = await login.get_user(request, token)
    if session.is_due(request, token):
        request.response_headers.append(session.begin(request, login.renewed(request, user, token)))
    request.visitor = session.visitor(request, user, token)
    return user, request.visitor
