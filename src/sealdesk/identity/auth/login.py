"""How people get in and out, whether from a page or from a program."""

import asyncio

import structlog

from sealdesk import ids
from sealdesk.errors import ServiceUnavailable
from sealdesk.identity import actions, rules, store
from sealdesk.identity.actions import Way
from sealdesk.identity.auth import passwords, tokens
from sealdesk.identity.auth.tokens import Token
from sealdesk.identity.rules import PasswordReset, User
from sealdesk.records import audit
from sealdesk.records.audit import AuditEntry
from sealdesk.state import AppState
from sealdesk.web.request import Request

# By then the answer is gone: how long it took tells nobody that there is such a user.
_NOTED_AFTER_S = 0.25

log = structlog.get_logger("sealdesk.entry")


async def log_in(request: Request, email: str, password: str) -> User:
    """The user whose e-mail address and password these are, who comes in. Raises as below."""
    return await _prove(request, email, password, is_log_in=True)


async def prove_password(request: Request, email: str, password: str) -> User:
    """The same of who is logged in already, and must know their password once more.

    Raises Unproven, TooMany.
    """
    return await _prove(request, email, password, is_log_in=False)


async def _prove(request: Request, email: str, password: str, *, is_log_in: bool) -> User:
    # One at a time for each hash that may run: what only waits for its turn is not yet counted as
    # a failure, so that many right log-ins at once do not shut each other out.
    async with request.state.password_checks:
        return await _prove_now(request, email, password, is_log_in=is_log_in)


async def _prove_now(request: Request, email: str, password: str, *, is_log_in: bool) -> User:
    database, now_us = request.state.database, request.now_us
    how: Way = "api" if request.path.startswith("/api/") else "browser"
    attempt = await database.write(
        lambda tx: actions.begin_log_in(tx, email, request.address, now_us=now_us)
    )
    user = attempt.user
    is_right = await passwords.is_right(password, user.password_hash if user else None)
    if user is None or not user.is_active or not is_right:
        if user is not None:
            failed = actions.log_in_failed if is_log_in else actions.confirmation_failed
            deed = failed(user, request.address, how)
            request.state.background_tasks.start(_note(request.state, user.tenant_id, deed, now_us))
        raise actions.wrong_credentials()
    await database.write(
        lambda tx: actions.finish_log_in(
            tx, attempt, user, request.address, now_us=now_us, how=how if is_log_in else None
        ),
        user.tenant_id,
    )
    return user


async def _note(state: AppState, tenant_id: str, deed: AuditEntry, now_us: int) -> None:
    """Note a failure in the audit, as far as the storage allows."""
    await asyncio.sleep(_NOTED_AFTER_S)
    try:
        await state.database.write(lambda tx: audit.record(tx, tenant_id, deed, now_us), tenant_id)
    except ServiceUnavailable:
        log.warning("a failed log-in is missing in the audit", user_id=deed.object_id)


def access_token(request: Request, user: User, began_us: int | None = None) -> str:
    """A new token of a user who has proven themselves, now or then."""
    now_us = request.now_us if began_us is None else began_us
    secret = request.state.settings.jwt_secret
    return tokens.issue(
        user, secret, token_id=ids.mint(now_us), began_us=now_us, now_us=request.now_us
    )


def renewed(request: Request, user: User, token: Token) -> str:
    """The same log-in for longer: its id and its beginning stay, so all that ends it does."""
    secret = request.state.settings.jwt_secret
    return tokens.issue(
        user, secret, token_id=token.id, began_us=token.issued_at, now_us=request.now_us
    )


async def get_user(request: Request, token: Token) -> User:
    """A token's user as they are now. Raises Unproven when the token no longer holds."""
    return await request.state.database.read(
        lambda tx: actions.get_token_user(tx, token), token.tenant_id
    )


async def log_out(request: Request, token: Token) -> None:
    """Refuse this token, and those that renew it, from the very next request on."""
    await request.state.database.write(
        lambda tx: actions.log_out(tx, token, request.address, now_us=request.now_us),
        token.tenant_id,
    )


async def end(request: Request, token: Token) -> None:
    """The same for a log-in that another takes the place of."""
    latest_us = rules.latest_us(token.issued_at)
    await request.state.database.write(lambda tx: store.end_token(tx, token.id, latest_us))


async def change_password(request: Request, user: User, new: str) -> int:
    """Set the user's own new password; all their tokens end. The instant from which new ones hold.

    It is taken when it is written: a log-in may have begun while this request was hashing.
    Raises Invalid.
    """
    password_hash = await _hash_of_new(request, user, new)
    now_us = request.state.clock.now_us()
    await request.state.database.write(
        lambda tx: actions.set_password(
            tx,
            user,
            password_hash,
            actor=request.caller.actor,
            address=request.address,
            now_us=now_us,
        ),
        user.tenant_id,
    )
    return now_us


async def use_reset_token(request: Request, reset: PasswordReset) -> None:
    """Set a password with a one-time token. Raises Unproven, Invalid."""
    # Looked at before as well: whoever has no token must not make us hash.
    user = await request.state.database.read(
        lambda tx: actions.get_reset_user(tx, reset.token, now_us=request.now_us)
    )
    password_hash = await _hash_of_new(request, user, reset.new)
    await request.state.database.write(
        lambda tx: actions.use_reset_token(
            tx,
            reset.token,
            password_hash,
            address=request.address,
            now_us=request.state.clock.now_us(),
        )
    )


async def _hash_of_new(request: Request, user: User, new: str) -> str:
    tenant = await request.state.database.read(
        lambda tx: store.find_tenant(tx, user.tenant_id), user.tenant_id
    )
    words = rules.own_words(user.email, user.name, tenant.name if tenant else "")
    return await passwords.hash_of_new(new, words)
