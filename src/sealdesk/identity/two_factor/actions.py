"""Actions on second factors; each runs in one transaction."""

import math

import msgspec

from sealdesk import ids
from sealdesk.caller import Actor, Caller
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db.engine import Tx
from sealdesk.errors import Fault, NotFound, TooManyRequests, gettext_noop, invalid, must_exist
from sealdesk.identity import actions
from sealdesk.identity import store as identity_store
from sealdesk.identity.errors import TOO_MANY_CODES
from sealdesk.identity.two_factor import rules, store
from sealdesk.identity.two_factor.rules import SecondFactor
from sealdesk.identity.types import User
from sealdesk.records import audit

_WRONG_CODE = gettext_noop(
    "This is not the code that your app shows now. Check that the clock of your phone is right."
)


async def find_confirmed(tx: Tx, user: User) -> SecondFactor | None:
    """The second factor that the user's log-ins need."""
    factor = await store.find(tx, user.tenant_id, user.id)
    return factor if factor and factor.confirmed_at is not None else None


async def begin_setup(tx: Tx, user: User, *, key_ring: KeyRing, now_us: int) -> str | None:
    """A new secret for the user's app, which counts once it is confirmed; None when one is on."""
    await actions.lock_user(tx, user.tenant_id, user.id)
    if await find_confirmed(tx, user) is not None:
        return None
    await store.delete(tx, user.tenant_id, user.id)
    secret = rules.mint_secret()
    factor = SecondFactor(
        tenant_id=user.tenant_id,
        user_id=user.id,
        sealed_secret=key_ring.seal(secret, rules.secret_label(user.tenant_id, user.id)),
        recovery_hashes=(),
        last_step=0,
        created_at=now_us,
        confirmed_at=None,
    )
    await store.add(tx, factor)
    return secret


async def get_pending_secret(tx: Tx, user: User, *, key_ring: KeyRing) -> str:
    """The secret of a setup that is not confirmed. Raises NotFound."""
    factor = await store.find(tx, user.tenant_id, user.id)
    if factor is None or factor.confirmed_at is not None:
        raise NotFound
    return _open(factor, key_ring)


async def confirm(
    tx: Tx, user: User, code: str, *, key_ring: KeyRing, caller: Caller, now_us: int
) -> tuple[str, ...]:
    """Turn the second factor on with a code of the app; the recovery codes, which are shown once.

    It ends every token of the user, also those that somebody got with the password alone.

    Raises NotFound without a setup, ValidationFailed for a wrong code.
    """
    await actions.lock_user(tx, user.tenant_id, user.id)
    factor = await store.find(tx, user.tenant_id, user.id)
    if factor is None or factor.confirmed_at is not None:
        raise NotFound
    step = rules.find_step(factor, _open(factor, key_ring), code, now_us)
    if step is None:
        raise invalid([Fault("/code", "wrong_code", _WRONG_CODE)])
    codes = rules.mint_recovery_codes()
    hashes = rules.hash_recovery_codes(codes)
    await store.update(
        tx,
        msgspec.structs.replace(
            factor, last_step=step, confirmed_at=now_us, recovery_hashes=hashes
        ),
    )
    await identity_store.end_tokens(tx, user.tenant_id, user.id)
    await _record(tx, "user.two_factor_on", user, caller, now_us)
    return codes


async def renew_recovery_codes(
    tx: Tx, user: User, *, caller: Caller, now_us: int
) -> tuple[str, ...]:
    """New recovery codes in place of all earlier ones. Raises NotFound."""
    await actions.lock_user(tx, user.tenant_id, user.id)
    factor = must_exist(await find_confirmed(tx, user))
    codes = rules.mint_recovery_codes()
    hashes = rules.hash_recovery_codes(codes)
    await store.update(tx, msgspec.structs.replace(factor, recovery_hashes=hashes))
    await _record(tx, "user.recovery_codes_made", user, caller, now_us)
    return codes


async def turn_off(tx: Tx, user: User, *, caller: Caller, now_us: int) -> bool:
    """Delete a user's second factor; whether there was one."""
    await actions.lock_user(tx, user.tenant_id, user.id)
    was_on = await find_confirmed(tx, user) is not None
    await store.delete(tx, user.tenant_id, user.id)
    if was_on:
        await _record(tx, "user.two_factor_off", user, caller, now_us)
    return was_on


async def count_code(tx: Tx, user: User, *, now_us: int) -> None:
    """Count a code as wrong until it is accepted, so that all simultaneous guesses are counted.

    Raises TooManyRequests when too many were wrong.
    """
    limits = rules.code_limits(user.id)
    await tx.lock(f"codes of {user.id}", user.tenant_id)
    for limit in limits:
        reached_until = await identity_store.reached_until(tx, limit, now_us)
        if reached_until is not None:
            wait_s = math.ceil((reached_until - now_us) / 1_000_000)
            raise TooManyRequests(TOO_MANY_CODES, wait_s=max(1, wait_s))
    attempt_id = ids.mint(now_us)
    for limit in limits:
        await identity_store.add_attempt(tx, limit.bucket, attempt_id, now_us)


async def use_code(
    tx: Tx, user: User, code: str, *, key_ring: KeyRing, address: str, now_us: int
) -> bool:
    """Use up a code of the app or a recovery code. False, without a change, for a wrong one."""
    await actions.lock_user(tx, user.tenant_id, user.id)
    factor = await find_confirmed(tx, user)
    if factor is None:
        return False
    step = rules.find_step(factor, _open(factor, key_ring), code, now_us)
    code_hash = rules.hash_recovery_code(code)
    if step is not None:
        await store.update(tx, msgspec.structs.replace(factor, last_step=step))
    elif code_hash in factor.recovery_hashes:
        left = tuple(one for one in factor.recovery_hashes if one != code_hash)
        await store.update(tx, msgspec.structs.replace(factor, recovery_hashes=left))
        caller = Caller(user.tenant_id, Actor("user", user.id, user.name), frozenset(), address)
        await _record(tx, "user.recovery_code_used", user, caller, now_us)
    else:
        return False
    for limit in rules.code_limits(user.id):
        await identity_store.delete_bucket(tx, limit.bucket)
    return True


async def reseal(tx: Tx, tenant_id: str, user_id: str, *, key_ring: KeyRing) -> bool:
    """Seal the secret with the first master key; False when it already was. Raises UnsealError."""
    await actions.lock_user(tx, tenant_id, user_id)
    factor = await store.find(tx, tenant_id, user_id)
    if factor is None or key_ring.is_current(factor.sealed_secret):
        return False
    sealed = key_ring.seal(_open(factor, key_ring), rules.secret_label(tenant_id, user_id))
    await store.update(tx, msgspec.structs.replace(factor, sealed_secret=sealed))
    return True


def _open(factor: SecondFactor, key_ring: KeyRing) -> str:
    label = rules.secret_label(factor.tenant_id, factor.user_id)
    return key_ring.open(factor.sealed_secret, label)


async def _record(tx: Tx, action: str, user: User, caller: Caller, now_us: int) -> None:
    await audit.record(tx, caller, action, user.id, {"email": user.email}, now_us)
