"""The SQL of the delivery log: lists of deliveries, and sending many of them again."""

from sealdesk import clock, ids
from sealdesk.db.column_lists import column_list
from sealdesk.db.engine import Row, Tx
from sealdesk.resources.paging import PageRequest
from sealdesk.webhooks import rules
from sealdesk.webhooks.types import TEST, AttemptSummary, Delivery, DeliveryFilter, DeliveryResponse

_DELIVERY = column_list(Delivery.__struct_fields__, "d")
_DELIVERY_COLUMNS = len(Delivery.__struct_fields__)
_SUMMARY = "a.number, a.sent_at, a.duration_ms, a.status AS answer_status, a.error"
_WITH_LAST_ATTEMPT = """d LEFT JOIN attempts a
    ON a.tenant_id = :tenant_id AND a.delivery_id = d.id AND a.number = d.attempt_count
ORDER BY d.id DESC"""
_LISTED = f"""
SELECT {_DELIVERY}, {_SUMMARY} FROM (SELECT {_DELIVERY} FROM deliveries d
    WHERE d.tenant_id = :tenant_id AND d.endpoint_id = :endpoint_id AND d.id < :before"""
_NEWEST_FIRST = f"ORDER BY d.id DESC LIMIT :limit) {_WITH_LAST_ATTEMPT}"
_CONDITIONS = {
    "status": " AND d.status = :status",
    "event_type": " AND d.event_type = :event_type",
    "oldest_id": " AND d.id >= :oldest_id",
    "newest_id": " AND d.id < :newest_id",
}
_LAST_DELIVERIES = f"""
SELECT {_DELIVERY}, {_SUMMARY} FROM endpoints e
JOIN deliveries d ON d.tenant_id = :tenant_id AND d.id = (SELECT x.id FROM deliveries x
    WHERE x.tenant_id = :tenant_id AND x.endpoint_id = e.id ORDER BY x.id DESC LIMIT 1)
LEFT JOIN attempts a
    ON a.tenant_id = :tenant_id AND a.delivery_id = d.id AND a.number = d.attempt_count
WHERE e.tenant_id = :tenant_id AND e.deleted_at IS NULL ORDER BY e.id DESC LIMIT :limit
"""
_RESTART_FAILED = """
UPDATE deliveries SET status = 'pending', due_at = :now, retry_count = 0
WHERE tenant_id = :tenant_id AND id IN (SELECT id FROM deliveries
    WHERE tenant_id = :tenant_id AND endpoint_id = :endpoint_id AND status = 'failed'
        AND id >= :oldest_id AND event_type <> :test
    ORDER BY id LIMIT :limit)
"""
_COUNT_FAILED = """
SELECT count(*) AS found FROM (SELECT d.id FROM deliveries d
    WHERE d.tenant_id = :tenant_id AND d.endpoint_id = :endpoint_id AND d.status = 'failed'
        AND d.id >= :oldest_id AND d.event_type <> :test
    ORDER BY d.id LIMIT :limit) AS failed
"""
_RETRY_WAITING = """
UPDATE deliveries SET due_at = :now
WHERE tenant_id = :tenant_id AND id IN (SELECT id FROM deliveries
    WHERE tenant_id = :tenant_id AND endpoint_id = :endpoint_id AND due_at > :now
    ORDER BY due_at, id LIMIT :limit)
"""


async def list_deliveries(
    tx: Tx, tenant_id: str, endpoint_id: str, page: PageRequest, wanted: DeliveryFilter
) -> list[DeliveryResponse]:
    """Newest first; one more than the page when there are more.

    Use `read_unindexed` with an event type, which no index serves.
    """
    after, before = wanted.created_after, wanted.created_before
    values = {
        "status": wanted.status,
        "event_type": wanted.event_type,
        # Ids begin with the time of creation.
        "oldest_id": None if after is None else ids.lowest(after),
        "newest_id": None if before is None else ids.lowest(before),
    }
    given = {name: value for name, value in values.items() if value is not None}
    params = page.params(tenant_id) | {"endpoint_id": endpoint_id}
    conditions = "".join(_CONDITIONS[name] for name in given)
    sql = f"{_LISTED}{conditions} {_NEWEST_FIRST}"
    return [_delivery_response(row) for row in await tx.fetch_all(sql, params | given)]


async def last_deliveries(tx: Tx, tenant_id: str, limit: int) -> dict[str, DeliveryResponse]:
    """Endpoint id → its newest delivery, for the newest endpoints that have deliveries."""
    rows = await tx.fetch_all(_LAST_DELIVERIES, {"tenant_id": tenant_id, "limit": limit})
    return {row["endpoint_id"]: _delivery_response(row) for row in rows}


async def restart_failed(
    tx: Tx, tenant_id: str, endpoint_id: str, since_us: int, *, now_us: int, limit: int
) -> int:
    """Restart the schedules of the oldest failed deliveries since then; how many."""
    params = _failed_since(tenant_id, endpoint_id, since_us, limit)
    return await tx.execute(_RESTART_FAILED, {**params, "now": now_us})


async def count_failed(
    tx: Tx, tenant_id: str, endpoint_id: str, since_us: int, *, limit: int
) -> int:
    """How many deliveries since then have failed, counted up to the limit."""
    params = _failed_since(tenant_id, endpoint_id, since_us, limit)
    row = await tx.fetch_one(_COUNT_FAILED, params)
    return int(row["found"]) if row else 0


async def retry_waiting(
    tx: Tx, tenant_id: str, endpoint_id: str, *, now_us: int, limit: int
) -> int:
    """Make deliveries due that wait for their next attempt; how many."""
    params = {"tenant_id": tenant_id, "endpoint_id": endpoint_id, "limit": limit, "now": now_us}
    return await tx.execute(_RETRY_WAITING, params)


def _failed_since(
    tenant_id: str, endpoint_id: str, since_us: int, limit: int
) -> dict[str, str | int]:
    owned = {"tenant_id": tenant_id, "endpoint_id": endpoint_id, "test": TEST}
    return {**owned, "oldest_id": ids.lowest(since_us), "limit": limit}


def _delivery_response(row: Row) -> DeliveryResponse:
    return rules.delivery_response(Delivery(*tuple(row)[:_DELIVERY_COLUMNS]), _summary(row))


def _summary(row: Row) -> AttemptSummary | None:
    if row["number"] is None:
        return None
    sent_at = clock.iso(row["sent_at"])
    result = (row["answer_status"], row["error"])
    return AttemptSummary(row["number"], sent_at, row["duration_ms"], *result)
