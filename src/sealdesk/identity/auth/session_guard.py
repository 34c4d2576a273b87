"""Proving who looks at a page: a session's cookie, and that a page of ours sent the form."""

from contextlib import suppress
from typing import Literal

from sealdesk.caller import Actor, Caller
from sealdesk.errors import Forbidden, Unproven
from sealdesk.identity.auth import login, reauthentication, session
from sealdesk.identity.auth.tokens import Token
from sealdesk.identity.rules import User
from sealdesk.web.pages import forms
from sealdesk.web.request import Call, Visitor


class SessionGuard:
    """The guard of people's pages: a session, and one of the roles in `needs`.

    is_careful: forms of an old log-in change nothing without the password.
    """

    scheme: Literal["session"] = "session"
    fails: tuple[str, ...] = ()

    def __init__(self, needs: tuple[str, ...], *, is_careful: bool = False) -> None:
        self.needs = needs
        self.is_careful = is_careful

    async def prove(self, call: Call) -> None:
        """Set the caller and the visitor. Raises Unproven, Forbidden, TooLarge, WrongType."""
        is_form = call.method == "POST"
        if is_form:
            forms.check_sender(call)
            # Before the session is looked at: the log-in carries along what was typed.
            await call.read_body()
        token = session.get(call)
        user, visitor = await _met(call, token)
        if user.role not in self.needs:
            raise Forbidden("insufficient_role", f"This needs {' or '.join(self.needs)}.")
        if is_form:
            forms.check_token(call, visitor.form_token)
        actor = Actor("user", user.id, user.name)
        call.caller = Caller(user.tenant_id, actor, frozenset((user.role,)), call.address)
        if is_form and self.is_careful and not visitor.is_fresh:
            await reauthentication.confirm(call, user, token)


class VisitorGuard:
    """The guard of pages for everybody; whoever is logged in is known."""

    scheme: Literal["session"] = "session"
    needs: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()

    async def prove(self, call: Call) -> None:
        """Set the visitor, if there is a log-in. Raises Forbidden, TooLarge, WrongType."""
        if call.method == "POST":
            forms.check_sender(call)
            await call.read_body()
        with suppress(Unproven):
            await _met(call, session.get(call))


async def _met(call: Call, token: Token) -> tuple[User, Visitor]:
    user = await login.get_user(call, token)
    if session.is_due(call, token):
        call.answer_headers.append(session.begin(call, login.renewed(call, user, token)))
    call.visitor = session.visitor(call, user, token)
    return user, call.visitor
