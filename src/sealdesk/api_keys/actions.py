"""Actions of administrators on API keys; each runs in one transaction."""

from collections.abc import Collection
from typing import Any

import msgspec
from msgspec import UNSET

from sealdesk import clock, ids
from sealdesk.api_keys import rules, store
from sealdesk.api_keys.errors import (
    CHANGE_OF_EXPIRED_KEY,
    CHANGE_OF_REVOKED_KEY,
    TOO_MANY_API_KEYS,
    TOO_MANY_NEW_API_KEYS,
)
from sealdesk.api_keys.permissions import DEFAULT_PERMISSIONS, PERMISSIONS
from sealdesk.api_keys.types import (
    ApiKey,
    ApiKeyChange,
    ApiKeyResponse,
    CreatedApiKey,
    NewApiKey,
    RotatedApiKey,
)
from sealdesk.caller import Caller
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db.engine import Tx
from sealdesk.errors import (
    Conflict,
    Fault,
    TooManyRequests,
    gettext_noop,
    invalid,
    must_exist,
)
from sealdesk.event_log import events
from sealdesk.records import audit, test_tenants
from sealdesk.resources.paging import PageRequest
from sealdesk.resources.representation import check_seen

_HOUR_US = 3600 * 1_000_000
_MAX_CONFIRMED = 100
_NEWEST_KEYS = PageRequest(20, None)
_NOT_IN_FUTURE = gettext_noop("This must be in the future; it is %(now)s now.")


async def create_key(
    tx: Tx, caller: Caller, new: NewApiKey, *, key_ring: KeyRing, now_us: int
) -> CreatedApiKey:
    """A new key with its secret, shown once. In a test tenant it is a test key.

    Raises ValidationFailed, Conflict above MAX_ACTIVE_KEYS, TooManyRequests.
    """
    await _check_limits(tx, caller.tenant_id, now_us)
    is_test = await test_tenants.find(tx, caller.tenant_id) is not None
    api_key, api_secret = rules.mint_key("test" if is_test else "live"), rules.mint_secret()
    permissions = DEFAULT_PERMISSIONS if new.permissions is None else new.permissions
    key = ApiKey(
        tenant_id=caller.tenant_id,
        id=ids.mint(now_us),
        name=new.name.strip(),
        key_prefix=rules.prefix_of(api_key),
        permissions=_sort_permissions(permissions),
        rate_limit=rules.DEFAULT_RATE_LIMIT if new.rate_limit is None else new.rate_limit,
        allowed_ips=None if new.allowed_ips is None else tuple(new.allowed_ips),
        replay_protection=new.replay_protection,
        expires_at=_parse_expiry(new.expires_at, now_us),
        revoked_at=None,
        last_used_at=None,
        sealed_secret=None,
        secret_version=1,
        created_at=now_us,
    )
    key = _with_secret(key, api_secret, key_ring)
    await store.add(tx, key, rules.hash_of(api_key))
    await _record(tx, caller, "api_key.created", key, now_us)
    return CreatedApiKey(**rules.shown(key, now_us), api_key=api_key, api_secret=api_secret)


async def find_duplicate_key(tx: Tx, tenant_id: str, name: str, seen: str) -> ApiKey | None:
    """A key with this name that was created after the key with the id `seen`."""
    await _lock_keys(tx, tenant_id)
    newest = await store.list_keys(tx, tenant_id, _NEWEST_KEYS)
    return next((key for key in newest if key.id > seen and key.name == name.strip()), None)


async def change_key(
    tx: Tx, caller: Caller, key_id: str, change: ApiKeyChange, *, now_us: int, seen: str = ""
) -> ApiKeyResponse:
    """Change the given fields. seen: the settings_hash that the caller has seen, "" for any.

    Raises NotFound, Conflict for a revoked or expired key, PreconditionFailed, ValidationFailed.
    """
    await _lock(tx, caller.tenant_id, key_id)
    key = await _get_active(tx, caller.tenant_id, key_id, now_us)
    check_seen(seen, rules.settings_hash(key))
    changed = msgspec.structs.replace(key, **_changed_fields(change, now_us))
    if changed != key:
        await store.replace(tx, changed)
        await _record(tx, caller, "api_key.updated", changed, now_us, before=key)
    return ApiKeyResponse(**rules.shown(changed, now_us))


async def revoke_key(tx: Tx, caller: Caller, key_id: str, *, now_us: int) -> None:
    """Revoke a key and destroy its secret; idempotent. Raises NotFound."""
    await _lock(tx, caller.tenant_id, key_id)
    key = await get_key(tx, caller.tenant_id, key_id)
    if key.revoked_at is not None:
        return
    revoked = msgspec.structs.replace(
        key, revoked_at=now_us, sealed_secret=None, unconfirmed_since=None
    )
    await store.replace(tx, revoked)
    await _record(tx, caller, "api_key.revoked", revoked, now_us, before=key)


async def rotate_key(
    tx: Tx, caller: Caller, key_id: str, *, key_ring: KeyRing, now_us: int, seen: str = ""
) -> RotatedApiKey:
    """A new secret for the same key, which needs no confirmation; the old one stops working.

    seen: the version of the secret that the caller has seen, "" for any.
    Raises NotFound, Conflict for a revoked or expired key, PreconditionFailed.
    """
    await _lock(tx, caller.tenant_id, key_id)
    key = await _get_active(tx, caller.tenant_id, key_id, now_us)
    check_seen(seen, str(key.secret_version))
    api_secret = rules.mint_secret()
    rotated = msgspec.structs.replace(
        key, secret_version=key.secret_version + 1, unconfirmed_since=None
    )
    rotated = _with_secret(rotated, api_secret, key_ring)
    await store.replace(tx, rotated)
    await _record(tx, caller, "api_key.rotated", rotated, now_us)
    return RotatedApiKey(**rules.shown(rotated, now_us), api_secret=api_secret)


async def confirm_key(tx: Tx, caller: Caller, key_id: str, *, now_us: int) -> ApiKeyResponse:
    """Let a key be used that was restored from a backup; idempotent.

    Raises NotFound, Conflict for a revoked or expired key.
    """
    await _lock(tx, caller.tenant_id, key_id)
    key = await _get_active(tx, caller.tenant_id, key_id, now_us)
    confirmed = msgspec.structs.replace(key, unconfirmed_since=None)
    if confirmed != key:
        await store.replace(tx, confirmed)
        await _record(tx, caller, "api_key.updated", confirmed, now_us, before=key)
    return ApiKeyResponse(**rules.shown(confirmed, now_us))


async def confirm_keys(
    tx: Tx, caller: Caller, *, known_revoked: Collection[str], now_us: int
) -> int:
    """Confirm up to 100 keys of a tenant that have not expired; how many.

    known_revoked: keys that were revoked after the backup.
    """
    waiting = await store.list_unconfirmed(tx, caller.tenant_id, now_us, _MAX_CONFIRMED)
    usable = [key.id for key in waiting if key.id not in known_revoked]
    for key_id in usable:
        await confirm_key(tx, caller, key_id, now_us=now_us)
    return len(usable)


async def get_key(tx: Tx, tenant_id: str, key_id: str) -> ApiKey:
    """Raises NotFound."""
    return must_exist(await store.find(tx, tenant_id, key_id))


async def reseal_key(tx: Tx, tenant_id: str, key_id: str, *, key_ring: KeyRing) -> bool:
    """Seal a key's secret under the ring's first master key; False when it already is."""
    await _lock(tx, tenant_id, key_id)
    key = await get_key(tx, tenant_id, key_id)
    if key.sealed_secret is None or key_ring.is_current(key.sealed_secret):
        return False
    secret = rules.open_secret(key, key_ring)
    await store.replace(tx, _with_secret(key, secret, key_ring))
    return True


async def _lock_keys(tx: Tx, tenant_id: str) -> None:
    """Serialize the creation of a tenant's keys, so that they can be counted."""
    await tx.lock("api_keys", tenant_id)


async def _check_limits(tx: Tx, tenant_id: str, now_us: int) -> None:
    """Raises Conflict, TooManyRequests."""
    await _lock_keys(tx, tenant_id)
    limit = rules.MAX_ACTIVE_KEYS
    if await store.count_active(tx, tenant_id, now_us, limit) >= limit:
        raise Conflict(TOO_MANY_API_KEYS, limit=limit)
    limit = rules.MAX_NEW_KEYS_PER_HOUR
    created = await store.list_created(tx, tenant_id, now_us - _HOUR_US, limit)
    if len(created) >= limit:
        wait_us = ids.instant_of(created[0]) + _HOUR_US - now_us
        raise TooManyRequests(
            TOO_MANY_NEW_API_KEYS, limit=limit, wait_s=max(1, -(-wait_us // 1_000_000))
        )


async def _lock(tx: Tx, tenant_id: str, key_id: str) -> None:
    """Serialize concurrent changes of one key, so that none is lost."""
    await tx.lock(f"api_key {key_id}", tenant_id)


async def _get_active(tx: Tx, tenant_id: str, key_id: str, now_us: int) -> ApiKey:
    key = await get_key(tx, tenant_id, key_id)
    if key.revoked_at is not None:
        raise Conflict(CHANGE_OF_REVOKED_KEY)
    if rules.is_expired(key, now_us):
        raise Conflict(CHANGE_OF_EXPIRED_KEY)
    return key


def _with_secret(key: ApiKey, secret: str, key_ring: KeyRing) -> ApiKey:
    return msgspec.structs.replace(
        key, sealed_secret=key_ring.seal(secret, rules.seal_context(key))
    )


def _sort_permissions(permissions: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return tuple(name for name in PERMISSIONS if name in permissions)


def _changed_fields(change: ApiKeyChange, now_us: int) -> dict[str, Any]:
    """The fields that a change contains, as they are stored."""
    fields = {k: v for k, v in msgspec.structs.asdict(change).items() if v is not UNSET}
    if "name" in fields:
        fields["name"] = fields["name"].strip()
    if "permissions" in fields:
        fields["permissions"] = _sort_permissions(fields["permissions"])
    if fields.get("allowed_ips") is not None:
        fields["allowed_ips"] = tuple(fields["allowed_ips"])
    if "expires_at" in fields:
        fields["expires_at"] = _parse_expiry(fields["expires_at"], now_us)
    return fields


def _parse_expiry(text: str | None, now_us: int) -> int | None:
    if text is None:
        return None
    at_us = clock.parse_instant(text)
    if at_us is None or at_us <= now_us:
        values = {"now": clock.iso(now_us)}
        raise invalid([Fault("/expires_at", "expires_at_in_past", _NOT_IN_FUTURE, values)])
    return at_us


async def _record(
    tx: Tx,
    caller: Caller,
    action: events.EventType,
    key: ApiKey,
    now_us: int,
    *,
    before: ApiKey | None = None,
) -> None:
    """Record a change of a key as an event and in the audit log."""
    new_fields = rules.shown(key, now_us)
    changes = events.NO_CHANGES
    if before is not None:
        old_fields = rules.shown(before, now_us)
        changes = {
            n: (old_fields[n], new_fields[n]) for n in new_fields if old_fields[n] != new_fields[n]
        }
    document = msgspec.json.encode(ApiKeyResponse(**new_fields))
    await events.record(tx, caller.tenant_id, action, document, changes, now_us)
    await audit.record(tx, caller, action, key.id, {"name": key.name, "changes": changes}, now_us)
