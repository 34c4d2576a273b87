"""The SQL of API keys, their used signatures and their refusals."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from sealdesk import ids
from sealdesk.api_keys import rules
from sealdesk.api_keys.types import ApiKey, StoredRefusal
from sealdesk.db.column_lists import column_list, insert_into, insert_once, select_row, update_row
from sealdesk.db.engine import Row, Tx
from sealdesk.resources.paging import PageRequest
from sealdesk.telemetry.counters import Row as UsageRow

_STORED = ApiKey.__struct_fields__
_REFUSAL = StoredRefusal.__struct_fields__
# An UPDATE never sets these.
_FIXED = {"tenant_id", "id", "key_prefix", "last_used_at", "created_at"}
_COLUMNS = column_list(_STORED, "k")

_FIND_HOME = select_row("api_key_directory", "tenant_id, key_id AS id", "key_hash")
_FIND = select_row("api_keys k", _COLUMNS)
_LIST = f"""
SELECT {_COLUMNS} FROM api_keys k WHERE k.tenant_id = :tenant_id AND k.id < :before
ORDER BY k.id DESC LIMIT :limit
"""
_LIST_UNCONFIRMED = f"""
SELECT {_COLUMNS} FROM api_keys k
WHERE k.tenant_id = :tenant_id AND k.unconfirmed_since IS NOT NULL
    AND (k.expires_at IS NULL OR k.expires_at > :valid_at)
ORDER BY k.id DESC LIMIT :limit
"""
_LIST_ACTIVE = """
SELECT id FROM api_keys WHERE tenant_id = :tenant_id AND revoked_at IS NULL
AND (expires_at IS NULL OR expires_at > :valid_at) ORDER BY id LIMIT :limit
"""
_LIST_CREATED = """
SELECT id FROM api_keys WHERE tenant_id = :tenant_id AND id >= :since ORDER BY id LIMIT :limit
"""
_ADD = insert_into("api_keys", _STORED)
_ADD_TO_DIRECTORY = insert_into("api_key_directory", "key_hash tenant_id key_id")
_REPLACE = update_row("api_keys", (name for name in _STORED if name not in _FIXED))
_RECORD_USE = """
UPDATE api_keys SET last_used_at = :now
WHERE tenant_id = :tenant_id AND id = :id AND (last_used_at IS NULL OR last_used_at <= :due)
"""
_USE_SIGNATURE = insert_once(
    "used_signatures", "tenant_id key_id signature", "tenant_id key_id signature expires_at"
)
_IS_SIGNATURE_USED = select_row("used_signatures", "1", "tenant_id key_id signature")
_ADD_REFUSAL = insert_into("refusals", ("tenant_id", "key_id", *_REFUSAL))
_DROP_OLD_REFUSALS = """
DELETE FROM refusals WHERE tenant_id = :tenant_id AND key_id = :key_id AND id <= (
    SELECT id FROM refusals WHERE tenant_id = :tenant_id AND key_id = :key_id
    ORDER BY id DESC LIMIT 1 OFFSET :kept)
"""
_LIST_REFUSALS = f"""
SELECT {column_list(_REFUSAL)} FROM refusals
WHERE tenant_id = :tenant_id AND key_id = :key_id AND id < :before
ORDER BY id DESC LIMIT :limit
"""
_FIND_REFUSAL = select_row("refusals", column_list(_REFUSAL), "tenant_id key_id id")
_LIST_SEALED = """
SELECT id FROM api_keys
WHERE tenant_id = :tenant_id AND id > :after AND sealed_secret IS NOT NULL
ORDER BY id LIMIT :limit
"""
_ADD_USAGE = f"""{insert_into("key_usage", "tenant_id key_id hour_at measure value count")}
ON CONFLICT (tenant_id, key_id, hour_at, measure, value)
    DO UPDATE SET count = key_usage.count + excluded.count
"""
_USAGE_OVER_TIME = """
SELECT hour_at - hour_at % :step AS at, value, CAST(SUM(count) AS BIGINT) AS count FROM key_usage
WHERE tenant_id = :tenant_id AND key_id = :key_id AND hour_at >= :kept_since AND measure = :measure
GROUP BY 1, 2 ORDER BY 1, 2 LIMIT :limit
"""
_USAGE_IN_ALL = """
SELECT value, CAST(SUM(count) AS BIGINT) AS count FROM key_usage
WHERE tenant_id = :tenant_id AND key_id = :key_id AND hour_at >= :kept_since AND measure = :measure
GROUP BY value ORDER BY 2 DESC, value LIMIT :limit
"""
_FEATURES = """
SELECT (SELECT count(*) FROM (SELECT 1 FROM field_definitions WHERE tenant_id = :tenant_id
    LIMIT :limit) f) AS field_count,
    (SELECT count(*) FROM (SELECT 1 FROM sla_policies WHERE tenant_id = :tenant_id
    LIMIT :limit) p) AS policy_count
"""
_TENANT_NAME = "SELECT name FROM tenants WHERE id = :tenant_id LIMIT 1"


class Features(NamedTuple):
    """What a tenant uses, so that nothing reads what it does not use."""

    has_custom_fields: bool
    has_policies: bool


async def find_by_hash(tx: Tx, key_hash: bytes) -> ApiKey | None:
    """The key with this hash, of any tenant: the tenant is not known yet."""
    row = await tx.find_across_tenants(_FIND_HOME, _FIND, {"key_hash": key_hash})
    return None if row is None else _key(row)


async def read_features(tx: Tx, tenant_id: str) -> Features:
    """Whether a tenant has definitions of custom fields, and SLA policies."""
    row = await tx.fetch_one(_FEATURES, {"tenant_id": tenant_id, "limit": 1})
    counts = (0, 0) if row is None else (row["field_count"], row["policy_count"])
    return Features(*map(bool, counts))


async def find(tx: Tx, tenant_id: str, key_id: str) -> ApiKey | None:
    row = await tx.fetch_one(_FIND, {"tenant_id": tenant_id, "id": key_id})
    return None if row is None else _key(row)


async def list_keys(tx: Tx, tenant_id: str, page: PageRequest) -> list[ApiKey]:
    """Newest first; one more than the page when there are more."""
    rows = await tx.fetch_all(_LIST, page.params(tenant_id))
    return [_key(row) for row in rows]


async def list_unconfirmed(tx: Tx, tenant_id: str, now_us: int, limit: int) -> list[ApiKey]:
    """The keys that wait for confirmation and have not expired, newest first."""
    params = {"tenant_id": tenant_id, "valid_at": now_us, "limit": limit}
    return [_key(row) for row in await tx.fetch_all(_LIST_UNCONFIRMED, params)]


async def add(tx: Tx, key: ApiKey, key_hash: bytes) -> None:
    await tx.execute_one(_ADD, _params(key))
    await tx.execute_one(
        _ADD_TO_DIRECTORY, {"key_hash": key_hash, "tenant_id": key.tenant_id, "key_id": key.id}
    )


async def count_active(tx: Tx, tenant_id: str, now_us: int, limit: int) -> int:
    """How many keys are neither revoked nor expired, counted up to the limit."""
    params = {"tenant_id": tenant_id, "valid_at": now_us, "limit": limit}
    return len(await tx.fetch_all(_LIST_ACTIVE, params))


async def list_created(tx: Tx, tenant_id: str, since_us: int, limit: int) -> list[str]:
    """The ids of the keys that were created since then, oldest first."""
    params = {"tenant_id": tenant_id, "since": ids.lowest(since_us), "limit": limit}
    return [row["id"] for row in await tx.fetch_all(_LIST_CREATED, params)]


async def replace(tx: Tx, key: ApiKey) -> None:
    """Store every field that can change, except `last_used_at`."""
    await tx.execute_one(_REPLACE, _params(key))


async def record_use(tx: Tx, tenant_id: str, key_id: str, now_us: int) -> None:
    """Update `last_used_at` if it is at least a minute old."""
    due = now_us - rules.LAST_USED_STEP_US
    await tx.enqueue(_RECORD_USE, {"tenant_id": tenant_id, "id": key_id, "now": now_us, "due": due})


async def use_signature(
    tx: Tx, tenant_id: str, key_id: str, signature: str, expires_at: int
) -> bool:
    """Store a used signature; False when it was used before."""
    params = {"tenant_id": tenant_id, "key_id": key_id, "signature": signature}
    return await tx.execute(_USE_SIGNATURE, {**params, "expires_at": expires_at}) == 1


async def is_signature_used(tx: Tx, tenant_id: str, key_id: str, signature: str) -> bool:
    params = {"tenant_id": tenant_id, "key_id": key_id, "signature": signature}
    return await tx.fetch_one(_IS_SIGNATURE_USED, params) is not None


async def add_refusal(tx: Tx, tenant_id: str, key_id: str, refusal: StoredRefusal) -> None:
    """Store a refusal, and delete the oldest ones above the limit of the key."""
    owner = {"tenant_id": tenant_id, "key_id": key_id}
    await tx.enqueue(_DROP_OLD_REFUSALS, {**owner, "kept": rules.REFUSALS_KEPT - 1})
    await tx.execute_one(_ADD_REFUSAL, {**owner, **msgspec.structs.asdict(refusal)})


async def list_refusals(
    tx: Tx, tenant_id: str, key_id: str, page: PageRequest
) -> list[StoredRefusal]:
    """Newest first; one more than the page when there are more."""
    rows = await tx.fetch_all(_LIST_REFUSALS, {**page.params(tenant_id), "key_id": key_id})
    return [StoredRefusal(*row) for row in rows]


async def find_refusal(
    tx: Tx, tenant_id: str, key_id: str, refusal_id: str
) -> StoredRefusal | None:
    params = {"tenant_id": tenant_id, "key_id": key_id, "id": refusal_id}
    row = await tx.fetch_one(_FIND_REFUSAL, params)
    return None if row is None else StoredRefusal(*row)


async def add_usage(tx: Tx, rows: Iterable[tuple[UsageRow, int]]) -> None:
    """Add to the stored counts; the rows are of one tenant, in a fixed order."""
    await tx.execute_many(_ADD_USAGE, [{**row._asdict(), "count": count} for row, count in rows])


async def statuses_over_time(
    tx: Tx, tenant_id: str, key_id: str, *, since_us: int, step_us: int
) -> list[tuple[int, str, int]]:
    """(start of the step, status, count), oldest first."""
    params = _usage_params(tenant_id, key_id, "status", since_us)
    rows = await tx.fetch_all(_USAGE_OVER_TIME, {**params, "step": step_us, "limit": 2000})
    return [(row["at"], row["value"], row["count"]) for row in rows]


async def usage_in_all(
    tx: Tx, tenant_id: str, key_id: str, measure: str, *, since_us: int, limit: int
) -> list[tuple[str, int]]:
    """(value, count), the most frequent first."""
    params = _usage_params(tenant_id, key_id, measure, since_us)
    rows = await tx.fetch_all(_USAGE_IN_ALL, {**params, "limit": limit})
    return [(row["value"], row["count"]) for row in rows]


async def list_sealed(tx: Tx, tenant_id: str, after: str, limit: int) -> Sequence[str]:
    """The ids of a tenant's keys that have a secret, for resealing."""
    params = {"tenant_id": tenant_id, "after": after, "limit": limit}
    return [row["id"] for row in await tx.fetch_all(_LIST_SEALED, params)]


async def tenant_name(tx: Tx, tenant_id: str) -> str:
    row = await tx.fetch_one(_TENANT_NAME, {"tenant_id": tenant_id})
    return "" if row is None else str(row["name"])


def _usage_params(tenant_id: str, key_id: str, measure: str, since_us: int) -> dict[str, object]:
    return {"tenant_id": tenant_id, "key_id": key_id, "measure": measure, "kept_since": since_us}


def _key(row: Row) -> ApiKey:
    values = list(row)  # read for every request: by index, which is twice as fast as by name
    values[4] = _names(values[4])
    values[6] = None if values[6] is None else _names(values[6])
    return ApiKey(*values)


@lru_cache(maxsize=1024)
def _names(text: str) -> tuple[str, ...]:
    return tuple(msgspec.json.decode(text))


def _params(key: ApiKey) -> dict[str, object]:
    allowed = key.allowed_ips
    return msgspec.structs.asdict(key) | {
        "permissions": msgspec.json.encode(key.permissions).decode(),
        "allowed_ips": None if allowed is None else msgspec.json.encode(allowed).decode(),
    }
