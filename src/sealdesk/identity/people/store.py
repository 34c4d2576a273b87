"""The SQL of administrators' changes of users, and of the limits of invitations."""

from sealdesk import ids
from sealdesk.db.column_lists import delete_row, update_row
from sealdesk.db.engine import Tx
from sealdesk.identity.rules import MAX_CLOCK_SKEW_US
from sealdesk.identity.types import ADMINISTRATORS, InvitationLimit, Role, User
from sealdesk.resources import representation

_SET_NAME = update_row("users", "name")
_SET_ROLE = """
UPDATE users SET role = :role, token_version = token_version + 1
WHERE tenant_id = :tenant_id AND id = :id
"""
_SET_ACTIVE = """
UPDATE users SET is_active = :is_active, token_version = token_version + 1
WHERE tenant_id = :tenant_id AND id = :id
"""
# An invited user who has set no password yet cannot log in.
_FIND_OTHER_ADMINISTRATOR = """
SELECT u.id FROM users u WHERE u.tenant_id = :tenant_id AND u.id <> :except_id AND u.is_active
    AND u.password_hash IS NOT NULL AND u.role = :role LIMIT 1
"""
# The n-th newest user since then: it exists if n were added. Ids are in the order of their times.
_FIND_ADDED = """
SELECT u.created_at FROM users u
WHERE u.tenant_id = :tenant_id AND u.id > :since AND u.id < :until
    AND (NOT :pending_only OR (u.password_hash IS NULL AND u.is_active))
ORDER BY u.id DESC LIMIT 1 OFFSET :offset
"""
_RELEASE_EMAIL = delete_row("user_directory", "email_identity user_id")
_END_LOG_IN = """
UPDATE users SET password_hash = NULL, token_version = token_version + 1
WHERE tenant_id = :tenant_id AND id = :id
"""


async def set_name(tx: Tx, user: User, name: str) -> None:
    await tx.execute_one(_SET_NAME, {"tenant_id": user.tenant_id, "id": user.id, "name": name})


async def set_role(tx: Tx, user: User, role: Role) -> None:
    """Set a role, which ends all tokens of the user."""
    await tx.execute_one(_SET_ROLE, {"tenant_id": user.tenant_id, "id": user.id, "role": role})


async def set_active(tx: Tx, user: User, is_active: bool) -> None:
    """Activate or deactivate a user, which ends all their tokens."""
    params = {"tenant_id": user.tenant_id, "id": user.id, "is_active": is_active}
    await tx.execute_one(_SET_ACTIVE, params)


async def has_other_administrator(tx: Tx, user: User) -> bool:
    """Whether the tenant has another administrator who can log in."""
    params = {"tenant_id": user.tenant_id, "except_id": user.id}
    for role in ADMINISTRATORS:
        if await tx.fetch_one(_FIND_OTHER_ADMINISTRATOR, {**params, "role": role}) is not None:
            return True
    return False


async def invitations_until(
    tx: Tx, tenant_id: str, limit: InvitationLimit, now_us: int
) -> int | None:
    """Until when no user can be invited; None when the limit is not reached."""
    row = await tx.fetch_one(
        _FIND_ADDED,
        {
            "tenant_id": tenant_id,
            "since": ids.lowest(now_us - limit.within_us),
            "until": ids.lowest(now_us + MAX_CLOCK_SKEW_US),
            "pending_only": limit.pending_only,
            "offset": limit.count - 1,
        },
    )
    return None if row is None else min(row["created_at"], now_us) + limit.within_us


async def release_email(tx: Tx, user: User) -> None:
    """Free the address with which a user logs in, and end their tokens."""
    identity = representation.email_identity(user.email)
    await tx.enqueue(_RELEASE_EMAIL, {"email_identity": identity, "user_id": user.id})
    await tx.execute_one(_END_LOG_IN, {"tenant_id": user.tenant_id, "id": user.id})
