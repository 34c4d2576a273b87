"""Logging in and out, from pages and from the API."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

from sealdesk import ids
from sealdesk.caller import SYSTEM, Actor, without_rights
from sealdesk.db.engine import Tx, Work
from sealdesk.errors import ServiceUnavailable, Unauthorized, must_exist
from sealdesk.identity import actions, rules, store
from sealdesk.identity.actions import Channel, LoginAttempt
from sealdesk.identity.auth import passwords, tokens, two_factor
from sealdesk.identity.auth.two_factor import PendingLogIn
from sealdesk.identity.errors import TWO_FACTOR_REQUIRED
from sealdesk.identity.types import PasswordReset, Token, User
from sealdesk.records import audit
from sealdesk.state import AppState
from sealdesk.web.client_address import networks_of
from sealdesk.web.request import Request

# After the response, so that the response time does not reveal whether the user exists.
_RECORD_DELAY_S = 0.25
_MAX_WAIT_S = 30.0  # for the passwords of others to be checked

log = logging.getLogger("sealdesk.identity")

_Check = Callable[[User | None], Awaitable[bool]]


async def log_in(request: Request, email: str, password: str, code: str = "") -> User:
    """Log a user in. Raises Unauthorized, TooManyRequests."""
    return await _authenticate_in_turn(
        request, email, partial(_has_password, password), code=code, is_log_in=True
    )


async def finish_pending(request: Request, pending: PendingLogIn, code: str) -> User:
    """Log a user in whose password was right. Raises Unauthorized, TooManyRequests."""

    async def is_pending(user: User | None) -> bool:
        return pending.is_of(user)

    return await _authenticate_in_turn(
        request, pending.email, is_pending, code=code, is_log_in=True
    )


async def check_password(request: Request, email: str, password: str) -> User:
    """Reauthenticate a user who is logged in. Raises Unauthorized, TooManyRequests."""
    return await _authenticate_in_turn(
        request, email, partial(_has_password, password), code="", is_log_in=False
    )


async def _has_password(password: str, user: User | None) -> bool:
    return await passwords.is_correct(password, user.password_hash if user else None)


async def _authenticate_in_turn(
    request: Request, email: str, is_user: _Check, *, code: str, is_log_in: bool
) -> User:
    # Limited to the number of hashing threads: a log-in that waits here is not counted as a failure
    # yet, so that many correct log-ins at once do not lock each other out.
    network = networks_of(request.address)[-1]
    async with request.state.limits.password_checks.hold(network, _MAX_WAIT_S):
        return await _authenticate(request, email, is_user, code=code, is_log_in=is_log_in)


async def _authenticate(
    request: Request, email: str, is_user: _Check, *, code: str, is_log_in: bool
) -> User:
    database, now_us = request.state.database, request.now_us
    attempt = await database.write(
        lambda tx: actions.begin_log_in(tx, email, request.address, now_us=now_us)
    )
    user = attempt.user
    is_proven = await is_user(user)
    if user is None or not user.is_active or not is_proven:
        _start_recording_failure(request, user, is_log_in=is_log_in)
        raise actions.wrong_credentials()
    if is_log_in and await two_factor.needs_code(request, user):
        await _check_code(request, attempt, user, code)
    return await database.write(
        lambda tx: actions.finish_log_in(
            tx,
            attempt,
            user,
            request.address,
            now_us=now_us,
            channel=_channel(request) if is_log_in else None,
        ),
        user.tenant_id,
    )


async def _check_code(request: Request, attempt: LoginAttempt, user: User, code: str) -> None:
    if not code:
        await request.state.database.write(lambda tx: actions.withdraw_log_in(tx, attempt))
        raise Unauthorized(TWO_FACTOR_REQUIRED)
    try:
        await two_factor.use_code(request, user, code)
    except Unauthorized:
        _start_recording_failure(request, user, is_log_in=True)
        raise


def _channel(request: Request) -> Channel:
    return "api" if request.path.startswith("/api/") else "browser"


def _start_recording_failure(request: Request, user: User | None, *, is_log_in: bool) -> None:
    """Record it in the audit log of the user's tenant; an unknown address has none."""
    if user is None:
        return
    # The actor of a log-in is the system, because the person is unknown.
    actor = SYSTEM if is_log_in else Actor("user", user.id, user.name)
    action = "user.log_in_failed" if is_log_in else "user.confirmation_failed"
    caller = without_rights(user.tenant_id, actor, request.address)
    details = {"email": user.email, "how": _channel(request)}
    request.state.background_tasks.start(
        _record_failure(
            request.state,
            lambda tx: audit.record(tx, caller, action, user.id, details, request.now_us),
            user,
        )
    )


async def _record_failure(state: AppState, record: Work[None], user: User) -> None:
    """Record a failure in the audit log, if the storage is available."""
    await asyncio.sleep(_RECORD_DELAY_S)
    try:
        await state.database.write(record, user.tenant_id)
    except ServiceUnavailable:
        log.warning("a failed log-in is missing in the audit log", extra={"user_id": user.id})


def access_token(request: Request, user: User) -> str:
    """A new token of a user who logs in now."""
    secret, now_us = request.state.settings.jwt_secret, request.now_us
    return tokens.encode(user, secret, token_id=ids.mint(now_us), login_at=now_us, now_us=now_us)


def renewed_token(request: Request, user: User, token: Token) -> str:
    """A token of the same session that expires later; its id and `iat` stay (see `claims`)."""
    secret = request.state.settings.jwt_secret
    return tokens.encode(
        user, secret, token_id=token.id, login_at=token.issued_at, now_us=request.now_us
    )


async def get_user(request: Request, token: Token) -> User:
    """A token's user as they are now. Raises Unauthorized when the token is no longer valid."""
    return await request.state.database.read(
        lambda tx: actions.get_token_user(tx, token), token.tenant_id
    )


async def get_user_and_desk(request: Request, token: Token) -> tuple[User, str]:
    """As `get_user`, with the name of the tenant."""

    async def load(tx: Tx) -> tuple[User, str]:
        user = await actions.get_token_user(tx, token)
        return user, must_exist(await store.find_tenant(tx, user.tenant_id)).name

    return await request.state.database.read(load, token.tenant_id)


async def log_out(request: Request, token: Token) -> None:
    """End a session, from its next request on."""
    await request.state.database.write(
        lambda tx: actions.log_out(tx, token, request.address, now_us=request.now_us),
        token.tenant_id,
    )


async def end_session(request: Request, token: Token) -> None:
    """End a session that another one replaces; unlike `log_out` it is not recorded."""
    ends_at = rules.session_end(token.issued_at)
    await request.state.database.write(lambda tx: store.end_token(tx, token.id, ends_at))


async def change_password(request: Request, user: User, new: str) -> User:
    """Set the user's own password, which ends all their tokens; the changed user.

    Raises ValidationFailed.
    """
    password_hash = await _hash_new_password(request, user, new)
    return await request.state.database.write(
        lambda tx: actions.set_password(
            tx,
            user,
            password_hash,
            actor=request.caller.actor,
            address=request.address,
            now_us=request.state.clock.now_us(),
        ),
        user.tenant_id,
    )


async def use_reset_token(request: Request, reset: PasswordReset) -> User:
    """Set a password with a one-time token; the user as they were before.

    Raises Unauthorized, Conflict, ValidationFailed.
    """
    # Checked before the hash as well, because the hash takes 55 ms.
    user = await request.state.database.read(
        lambda tx: actions.get_reset_user(tx, reset.token, now_us=request.now_us)
    )
    password_hash = await _hash_new_password(request, user, reset.new)
    await request.state.database.write(
        lambda tx: actions.use_reset_token(
            tx,
            reset.token,
            password_hash,
            address=request.address,
            now_us=request.state.clock.now_us(),
        )
    )
    return user


async def _hash_new_password(request: Request, user: User, new: str) -> str:
    tenant = await request.state.database.read(
        lambda tx: store.find_tenant(tx, user.tenant_id), user.tenant_id
    )
    words = rules.own_words(user.email, user.name, tenant.name if tenant else "")
    return await passwords.hash_new(new, words)
