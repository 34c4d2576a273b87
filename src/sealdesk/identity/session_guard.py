"""Proving who looks at a page: a session's cookie, and that a page of ours sent the form."""

from contextlib import suppress
from typing import Literal

from sealdesk.caller import Actor, Caller
from sealdesk.errors import Forbidden, Unproven
from sealdesk.identity import entry, rules, session
from sealdesk.identity.rules import User
from sealdesk.identity.tokens import Token
from sealdesk.web import forms
from sealdesk.web.call import Call, Visitor


class SessionGuard:
    """The guard of people's pages: a session, and one of the roles in `needs`."""

    scheme: Literal["session"] = "session"
    fails: tuple[str, ...] = ()

    def __init__(self, needs: tuple[str, ...]) -> None:
        self.needs = needs

    async def prove(self, call: Call) -> None:
        """Set the caller and the visitor. Raises Unproven, Forbidden, TooLarge, WrongType."""
        is_form = call.method == "POST"
        if is_form:
            forms.check_sender(call)
        token = session.get(call)
        if is_form:
            await call.read_body()
        user, visitor = await _met(call, token)
        if user.role not in self.needs:
            raise Forbidden("insufficient_role", f"This needs {' or '.join(self.needs)}.")
        if is_form:
            forms.check_token(call, visitor.form_token)
        actor = Actor("user", user.id, user.name)
        call.caller = Caller(user.tenant_id, actor, frozenset((user.role,)), call.address)


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
    user = await entry.get_user(call, token)
    is_administrator = user.role in rules.ADMINISTRATORS
    call.visitor = Visitor(user.name, user.email, is_administrator, session.form_token(call, token))
    return user, call.visitor
