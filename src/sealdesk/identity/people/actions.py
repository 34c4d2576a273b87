"""Actions of administrators on the users of their tenant; each runs in one transaction."""

import math

from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Forbidden, TooManyRequests, must_exist
from sealdesk.identity import actions, rules
from sealdesk.identity import store as users
from sealdesk.identity.errors import (
    LAST_ADMINISTRATOR,
    ROLE_ABOVE_OWN,
    SUPER_ADMIN_ONLY,
    TOO_MANY_INVITATIONS,
    TOO_MANY_PENDING,
    USER_INACTIVE,
)
from sealdesk.identity.people import store
from sealdesk.identity.rules import INVITATIONS_PER_HOUR, PENDING_INVITATIONS
from sealdesk.identity.two_factor import actions as two_factor
from sealdesk.identity.types import ADMINISTRATORS, Invitation, Role, User
from sealdesk.records import audit


async def get_user(tx: Tx, caller: Caller, user_id: str) -> User:
    """Raises NotFound."""
    return must_exist(await users.find(tx, caller.tenant_id, user_id))


async def invite(tx: Tx, caller: Caller, new: Invitation, *, now_us: int) -> tuple[User, str]:
    """A new user without a password, and the one-time token with which they set it.

    Whether another tenant has the address makes no difference: it is taken by accepting.
    Raises ValidationFailed, Forbidden for a role above the caller's, Conflict for an address of the
    tenant, TooManyRequests.
    """
    _check_role(caller, new.role)
    await tx.lock("people", caller.tenant_id)
    await _check_invitations(tx, caller.tenant_id, now_us)
    user = await actions.create_user(
        tx,
        caller.tenant_id,
        email=new.email,
        name=new.name.strip(),
        role=new.role,
        password_hash=None,
        actor=caller.actor,
        address=caller.address,
        now_us=now_us,
    )
    return user, await _make_link(tx, caller, user, now_us=now_us)


async def make_link(tx: Tx, caller: Caller, user_id: str, *, now_us: int) -> tuple[User, str]:
    """A new one-time token for a user's password: an invitation while they have none.

    Raises NotFound, Forbidden for a user above the caller, Conflict for one who is deactivated.
    """
    user = await _lock_user(tx, caller, user_id)
    if not user.is_active:
        raise Conflict(USER_INACTIVE)
    return user, await _make_link(tx, caller, user, now_us=now_us)


async def rename(tx: Tx, caller: Caller, user_id: str, name: str, *, now_us: int) -> None:
    """Rename a user, also the caller; earlier replies keep the old name.

    Raises NotFound, Forbidden for a user above the caller.
    """
    user = await _lock_user(tx, caller, user_id)
    if user.name == name:
        return
    await store.set_name(tx, user, name)
    changes = {"email": user.email, "name": [user.name, name]}
    await audit.record(tx, caller, "user.renamed", user.id, changes, now_us)


async def change_role(tx: Tx, caller: Caller, user_id: str, role: Role, *, now_us: int) -> None:
    """Change a user's role, which ends their tokens.

    Raises NotFound, Forbidden for a user or a role above the caller, Conflict for the last
    administrator.
    """
    _check_role(caller, role)
    user = await _lock_user(tx, caller, user_id)
    if user.role == role:
        return
    if role not in ADMINISTRATORS:
        await _check_not_last(tx, user)
    await store.set_role(tx, user, role)
    changes = {"email": user.email, "role": [user.role, role]}
    await audit.record(tx, caller, "user.role_changed", user.id, changes, now_us)


async def deactivate(tx: Tx, caller: Caller, user_id: str, *, now_us: int) -> None:
    """End a user's access at once; their data stays.

    Raises NotFound, Forbidden for a user above the caller, Conflict for the last administrator.
    """
    user = await _lock_user(tx, caller, user_id)
    if not user.is_active:
        return
    await _check_not_last(tx, user)
    await store.set_active(tx, user, False)
    await users.delete_resets(tx, user.tenant_id, user.id)
    await audit.record(tx, caller, "user.deactivated", user.id, {"email": user.email}, now_us)


async def reactivate(tx: Tx, caller: Caller, user_id: str, *, now_us: int) -> None:
    """Let a user log in again. Raises NotFound, Forbidden for a user above the caller."""
    user = await _lock_user(tx, caller, user_id)
    if user.is_active:
        return
    # Tokens from before the deactivation stay invalid.
    await store.set_active(tx, user, True)
    await audit.record(tx, caller, "user.reactivated", user.id, {"email": user.email}, now_us)


async def turn_off_two_factor(tx: Tx, caller: Caller, user_id: str, *, now_us: int) -> None:
    """Let a user who lost their app log in with the password alone.

    Raises NotFound, Forbidden for a user above the caller.
    """
    user = await _lock_user(tx, caller, user_id)
    await two_factor.turn_off(tx, user, caller=caller, now_us=now_us)


async def release(tx: Tx, caller: Caller, user: User, *, now_us: int) -> None:
    """Free a user's e-mail address, for the operator: the user is an invited one again."""
    await tx.lock("people", user.tenant_id)
    await store.release_email(tx, user)
    await users.delete_resets(tx, user.tenant_id, user.id)
    await two_factor.turn_off(tx, user, caller=caller, now_us=now_us)
    await audit.record(tx, caller, "user.released", user.id, {"email": user.email}, now_us)


async def _check_invitations(tx: Tx, tenant_id: str, now_us: int) -> None:
    for limit in (INVITATIONS_PER_HOUR, PENDING_INVITATIONS):
        until = await store.invitations_until(tx, tenant_id, limit, now_us)
        if until is None:
            continue
        wait_s = max(1, math.ceil((until - now_us) / 1_000_000))
        if limit.pending_only:
            raise TooManyRequests(TOO_MANY_PENDING, count=limit.count, wait_s=wait_s)
        raise TooManyRequests(TOO_MANY_INVITATIONS, count=limit.count, wait_s=wait_s)


async def _lock_user(tx: Tx, caller: Caller, user_id: str) -> User:
    """The user, with the changes of all users of the tenant locked.

    Otherwise two administrators who deactivate each other at once would both succeed.
    """
    await tx.lock("people", caller.tenant_id)
    user = await get_user(tx, caller, user_id)
    if user.role not in rules.assignable_roles(caller.may):
        raise Forbidden(SUPER_ADMIN_ONLY)
    return user


def _check_role(caller: Caller, role: Role) -> None:
    if role not in rules.assignable_roles(caller.may):
        raise Forbidden(ROLE_ABOVE_OWN)


async def _check_not_last(tx: Tx, user: User) -> None:
    """Raises Conflict when the tenant has no other administrator."""
    if user.role in ADMINISTRATORS and not await store.has_other_administrator(tx, user):
        raise Conflict(LAST_ADMINISTRATOR)


async def _make_link(tx: Tx, caller: Caller, user: User, *, now_us: int) -> str:
    is_invited = user.password_hash is None
    return await actions.make_reset_token(
        tx,
        user,
        actor=caller.actor,
        address=caller.address,
        now_us=now_us,
        life_us=rules.INVITATION_LIFE_US if is_invited else rules.RESET_LINK_LIFE_US,
        action="user.invited" if is_invited else "user.reset_link_made",
    )
