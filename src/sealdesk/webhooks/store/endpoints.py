"""The SQL of managing webhook endpoints, their deliveries and replays."""

from collections.abc import Sequence

import msgspec

from sealdesk.db.column_lists import column_list, insert_into, parameter_list, select_row
from sealdesk.db.engine import Params, Row, SerializationConflict, StructRows, Tx
from sealdesk.event_log import positions
from sealdesk.records import test_tenants
from sealdesk.records.endpoints import WAKE
from sealdesk.resources.paging import PageRequest, take_page
from sealdesk.webhooks.types import Attempt, Delivery, Endpoint, Replay

ENDPOINTS = StructRows(Endpoint)
COLUMNS = column_list(ENDPOINTS.columns)
_NEW_VALUES = parameter_list(ENDPOINTS.columns)
_FIND = f"""
SELECT {COLUMNS} FROM endpoints
WHERE tenant_id = :tenant_id AND id = :id AND deleted_at IS NULL LIMIT 1
"""
_LIST = f"""
SELECT {COLUMNS} FROM endpoints
WHERE tenant_id = :tenant_id AND id < :before AND deleted_at IS NULL ORDER BY id DESC LIMIT :limit
"""
_LIST_SEALED = """
SELECT id FROM endpoints
WHERE tenant_id = :tenant_id AND id > :after AND sealed_secret IS NOT NULL ORDER BY id LIMIT :limit
"""
_LAST_POSITION = """coalesce(
    (SELECT max(f.last_position) FROM feed_positions f WHERE f.tenant_id = :tenant_id), 0)"""
_ADD = f"""
INSERT INTO endpoints ({COLUMNS}, due_at, leased_until, wakes, deleted_at, starts_after)
VALUES ({_NEW_VALUES}, NULL, NULL, 0, NULL, :starts_after)
"""
# Does not set the columns that the background loop also changes.
_UPDATE = """
UPDATE endpoints SET url = :url, events = :events, description = :description
WHERE tenant_id = :tenant_id AND id = :id AND deleted_at IS NULL
"""
_STORE_SECRETS = """
UPDATE endpoints SET sealed_secret = :sealed_secret, secret_version = :secret_version,
    sealed_old_secret = :sealed_old_secret, old_secret_until = :old_secret_until
WHERE tenant_id = :tenant_id AND id = :id AND deleted_at IS NULL
"""
_PAUSE = """
UPDATE endpoints SET is_active = FALSE, due_at = NULL, wakes = wakes + 1
WHERE tenant_id = :tenant_id AND id = :id AND is_active AND deleted_at IS NULL
"""
_RESUME = f"""
UPDATE endpoints SET is_active = TRUE, disabled_reason = NULL, failing_since = NULL,
    due_at = :now, wakes = wakes + 1, starts_after = {_LAST_POSITION}
WHERE tenant_id = :tenant_id AND id = :id AND deleted_at IS NULL
"""
_DELETE = """
UPDATE endpoints SET deleted_at = :now, is_active = FALSE, sealed_secret = NULL,
    sealed_old_secret = NULL, old_secret_until = NULL, due_at = NULL, wakes = wakes + 1
WHERE tenant_id = :tenant_id AND id = :id AND deleted_at IS NULL
"""

_DELIVERY = column_list(Delivery.__struct_fields__, "d")
_FIND_DELIVERY = select_row("deliveries d", _DELIVERY, "tenant_id id endpoint_id")
_ADD_DELIVERY = insert_into("deliveries", Delivery.__struct_fields__)
_RESTART_DELIVERY = """
UPDATE deliveries SET status = 'pending', due_at = :now, retry_count = 0
WHERE tenant_id = :tenant_id AND id = :id
"""
_ATTEMPT = Attempt.__struct_fields__
_ADD_ATTEMPT = insert_into("attempts", ("tenant_id", "delivery_id", *_ATTEMPT))
_LARGE = ("url", "request_headers", "answer_headers", "answer_body")
_MAX_ATTEMPTS_BYTES = 128 * 1024  # as HTML they can be five times as long
_LIST_ATTEMPTS = f"""
SELECT {column_list(_ATTEMPT)} FROM attempts
WHERE tenant_id = :tenant_id AND delivery_id = :delivery_id ORDER BY number DESC LIMIT :limit
"""
_EVENT = "id, type, object, changes, created_at"
_FIND_EVENT = f"""
SELECT {_EVENT} FROM events WHERE tenant_id = :tenant_id AND id = :id
UNION ALL SELECT {_EVENT} FROM event_outbox WHERE tenant_id = :tenant_id AND id = :id LIMIT 1
"""

_REPLAY = column_list(Replay.__struct_fields__)
_ADD_REPLAY = insert_into("replays", Replay.__struct_fields__)
_FIND_OPEN_REPLAY = f"""
SELECT {_REPLAY} FROM replays
WHERE tenant_id = :tenant_id AND endpoint_id = :endpoint_id AND finished_at IS NULL LIMIT 1
"""
_LIST_REPLAYS = f"""
SELECT {_REPLAY} FROM replays
WHERE tenant_id = :tenant_id AND endpoint_id = :endpoint_id AND id < :before
ORDER BY id DESC LIMIT :limit
"""


async def find(tx: Tx, tenant_id: str, endpoint_id: str) -> Endpoint | None:
    """The endpoint unless it is deleted."""
    return await ENDPOINTS.find(tx, _FIND, {"tenant_id": tenant_id, "id": endpoint_id})


async def list_endpoints(tx: Tx, tenant_id: str, page: PageRequest) -> list[Endpoint]:
    """Newest first; one more than the page when there are more."""
    return [ENDPOINTS.read(row) for row in await tx.fetch_all(_LIST, page.params(tenant_id))]


async def list_sealed(tx: Tx, tenant_id: str, after: str, limit: int) -> Sequence[str]:
    """The ids of a tenant's endpoints that have a secret, for resealing."""
    params = {"tenant_id": tenant_id, "after": after, "limit": limit}
    return [row["id"] for row in await tx.fetch_all(_LIST_SEALED, params)]


async def add(tx: Tx, endpoint: Endpoint) -> None:
    # On its own: a PostgreSQL of several nodes refuses a SELECT among the values of an INSERT.
    ends = await positions.find_ends(tx, endpoint.tenant_id)
    await tx.execute_one(_ADD, {**ENDPOINTS.params(endpoint), "starts_after": ends.last})


async def update(tx: Tx, endpoint: Endpoint) -> None:
    """Store the URL, event types and description of an endpoint."""
    await tx.execute_one(_UPDATE, ENDPOINTS.params(endpoint))


async def store_secrets(tx: Tx, endpoint: Endpoint) -> None:
    await tx.execute_one(_STORE_SECRETS, ENDPOINTS.params(endpoint))


async def pause(tx: Tx, tenant_id: str, endpoint_id: str) -> None:
    """Stop sending to an active endpoint."""
    await _change_one(tx, _PAUSE, {"tenant_id": tenant_id, "id": endpoint_id})


async def resume(tx: Tx, tenant_id: str, endpoint_id: str, now_us: int) -> None:
    """Activate an inactive endpoint, and reset its failures."""
    real_us = now_us - await test_tenants.find_offset_us(tx, tenant_id)
    params = {"tenant_id": tenant_id, "id": endpoint_id, "now": real_us}
    await _change_one(tx, _RESUME, params)


async def wake(tx: Tx, tenant_id: str, endpoint_id: str, now_us: int) -> None:
    """Make an active endpoint due now, so the background loop handles it."""
    real_us = now_us - await test_tenants.find_offset_us(tx, tenant_id)
    await tx.execute_one(WAKE, {"tenant_id": tenant_id, "id": endpoint_id, "now": real_us})


async def delete(tx: Tx, tenant_id: str, endpoint_id: str, now_us: int) -> None:
    """Mark an endpoint as deleted, and delete its secrets."""
    await tx.execute_one(_DELETE, {"tenant_id": tenant_id, "id": endpoint_id, "now": now_us})


async def find_delivery(
    tx: Tx, tenant_id: str, endpoint_id: str, delivery_id: str
) -> Delivery | None:
    params = {"tenant_id": tenant_id, "endpoint_id": endpoint_id, "id": delivery_id}
    row = await tx.fetch_one(_FIND_DELIVERY, params)
    return None if row is None else Delivery(*row)


async def add_delivery(tx: Tx, delivery: Delivery) -> None:
    await tx.execute_one(_ADD_DELIVERY, msgspec.structs.asdict(delivery))


async def restart_delivery(tx: Tx, tenant_id: str, delivery_id: str, now_us: int) -> None:
    """Restart the retry schedule of a delivery now."""
    await tx.execute_one(
        _RESTART_DELIVERY, {"tenant_id": tenant_id, "id": delivery_id, "now": now_us}
    )


async def add_attempt(tx: Tx, tenant_id: str, delivery_id: str, attempt: Attempt) -> None:
    of = {"tenant_id": tenant_id, "delivery_id": delivery_id}
    await tx.execute_one(_ADD_ATTEMPT, {**of, **msgspec.structs.asdict(attempt)})


async def list_attempts(tx: Tx, tenant_id: str, delivery_id: str, limit: int) -> list[Attempt]:
    """The most recent attempts, oldest first: up to `limit`, and of at most 128 KiB."""
    params = {"tenant_id": tenant_id, "delivery_id": delivery_id, "limit": limit}
    page = PageRequest(limit, None, _MAX_ATTEMPTS_BYTES)
    rows = await tx.fetch_page(_LIST_ATTEMPTS, params, _LARGE, page.max_bytes)
    newest = take_page(
        rows, page, lambda row: sum(len((row[name] or "").encode()) for name in _LARGE)
    )
    return [Attempt(*(row[name] for name in _ATTEMPT)) for row in reversed(newest)]


async def find_event(tx: Tx, tenant_id: str, event_id: str) -> Row | None:
    """The row for `events.payload`; None after it is deleted."""
    return await tx.fetch_one(_FIND_EVENT, {"tenant_id": tenant_id, "id": event_id})


async def add_replay(tx: Tx, replay: Replay) -> None:
    await tx.execute_one(_ADD_REPLAY, msgspec.structs.asdict(replay))


async def find_open_replay(tx: Tx, tenant_id: str, endpoint_id: str) -> Replay | None:
    """The unfinished replay of an endpoint."""
    params = {"tenant_id": tenant_id, "endpoint_id": endpoint_id}
    row = await tx.fetch_one(_FIND_OPEN_REPLAY, params)
    return None if row is None else Replay(*row)


async def list_replays(tx: Tx, tenant_id: str, endpoint_id: str, page: PageRequest) -> list[Replay]:
    """Newest first; one more than the page when there are more."""
    params = {**page.params(tenant_id), "endpoint_id": endpoint_id}
    return [Replay(*row) for row in await tx.fetch_all(_LIST_REPLAYS, params)]


async def _change_one(tx: Tx, sql: str, params: Params) -> None:
    # Not enqueued: a later statement of this transaction may change the same row.
    if await tx.execute(sql, params) != 1:
        raise SerializationConflict
