"""Actions on tenants, users and log-ins; each runs in one transaction."""

import hashlib
import math
import secrets
from typing import Any, Literal, NamedTuple

import msgspec

from sealdesk import ids
from sealdesk.caller import SYSTEM, Actor, without_rights
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Fault, NotFound, TooManyRequests, Unauthorized, invalid
from sealdesk.identity import rules, store
from sealdesk.identity.errors import (
    INVALID_CREDENTIALS,
    INVALID_RESET_TOKEN,
    INVALID_TOKEN,
    INVITED_EMAIL_TAKEN,
    NO_SUCH_TENANT,
    NO_USER_WITH_EMAIL,
    TOO_MANY_ATTEMPTS,
    TOO_MANY_FROM_NETWORK,
    USER_EMAIL_TAKEN,
)
from sealdesk.identity.store import Tenant
from sealdesk.identity.types import NAME_LENGTH, FailureLimit, Role, Token, User
from sealdesk.records import audit, test_tenants
from sealdesk.resources import representation
from sealdesk.resources.identity import is_visible
from sealdesk.web.client_address import networks_of

Channel = Literal["browser", "api"]


class LoginAttempt(NamedTuple):
    """A log-in whose password is not checked yet; it counts as a failure until it succeeds."""

    id: str
    user: User | None
    limits: list[FailureLimit]


async def create_tenant(tx: Tx, name: str, *, now_us: int) -> Tenant:
    """Raises ValidationFailed for a name that is empty or too long."""
    if not is_visible(name) or len(name.strip()) > 100:
        raise invalid([Fault("/name", "invalid_length", NAME_LENGTH)])
    tenant = Tenant(ids.mint(now_us), name.strip(), now_us)
    await tx.set_tenant(tenant.id)
    await store.add_tenant(tx, tenant)
    caller = without_rights(tenant.id, SYSTEM)
    await audit.record(tx, caller, "tenant.created", tenant.id, {"name": tenant.name}, now_us)
    return tenant


async def create_user(
    tx: Tx,
    tenant_id: str,
    *,
    email: str,
    name: str | None,
    role: Role,
    password_hash: str | None,
    actor: Actor,
    address: str = "",
    now_us: int,
) -> User:
    """A user; without a password one who is invited, who takes the address by accepting.

    Raises NotFound for an unknown or a test tenant, ValidationFailed, Conflict for a taken address.
    """
    is_test = await test_tenants.find(tx, tenant_id) is not None
    if is_test or await store.find_tenant(tx, tenant_id) is None:
        raise NotFound(NO_SUCH_TENANT)
    faults = representation.check_email(email)
    if faults:
        raise invalid([fault._replace(pointer="/email") for fault in faults])
    user = User(
        tenant_id=tenant_id,
        id=ids.mint(now_us),
        email=email,
        name=name if name and is_visible(name) else rules.default_name(email),
        role=role,
        password_hash=password_hash,
        is_active=True,
        token_version=0,
        created_at=now_us,
    )
    may_log_in = password_hash is not None
    if not await store.add(tx, user) or (may_log_in and not await store.claim_email(tx, user)):
        raise Conflict(USER_EMAIL_TAKEN, email=email)
    await _record(tx, "user.created", user, actor, address, now_us, role=role)
    return user


async def begin_log_in(tx: Tx, email: str, address: str, *, now_us: int) -> LoginAttempt:
    """Count a log-in as failed until it succeeds, so that all simultaneous guesses are counted.

    Raises TooManyRequests when too many have failed.
    """
    user = await store.find_by_email(tx, email)
    networks = networks_of(address)
    is_known = user is not None and await store.is_known_address(
        tx, user.tenant_id, user.id, networks[0]
    )
    limits = rules.failure_limits(email, networks, is_known_network=is_known)
    # Sorted, so that two log-ins cannot deadlock.
    for bucket in sorted(limit.bucket for limit in limits):
        await tx.lock(f"log-in {bucket}")
    await _check_limits(tx, limits, now_us)
    attempt_id = ids.mint(now_us)
    for limit in limits:
        await store.add_attempt(tx, limit.bucket, attempt_id, now_us)
    return LoginAttempt(attempt_id, user, limits)


async def _check_limits(tx: Tx, limits: list[FailureLimit], now_us: int) -> None:
    """Raises TooManyRequests, with the limit that is reached for the longest time."""
    reached = [(await store.reached_until(tx, limit, now_us), limit) for limit in limits]
    waits = [(until - now_us, limit.is_of_network) for until, limit in reached if until is not None]
    if not waits:
        return
    wait_us, is_of_network = max(waits)
    wait_s = max(1, math.ceil(wait_us / 1_000_000))
    if is_of_network:
        raise TooManyRequests(TOO_MANY_FROM_NETWORK, wait_s=wait_s)
    raise TooManyRequests(TOO_MANY_ATTEMPTS, wait_s=wait_s)


async def finish_log_in(
    tx: Tx,
    attempt: LoginAttempt,
    user: User,
    address: str,
    *,
    now_us: int,
    channel: Channel | None = None,
) -> User:
    """Delete the attempt, and all failures of the account from this address; the current user.

    channel: recorded in the audit log; None for a reauthentication, which is not recorded.
    Raises Unauthorized when the password was changed while it was checked.
    """
    await lock_user(tx, user.tenant_id, user.id)
    current = await store.find(tx, user.tenant_id, user.id)
    if current is None or current.password_hash != user.password_hash:
        raise wrong_credentials()
    for limit in attempt.limits:
        await store.delete_attempt(tx, limit.bucket, attempt.id)
    await store.delete_bucket(tx, attempt.limits[0].bucket)
    await store.record_address(tx, user.tenant_id, user.id, networks_of(address)[0], now_us)
    if channel is not None:
        actor = Actor("user", user.id, user.name)
        await _record(tx, "user.logged_in", user, actor, address, now_us, how=channel)
    return current


async def withdraw_log_in(tx: Tx, attempt: LoginAttempt) -> None:
    """Do not count a log-in whose password was right and that goes on with a code."""
    for limit in attempt.limits:
        await store.delete_attempt(tx, limit.bucket, attempt.id)


async def log_out(tx: Tx, token: Token, address: str, *, now_us: int) -> None:
    """End a session: its token, and the tokens that renewed it."""
    await store.end_token(tx, token.id, rules.session_end(token.issued_at))
    user = await store.find(tx, token.tenant_id, token.user_id)
    if user is not None:
        actor = Actor("user", user.id, user.name)
        await _record(tx, "user.logged_out", user, actor, address, now_us)


async def set_password(
    tx: Tx, user: User, password_hash: str, *, actor: Actor, address: str, now_us: int
) -> User:
    """Set a new password; the changed user.

    It ends every token and reset link of the user, and deletes the account's failed log-ins.

    Raises Unauthorized when there is no such user.
    """
    await lock_user(tx, user.tenant_id, user.id)
    current = await store.find(tx, user.tenant_id, user.id)
    if current is None:
        raise Unauthorized(INVALID_TOKEN)
    await store.set_password(tx, user, password_hash)
    await store.delete_resets(tx, user.tenant_id, user.id)
    await store.delete_buckets(tx, *rules.account_buckets(user.email))
    await _record(tx, "user.password_changed", user, actor, address, now_us)
    return msgspec.structs.replace(
        current, password_hash=password_hash, token_version=current.token_version + 1
    )


async def make_reset_token(
    tx: Tx,
    user: User,
    *,
    actor: Actor,
    address: str = "",
    now_us: int,
    life_us: int = rules.RESET_LINK_LIFE_US,
    action: str = "user.reset_link_made",
) -> str:
    """A one-time token that sets the user's password; earlier tokens stop working.

    action: its name in the audit log.
    """
    token = secrets.token_urlsafe(32)
    await lock_user(tx, user.tenant_id, user.id)
    await store.delete_resets(tx, user.tenant_id, user.id)
    await store.add_reset(
        tx, user.tenant_id, user.id, token_hash=_hash(token), expires_at=now_us + life_us
    )
    await _record(tx, action, user, actor, address, now_us)
    return token


async def use_reset_token(
    tx: Tx, token: str, password_hash: str, *, address: str, now_us: int
) -> None:
    """Set the password of the token's user; the token works once.

    Raises Unauthorized, Conflict for an invitation whose address has been taken since.

    The network from which it was used counts as one of a log-in: there, guesses from elsewhere do
    not keep the user out.
    """
    await tx.lock(f"reset {_hash(token).hex()}")
    user = await get_reset_user(tx, token, now_us=now_us)
    if user.password_hash is None and not await store.claim_email(tx, user):
        raise Conflict(INVITED_EMAIL_TAKEN)
    await store.record_address(tx, user.tenant_id, user.id, networks_of(address)[0], now_us)
    actor = Actor("user", user.id, user.name)
    await set_password(tx, user, password_hash, actor=actor, address=address, now_us=now_us)


async def get_reset_user(tx: Tx, token: str, *, now_us: int) -> User:
    """The user whose password the token sets. Raises Unauthorized."""
    owner = await store.find_reset(tx, _hash(token), now_us)
    user = None
    if owner is not None:
        tenant_id, user_id = owner
        await tx.set_tenant(tenant_id)
        user = await store.find(tx, tenant_id, user_id)
    if user is None or not user.is_active:
        raise Unauthorized(INVALID_RESET_TOKEN)
    return user


async def get_token_user(tx: Tx, token: Token) -> User:
    """The token's user as they are now. Raises Unauthorized when the token is no longer valid."""
    user = await store.find(tx, token.tenant_id, token.user_id)
    if (
        user is None
        or not user.is_active
        or user.role != token.role
        or token.version != user.token_version
        or await store.is_ended(tx, token.id)
    ):
        raise Unauthorized(INVALID_TOKEN)
    return user


async def get_user_by_email(tx: Tx, email: str) -> User:
    """Raises NotFound."""
    user = await store.find_by_email(tx, email)
    if user is None:
        raise NotFound(NO_USER_WITH_EMAIL, email=email)
    return user


def wrong_credentials() -> Unauthorized:
    """The same error for an unknown address, a wrong password and a deactivated user."""
    return Unauthorized(INVALID_CREDENTIALS)


async def lock_user(tx: Tx, tenant_id: str, user_id: str) -> None:
    """Serialize uses and changes of a user's password and second factor."""
    await tx.lock(f"user {user_id}", tenant_id)


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


async def _record(
    tx: Tx, action: str, user: User, actor: Actor, address: str, now_us: int, **details: Any
) -> None:
    """The actor may be a person who is not logged in yet, or a command."""
    caller = without_rights(user.tenant_id, actor, address)
    await audit.record(tx, caller, action, user.id, {"email": user.email, **details}, now_us)
