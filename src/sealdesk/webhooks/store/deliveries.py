"""The SQL of delivery: leases of endpoints, due deliveries, and results of attempts."""

from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

import msgspec

from sealdesk import ids
from sealdesk.db.column_lists import delete_row, select_row, update_row
from sealdesk.db.engine import Params, Row, Tx
from sealdesk.records.test_tenants import OFFSET
from sealdesk.webhooks.store.endpoints import COLUMNS, ENDPOINTS
from sealdesk.webhooks.types import Attempt, DeliveryStatus, Endpoint

# Of one delivery: an endpoint that always says when to try again gets many.
KEPT_ATTEMPTS = 100
_PULLED_AT_ONCE = 200
_OUTBOX_REST_US = 50_000  # the rest of the sequencer
_UNLEASED = """FROM endpoints
WHERE due_at <= :now AND (leased_until IS NULL OR leased_until <= :now)
    AND is_active AND deleted_at IS NULL AND failing_since IS"""
FIND_BACKLOG = f"""
SELECT EXISTS (SELECT 1 FROM replays WHERE finished_at IS NULL) AS has_replays,
    EXISTS (SELECT 1 FROM fan_out_backlogs) AS has_late_events,
    EXISTS (SELECT 1 {_UNLEASED} NULL) AS has_healthy,
    EXISTS (SELECT 1 {_UNLEASED} NOT NULL) AS has_failing
"""
_CLAIM_HEALTHY = f"SELECT {COLUMNS} {_UNLEASED} NULL ORDER BY due_at, id LIMIT :limit"
_CLAIM_FAILING = f"SELECT {COLUMNS} {_UNLEASED} NOT NULL ORDER BY due_at, id LIMIT :limit"
_LEASE = "UPDATE endpoints SET leased_until = :until WHERE tenant_id = :tenant_id AND id = :id"
_RENEW = f"{_LEASE} AND leased_until = :lease"
_FIRST_DUE = """FROM deliveries d WHERE d.tenant_id = :tenant_id AND d.endpoint_id = :id
    AND d.due_at IS NOT NULL ORDER BY d.due_at, d.id LIMIT 1"""
# is_waiting: whether the event of the first due delivery is in the outbox.
_STATE = f"""
SELECT e.wakes, e.leased_until, e.is_active, e.failing_since, e.recovered_at,
    (SELECT d.due_at {_FIRST_DUE}) - {OFFSET} AS due_at,
    EXISTS (SELECT 1 FROM event_outbox o WHERE o.tenant_id = :tenant_id
        AND o.id = (SELECT d.event_id {_FIRST_DUE})) AS is_waiting
FROM endpoints e WHERE e.tenant_id = :tenant_id AND e.id = :id LIMIT 1
"""
_RELEASE = """
UPDATE endpoints SET leased_until = NULL, due_at = :due_at, recovered_at = :recovered_at
WHERE tenant_id = :tenant_id AND id = :id AND leased_until = :lease AND wakes = :wakes
"""
_END_ALL_LEASES = "UPDATE endpoints SET leased_until = NULL WHERE leased_until IS NOT NULL"

_ENDPOINT = select_row("endpoints", COLUMNS)
_DUE = f"""
SELECT d.id AS delivery_id, d.event_id, d.attempt_count, d.retry_count, d.due_at,
    {OFFSET} AS clock_offset_us, e.id, e.type, e.object, e.changes, e.created_at
FROM (SELECT id, event_id, attempt_count, retry_count, due_at FROM deliveries
    WHERE tenant_id = :tenant_id AND endpoint_id = :id AND due_at <= :now + {OFFSET}
        AND (due_at, id) > (:after_due_at, :after_id)
        AND NOT EXISTS (SELECT 1 FROM event_outbox o
            WHERE o.tenant_id = :tenant_id AND o.id = deliveries.event_id)
    ORDER BY due_at, id LIMIT :limit) d
LEFT JOIN events e ON e.tenant_id = :tenant_id AND e.id = d.event_id
ORDER BY d.due_at, d.id
"""

# Adds nothing to a deleted delivery, and no second attempt with the same number.
_ADD_ATTEMPT = """
INSERT INTO attempts (tenant_id, delivery_id, number, sent_at, duration_ms, url, request_headers,
    status, answer_headers, answer_body, error)
SELECT tenant_id, id, :number, :sent_at, :duration_ms, :url, :request_headers, :status,
    :answer_headers, :answer_body, :error
FROM deliveries WHERE tenant_id = :tenant_id AND id = :delivery_id
ON CONFLICT (tenant_id, delivery_id, number) DO NOTHING
"""
_DELETE_ATTEMPT = delete_row("attempts", "tenant_id delivery_id number")
_UPDATE_DELIVERY = update_row("deliveries", "status due_at attempt_count retry_count")
_SET_FAILING_SINCE = """
UPDATE endpoints SET failing_since = :failing_since,
    recovered_at = coalesce(:recovered_at, recovered_at)
WHERE tenant_id = :tenant_id AND id = :id
"""
# Of the deliveries that failed in the outage, and at most once each. A failure of this attempt
# counts no more than the one before, so that no outage uses up a schedule.
_PULL_FORWARD = f"""
UPDATE deliveries SET due_at = :now + {OFFSET},
    retry_count = CASE WHEN retry_count > 0 THEN retry_count - 1 ELSE 0 END
WHERE tenant_id = :tenant_id AND id IN (SELECT d.id FROM deliveries d
    JOIN attempts a
        ON a.tenant_id = :tenant_id AND a.delivery_id = d.id AND a.number = d.attempt_count
    WHERE d.tenant_id = :tenant_id AND d.endpoint_id = :id AND d.due_at > :now + {OFFSET}
        AND d.id > :oldest_id AND a.sent_at < :recovered_at
    ORDER BY d.due_at, d.id LIMIT :limit)
"""
# A shorter failure than an outage, for which a Retry-After asked that is longer than it was: once,
# as it counts from then on.
_PULL_REQUESTED = f"""
UPDATE deliveries SET due_at = :due_at + {OFFSET}, retry_count = 1
WHERE tenant_id = :tenant_id AND endpoint_id = :id AND due_at > :due_at + {OFFSET}
    AND retry_count = 0 AND attempt_count > 0
"""
_DISABLE = """
UPDATE endpoints SET is_active = FALSE, disabled_reason = :reason, due_at = NULL,
    wakes = wakes + 1
WHERE tenant_id = :tenant_id AND id = :id AND is_active AND deleted_at IS NULL
"""

_OLD = """
SELECT id FROM deliveries WHERE tenant_id = :tenant_id AND id < :before ORDER BY id LIMIT :limit
"""
_OF_DELETED = """
SELECT id FROM deliveries WHERE tenant_id = :tenant_id AND endpoint_id = :endpoint_id
ORDER BY id LIMIT :limit
"""
_PRUNE_ATTEMPTS = "DELETE FROM attempts WHERE tenant_id = :tenant_id AND delivery_id = :id"
_PRUNE_DELIVERY = delete_row("deliveries")
_PRUNE_REPLAYS = """
DELETE FROM replays WHERE tenant_id = :tenant_id AND id IN
    (SELECT id FROM replays WHERE tenant_id = :tenant_id AND id < :before
        AND finished_at IS NOT NULL ORDER BY id LIMIT :limit)
"""
_DELETED = """
SELECT tenant_id, id FROM endpoints WHERE deleted_at < :before ORDER BY deleted_at, id LIMIT 1
"""
_PRUNE_REPLAYS_OF = delete_row("replays", "tenant_id endpoint_id")
_PRUNE_ENDPOINT = "DELETE FROM endpoints WHERE tenant_id = :tenant_id AND id = :endpoint_id"


class Backlog(NamedTuple):
    """Whether there are unfinished replays, backlogs of the fan-out, and due endpoints.

    has_healthy, has_failing: endpoints without a lease.
    """

    has_replays: bool
    has_late_events: bool
    has_healthy: bool
    has_failing: bool


class DuePosition(NamedTuple):
    """A position among the due deliveries of an endpoint."""

    due_at: int
    delivery_id: str


class DueDelivery(NamedTuple):
    """A delivery that is due. event: the row for `events.payload`; None when it is pruned."""

    delivery_id: str
    event_id: str
    attempt_count: int
    retry_count: int
    position: DuePosition
    event: Row | None
    clock_offset_us: int = 0  # of the test clock of its tenant


class DeliveryResult(NamedTuple):
    """The result of an attempt, with the new state of its delivery and its endpoint.

    has_changed: whether failing_since has changed. recovered_at: now, when the result ends an
    outage of the endpoint. disabled_reason: why the result
    disables the endpoint; None when it does not.
    """

    endpoint: Endpoint
    delivery_id: str
    attempt: Attempt
    status: DeliveryStatus
    retry_count: int
    due_at: int | None
    failing_since: int | None
    has_changed: bool
    recovered_at: int | None
    disabled_reason: str | None


START = DuePosition(-1, "")


async def find_backlog(tx: Tx, now_us: int) -> Backlog:
    (row,) = await tx.fetch_all(FIND_BACKLOG, {"now": now_us})
    return Backlog(*map(bool, row))


async def lease_endpoints(
    tx: Tx, now_us: int, until_us: int, *, healthy: int, failing: int
) -> list[Endpoint]:
    """Lease due endpoints. healthy, failing: the most of each."""
    endpoints: list[Endpoint] = []
    for sql, limit in ((_CLAIM_HEALTHY, healthy), (_CLAIM_FAILING, failing)):
        if limit:
            rows = await tx.select_for_update(sql, {"now": now_us, "limit": limit})
            endpoints += map(ENDPOINTS.read, rows)
    await tx.execute_many(_LEASE, [{**_key(one), "until": until_us} for one in endpoints])
    return endpoints


async def renew(tx: Tx, endpoint: Endpoint, lease: int, until_us: int) -> Endpoint | None:
    """Extend a lease; the current endpoint, None when another process has leased it."""
    is_ours = await tx.execute(_RENEW, {**_key(endpoint), "lease": lease, "until": until_us})
    return await find(tx, endpoint) if is_ours else None


async def release(
    tx: Tx, endpoint: Endpoint, lease: int, now_us: int, *, waits_us: int, at_once: bool
) -> bool:
    """End the lease of an endpoint.

    waits_us: how old a delivery may be that is pulled forward after an outage.
    at_once: even when deliveries are due; otherwise False then.
    """
    state = await tx.fetch_one(_STATE, _key(endpoint))
    if state is None or state["leased_until"] != lease:
        return True
    due_at = state["due_at"] if state["is_active"] else None
    recovered_at = state["recovered_at"]
    if due_at is not None and due_at <= now_us:
        if not at_once and not state["is_waiting"]:
            return False
        # After endpoints that have waited longer; an event in the outbox cannot be sent yet.
        due_at = now_us + _OUTBOX_REST_US * state["is_waiting"]
    elif due_at is not None and recovered_at is not None and state["failing_since"] is None:
        if at_once:
            due_at = now_us
        elif await _pull_forward(tx, endpoint, recovered_at, now_us, recovered_at - waits_us):
            return False
        else:
            recovered_at = None
    params = {**_key(endpoint), "lease": lease, "wakes": state["wakes"], "due_at": due_at}
    await tx.execute_one(_RELEASE, {**params, "recovered_at": recovered_at})
    return True


async def _pull_forward(
    tx: Tx, endpoint: Endpoint, recovered_at: int, now_us: int, oldest_us: int
) -> int:
    """Make some deliveries due that have waited since an outage; how many."""
    params = {**_key(endpoint), "now": now_us, "recovered_at": recovered_at}
    limits = {"oldest_id": ids.lowest(oldest_us), "limit": _PULLED_AT_ONCE}
    return await tx.execute(_PULL_FORWARD, params | limits)


async def end_all_leases(tx: Tx) -> None:
    """End the leases of a process that was killed; only where no other process delivers."""
    await tx.execute(_END_ALL_LEASES, {})


async def find(tx: Tx, endpoint: Endpoint) -> Endpoint | None:
    """The current endpoint, deleted or not."""
    return await ENDPOINTS.find(tx, _ENDPOINT, _key(endpoint))


async def list_due(
    tx: Tx, endpoint: Endpoint, after: DuePosition, now_us: int, limit: int
) -> list[DueDelivery]:
    """The due deliveries of an endpoint after a position, the longest due first."""
    params = {
        **_key(endpoint),
        "now": now_us,
        "after_due_at": after.due_at,
        "after_id": after.delivery_id,
        "limit": limit,
    }
    return [_due_delivery(row) for row in await tx.fetch_all(_DUE, params)]


async def store_results(
    tx: Tx, results: Sequence[DeliveryResult], retry_at: int
) -> list[DeliveryResult]:
    """Store the results of attempts; the results that disabled their endpoint.

    retry_at: by the schedule, after a first failure that has just been.
    """
    await tx.execute_many(_ADD_ATTEMPT, [_attempt_params(result) for result in results])
    await tx.execute_many(_UPDATE_DELIVERY, [_delivery_params(result) for result in results])
    old = [each for each in results if each.attempt.number > KEPT_ATTEMPTS]
    await tx.execute_many(_DELETE_ATTEMPT, [_oldest_attempt(result) for result in old])
    changed = [_endpoint_params(result) for result in results if result.has_changed]
    # Sorted, so that two transactions cannot deadlock; the last change of an endpoint stays.
    await tx.execute_many(_SET_FAILING_SINCE, sorted(changed, key=itemgetter("tenant_id", "id")))
    recovered = [each for each in results if each.has_changed and each.status == "succeeded"]
    pulled = [{**_key(each.endpoint), "due_at": retry_at} for each in recovered]
    await tx.execute_many(_PULL_REQUESTED, pulled)
    return [each for each in results if each.disabled_reason and await _disable(tx, each)]


async def prune(tx: Tx, tenant_id: str, before_us: int, limit: int) -> int:
    """Delete some old deliveries and replays of a tenant; how many."""
    params = {"tenant_id": tenant_id, "before": ids.lowest(before_us), "limit": limit}
    deleted = await _prune_deliveries(tx, _OLD, params)
    return deleted + await tx.execute(_PRUNE_REPLAYS, params)


async def prune_deleted(tx: Tx, before_us: int, limit: int) -> int:
    """Delete some rows of an endpoint that was deleted before `before_us`; how many."""
    row = await tx.fetch_one(_DELETED, {"before": before_us})
    if row is None:
        return 0
    params = {"tenant_id": row["tenant_id"], "endpoint_id": row["id"], "limit": limit}
    if deleted := await _prune_deliveries(tx, _OF_DELETED, params):
        return deleted
    return await tx.execute(_PRUNE_REPLAYS_OF, params) + await tx.execute(_PRUNE_ENDPOINT, params)


async def _prune_deliveries(tx: Tx, sql: str, params: Params) -> int:
    # Locked, so that no attempt is added between the two deletions.
    rows = await tx.select_for_update(sql, params)
    keys = [{"tenant_id": params["tenant_id"], "id": row["id"]} for row in rows]
    if keys:
        await tx.execute_many(_PRUNE_ATTEMPTS, keys)
        await tx.execute_many(_PRUNE_DELIVERY, keys)
    return len(keys)


async def _disable(tx: Tx, result: DeliveryResult) -> bool:
    params = {**_key(result.endpoint), "reason": result.disabled_reason}
    return await tx.execute(_DISABLE, params) == 1


def _attempt_params(result: DeliveryResult) -> Params:
    of = {"tenant_id": result.endpoint.tenant_id, "delivery_id": result.delivery_id}
    return {**of, **msgspec.structs.asdict(result.attempt)}


def _oldest_attempt(result: DeliveryResult) -> Params:
    of = {"tenant_id": result.endpoint.tenant_id, "delivery_id": result.delivery_id}
    return {**of, "number": result.attempt.number - KEPT_ATTEMPTS}


def _endpoint_params(result: DeliveryResult) -> Params:
    since, recovered_at = result.failing_since, result.recovered_at
    return {**_key(result.endpoint), "failing_since": since, "recovered_at": recovered_at}


def _delivery_params(result: DeliveryResult) -> Params:
    return {
        "tenant_id": result.endpoint.tenant_id,
        "id": result.delivery_id,
        "status": result.status,
        "due_at": result.due_at,
        "attempt_count": result.attempt.number,
        "retry_count": result.retry_count,
    }


def _due_delivery(row: Row) -> DueDelivery:
    return DueDelivery(
        row["delivery_id"],
        row["event_id"],
        row["attempt_count"],
        row["retry_count"],
        DuePosition(row["due_at"], row["delivery_id"]),
        None if row["id"] is None else row,
        row["clock_offset_us"],
    )


def _key(endpoint: Endpoint) -> dict[str, object]:
    return {"tenant_id": endpoint.tenant_id, "id": endpoint.id}
