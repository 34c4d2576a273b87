"""The guards of pages: the cookie of a session, and a form token for every POST."""

import asyncio
from contextlib import suppress
from typing import Literal

import msgspec

from sealdesk.caller import Actor, Caller
from sealdesk.errors import ApiError, Forbidden, ProblemType, ServiceUnavailable, Unauthorized
from sealdesk.errors.general import TOO_MANY_BYTES
from sealdesk.identity.auth import login, reauthentication, session
from sealdesk.identity.errors import PAGE_NEEDS_ROLE, PAGE_OF_INSTALLATION
from sealdesk.identity.types import Token, User
from sealdesk.rate_limits.byte_budget import UNCOUNTED_BYTES
from sealdesk.rate_limits.limiter import Budget
from sealdesk.web.client_address import networks_of
from sealdesk.web.pages import forms
from sealdesk.web.proof import NOTHING_PROVEN, Proof
from sealdesk.web.request import Request

# Forms over 16 KiB of one network without a session: one of 1 MiB takes 20 ms to parse and to show
# again (2026-11), and everybody else waits meanwhile. Three at once, then one in three seconds.
_FORMS_PER_MINUTE = 20
_FORMS_AT_ONCE_S = 9.0
_MAX_WAIT_S = 5.0


class SessionGuard:
    """A session, and one of the roles in `needs`.

    needs_reauthentication: without a recent log-in, a form needs the password.
    """

    scheme: Literal["session"] = "session"
    fails: tuple[ProblemType, ...] = ()
    write_fails: tuple[ProblemType, ...] = ()

    def __init__(self, needs: tuple[str, ...], *, needs_reauthentication: bool = False) -> None:
        self.needs = needs
        self.needs_reauthentication = needs_reauthentication

    async def prove(self, request: Request) -> Proof:
        """Raises Unauthorized, Forbidden, and what reading a form raises."""
        is_form = request.method == "POST"
        if is_form:
            # Before the session is checked: the log-in page keeps the fields of the form.
            await self._receive_form(request)
        token = session.get(request)
        user, proof = await _load_session(request, token)
        try:
            if user.role not in self.needs:
                is_of_desk = "tenant_admin" in self.needs
                error = PAGE_NEEDS_ROLE if is_of_desk else PAGE_OF_INSTALLATION
                raise Forbidden(error, needs=" or ".join(self.needs))
            if is_form:
                proof = await self._check_form(request, user, token, proof)
        except ApiError as error:
            return msgspec.structs.replace(proof, refusal=error)
        if request.headers.get(b"sec-fetch-dest") != b"empty":  # what a person has opened or sent
            request.state.seen_users.note(user.tenant_id, user.id, request.now_us)
        actor = Actor("user", user.id, user.name)
        caller = Caller(user.tenant_id, actor, frozenset((user.role,)), request.address)
        again = None if is_form else self._prove_again
        return msgspec.structs.replace(proof, caller=caller, prove_again=again)

    async def _receive_form(self, request: Request) -> None:
        await _read_form(request)

    async def _prove_again(self, request: Request) -> Proof:
        request.now_us = request.state.clock.now_us()
        proof = await self.prove(request)
        if proof.refusal is not None:
            raise proof.refusal
        return proof

    async def _check_form(self, request: Request, user: User, token: Token, proof: Proof) -> Proof:
        forms.check_token(request, session.form_token(request, token))
        is_recent = session.is_recent_login(request, token)
        if self.needs_reauthentication and not is_recent:
            return await reauthentication.confirm(request, user, token, proof)
        return proof


class FileGuard(SessionGuard):
    """A session for a body that is a file: the token is in a header, and the handler reads it."""

    async def _receive_form(self, request: Request) -> None:
        forms.check_site(request)

    async def _check_form(self, request: Request, user: User, token: Token, proof: Proof) -> Proof:
        forms.check_token_header(request, session.form_token(request, token))
        return proof


class VisitorGuard:
    """The guard of public pages; loads the session of a user who is logged in."""

    scheme: Literal["session"] = "session"
    needs: tuple[str, ...] = ()
    fails: tuple[ProblemType, ...] = ()
    write_fails: tuple[ProblemType, ...] = ()

    async def prove(self, request: Request) -> Proof:
        """Raises Forbidden, ContentTooLarge, UnsupportedMediaType, ServiceUnavailable."""
        if request.method == "POST":
            await _read_form(request)
        with suppress(Unauthorized):
            _, proof = await _load_session(request, session.get(request))
            return proof
        return NOTHING_PROVEN


async def _read_form(request: Request) -> None:
    """Read the body. Raises Forbidden, ContentTooLarge, UnsupportedMediaType, ServiceUnavailable.

    A large form without a session waits for its turn before it is read.
    """
    forms.check_sender(request)
    if _is_large(request) and not _has_token(request):
        await _wait_for_turn(request)
    await request.read_body()


def _is_large(request: Request) -> bool:
    declared = request.headers.get(b"content-length")
    if declared is None:
        return b"transfer-encoding" in request.headers
    return int(declared) > UNCOUNTED_BYTES


def _has_token(request: Request) -> bool:
    """Whether there is a token of a user. If it has been ended meanwhile, the form is not paced."""
    try:
        session.get(request)
    except Unauthorized:
        return False
    return True


async def _wait_for_turn(request: Request) -> None:
    """Raises ServiceUnavailable when others of the same network wait too."""
    network = networks_of(request.address)[-1]
    budget = Budget(f"forms:{network}", _FORMS_PER_MINUTE, _FORMS_AT_ONCE_S)
    limiter, time_s = request.state.limits.limiter, asyncio.get_running_loop().time
    give_up_at_s = time_s() + _MAX_WAIT_S
    # Again after each wait: a timer may end early, and another form may have taken the turn.
    while not (state := await limiter.take(budget)).accepted:
        left_s = give_up_at_s - time_s()
        if left_s <= 0:
            raise ServiceUnavailable(TOO_MANY_BYTES)
        await asyncio.sleep(min(state.retry_after_s, left_s))


async def _load_session(request: Request, token: Token) -> tuple[User, Proof]:
    """The user of a session, and its proof, which renews the session's cookie when it is due."""
    user, desk = await login.get_user_and_desk(request, token)
    visitor = session.visitor(request, user, token, desk=desk)
    if not session.is_renewal_due(request, token):
        return user, Proof(visitor=visitor)
    cookie = session.begin(request, login.renewed_token(request, user, token))
    return user, Proof(visitor=visitor, response_headers=(cookie,))
