"""The SQL of tenants, users and log-ins."""

from typing import NamedTuple

import msgspec

from sealdesk import ids
from sealdesk.db.column_lists import (
    column_list,
    delete_row,
    insert_into,
    insert_once,
    insert_or_update,
    select_row,
)
from sealdesk.db.engine import Row, Tx
from sealdesk.identity.rules import LONGEST_LIMIT_US, MAX_CLOCK_SKEW_US
from sealdesk.identity.types import FailureLimit, User
from sealdesk.resources import representation
from sealdesk.resources.paging import PageRequest

_COLUMNS = column_list(User.__struct_fields__, "u")
_FIND = select_row("users u", _COLUMNS)
_FIND_HOME = select_row("user_directory", "tenant_id, user_id AS id", "email_identity")
_LIST = f"""
SELECT {_COLUMNS} FROM users u WHERE u.tenant_id = :tenant_id AND u.id < :before
ORDER BY u.id DESC LIMIT :limit
"""
_LIST_ACTIVE = f"""
SELECT {_COLUMNS} FROM users u WHERE u.tenant_id = :tenant_id AND u.id < :before AND u.is_active
ORDER BY u.id DESC LIMIT :limit
"""
_ADD = insert_once("users", "tenant_id email_identity", (*User.__struct_fields__, "email_identity"))
_CLAIM_EMAIL = insert_once("user_directory", "email_identity", "email_identity tenant_id user_id")
_SET_PASSWORD = """
UPDATE users SET password_hash = :password_hash, token_version = token_version + 1
WHERE tenant_id = :tenant_id AND id = :id
"""
_END_TOKENS = """
UPDATE users SET token_version = token_version + 1 WHERE tenant_id = :tenant_id AND id = :id
"""
_ADD_TENANT = insert_into("tenants", "id name created_at")
_FIND_TENANT = select_row("tenants", "id, name, created_at", "id")
_LIST_TENANTS = """
SELECT id, name, created_at FROM tenants WHERE id > :after ORDER BY id LIMIT :limit
"""
_IS_KNOWN_ADDRESS = select_row("user_addresses", "1", "tenant_id user_id address")
_RECORD_ADDRESS = insert_or_update("user_addresses", "tenant_id user_id address", "last_at")
# The n-th newest failure of a bucket within the period of the limit: it exists if n have failed.
# Those of a clock that was ahead do not count: they would hold until the time that it showed.
_FIND_LIMITING_FAILURE = """
SELECT failed_at FROM login_failures WHERE bucket = :bucket AND id > :since AND id < :until
ORDER BY id DESC LIMIT 1 OFFSET :offset
"""
_ADD_ATTEMPT = "INSERT INTO login_failures (bucket, id, failed_at) VALUES (:bucket, :id, :at)"
_DELETE_ATTEMPT = delete_row("login_failures", "bucket id")
_DELETE_BUCKET = delete_row("login_failures", "bucket")
_DELETE_BUCKETS = "DELETE FROM login_failures WHERE bucket >= :first AND bucket < :end"
_PRUNE_ATTEMPTS = """
DELETE FROM login_failures WHERE (bucket, id) IN
    (SELECT bucket, id FROM login_failures WHERE failed_at < :before OR failed_at > :after
    LIMIT :limit)
"""
_END_TOKEN = insert_once("ended_tokens", "id", "id expires_at")
_IS_ENDED = select_row("ended_tokens", "1", "id")
_ADD_RESET = insert_into("reset_links", "token_hash tenant_id user_id expires_at")
_FIND_RESET = """
SELECT tenant_id, user_id FROM reset_links
WHERE token_hash = :token_hash AND expires_at > :now LIMIT 1
"""
_DELETE_RESETS = delete_row("reset_links", "tenant_id user_id")


class Tenant(NamedTuple):
    """A tenant as it is stored."""

    id: str
    name: str
    created_at: int


async def find(tx: Tx, tenant_id: str, user_id: str) -> User | None:
    row = await tx.fetch_one(_FIND, {"tenant_id": tenant_id, "id": user_id})
    return None if row is None else _user(row)


async def find_by_email(tx: Tx, email: str) -> User | None:
    """The user with this address, in any tenant: addresses are unique across all of them."""
    for form in representation.stored_forms(email):
        row = await tx.find_across_tenants(_FIND_HOME, _FIND, {"email_identity": form})
        if row is not None:
            return _user(row)
    return None


async def list_users(
    tx: Tx, tenant_id: str, page: PageRequest, *, active_only: bool = False
) -> list[User]:
    """Newest first; one more than the page when there are more."""
    sql = _LIST_ACTIVE if active_only else _LIST
    rows = await tx.fetch_all(sql, page.params(tenant_id))
    return [_user(row) for row in rows]


async def add(tx: Tx, user: User) -> bool:
    """False, without storing anything, when another user of the tenant has the address."""
    identity = representation.email_identity(user.email)
    params = {**msgspec.structs.asdict(user), "email_identity": identity}
    return await tx.execute(_ADD, params) == 1


async def claim_email(tx: Tx, user: User) -> bool:
    """Let the user log in with their address; False when a user of any tenant does so already."""
    identity = representation.email_identity(user.email)
    params = {"email_identity": identity, "tenant_id": user.tenant_id, "user_id": user.id}
    return await tx.execute(_CLAIM_EMAIL, params) == 1


async def set_password(tx: Tx, user: User, password_hash: str) -> None:
    """Set a password, which ends all tokens of the user."""
    params = {"tenant_id": user.tenant_id, "id": user.id, "password_hash": password_hash}
    await tx.execute_one(_SET_PASSWORD, params)


async def end_tokens(tx: Tx, tenant_id: str, user_id: str) -> None:
    await tx.execute_one(_END_TOKENS, {"tenant_id": tenant_id, "id": user_id})


async def add_tenant(tx: Tx, tenant: Tenant) -> None:
    await tx.execute_one(_ADD_TENANT, tenant._asdict())


async def find_tenant(tx: Tx, tenant_id: str) -> Tenant | None:
    row = await tx.fetch_one(_FIND_TENANT, {"id": tenant_id})
    return None if row is None else Tenant(*row)


async def list_tenants(tx: Tx, after: str, limit: int) -> list[Tenant]:
    """Oldest first, for the command line."""
    return [
        Tenant(*row) for row in await tx.fetch_all(_LIST_TENANTS, {"after": after, "limit": limit})
    ]


async def is_known_address(tx: Tx, tenant_id: str, user_id: str, address: str) -> bool:
    """Whether the user has logged in from this address before; of IPv6, the /64."""
    params = {"tenant_id": tenant_id, "user_id": user_id, "address": address}
    return await tx.fetch_one(_IS_KNOWN_ADDRESS, params) is not None


async def record_address(tx: Tx, tenant_id: str, user_id: str, address: str, now_us: int) -> None:
    params = {"tenant_id": tenant_id, "user_id": user_id, "address": address}
    await tx.execute_one(_RECORD_ADDRESS, {**params, "last_at": now_us})


async def reached_until(tx: Tx, limit: FailureLimit, now_us: int) -> int | None:
    """Until when log-ins are refused; None when the limit is not reached."""
    row = await tx.fetch_one(
        _FIND_LIMITING_FAILURE,
        {
            "bucket": limit.bucket,
            "since": ids.lowest(now_us - limit.within_us),
            "until": ids.lowest(now_us + MAX_CLOCK_SKEW_US),
            "offset": limit.count - 1,
        },
    )
    return None if row is None else min(row["failed_at"], now_us) + limit.within_us


async def add_attempt(tx: Tx, bucket: str, attempt_id: str, now_us: int) -> None:
    await tx.execute_one(_ADD_ATTEMPT, {"bucket": bucket, "id": attempt_id, "at": now_us})


async def delete_attempt(tx: Tx, bucket: str, attempt_id: str) -> None:
    await tx.enqueue(_DELETE_ATTEMPT, {"bucket": bucket, "id": attempt_id})


async def delete_bucket(tx: Tx, bucket: str) -> None:
    await tx.enqueue(_DELETE_BUCKET, {"bucket": bucket})


async def delete_buckets(tx: Tx, first: str, end: str) -> None:
    """Delete the failures of the buckets from `first` up to before `end`."""
    await tx.enqueue(_DELETE_BUCKETS, {"first": first, "end": end})


async def end_token(tx: Tx, token_id: str, expires_at: int) -> None:
    await tx.enqueue(_END_TOKEN, {"id": token_id, "expires_at": expires_at})


async def is_ended(tx: Tx, token_id: str) -> bool:
    return await tx.fetch_one(_IS_ENDED, {"id": token_id}) is not None


async def add_reset(
    tx: Tx, tenant_id: str, user_id: str, *, token_hash: bytes, expires_at: int
) -> None:
    await tx.execute_one(
        _ADD_RESET,
        {
            "token_hash": token_hash,
            "tenant_id": tenant_id,
            "user_id": user_id,
            "expires_at": expires_at,
        },
    )


async def find_reset(tx: Tx, token_hash: bytes, now_us: int) -> tuple[str, str] | None:
    """(tenant id, user id) of a reset link that has not expired."""
    row = await tx.fetch_one(_FIND_RESET, {"token_hash": token_hash, "now": now_us})
    return None if row is None else (row["tenant_id"], row["user_id"])


async def delete_resets(tx: Tx, tenant_id: str, user_id: str) -> None:
    await tx.enqueue(_DELETE_RESETS, {"tenant_id": tenant_id, "user_id": user_id})


async def prune_failures(tx: Tx, now_us: int, limit: int) -> int:
    """Delete failures that limit nothing, also future ones, up to `limit`; returns how many."""
    ends = {"before": now_us - LONGEST_LIMIT_US, "after": now_us + MAX_CLOCK_SKEW_US}
    return await tx.execute(_PRUNE_ATTEMPTS, {**ends, "limit": limit})


def _user(row: Row) -> User:
    values = dict(row)
    values["is_active"] = bool(values["is_active"])
    return User(**values)
