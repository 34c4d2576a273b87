"""The results of delivery attempts."""

import msgspec

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.event_log import events
from sealdesk.webhooks import rules
from sealdesk.webhooks.delivery import schedule
from sealdesk.webhooks.store import deliveries as delivery_store
from sealdesk.webhooks.store.deliveries import DeliveryResult, DueDelivery
from sealdesk.webhooks.types import Attempt, Endpoint

BATCH = 100  # results that are stored at once: some 3 ms of the loop's time on SQLite


async def store_results(tx: Tx, results: list[DeliveryResult], now_us: int) -> None:
    """Store results, with the events of endpoints that they have disabled."""
    retry_at = now_us + schedule.FIRST_DELAY_US
    for result in await delivery_store.store_results(tx, results, retry_at):
        endpoint = await delivery_store.find(tx, result.endpoint)
        if endpoint is not None:
            document = msgspec.json.encode(rules.endpoint_response(endpoint, now_us))
            reason = result.disabled_reason
            changes = {"is_active": (True, False), "disabled_reason": (None, reason)}
            await events.record(
                tx, endpoint.tenant_id, "webhook.disabled", document, changes, now_us
            )


def delivery_result(
    endpoint: Endpoint, failing_since: int | None, due: DueDelivery, attempt: Attempt, now_us: int
) -> DeliveryResult:
    """The result of an attempt. failing_since: of the endpoint, before the attempt."""
    result = DeliveryResult(
        endpoint=endpoint,
        delivery_id=due.delivery_id,
        attempt=attempt,
        status="failed",
        retry_count=due.retry_count,
        due_at=None,
        failing_since=failing_since,
        has_changed=False,
        recovered_at=None,
        disabled_reason=None,
    )
    if due.event is None:
        return result
    if rules.is_success(attempt.status):
        return result._replace(
            status="succeeded",
            failing_since=None,
            has_changed=failing_since is not None,
            recovered_at=now_us if schedule.is_outage(failing_since, now_us) else None,
        )
    return _failed(result, now_us)


def _failed(result: DeliveryResult, now_us: int) -> DeliveryResult:
    attempt, since = result.attempt, result.failing_since
    retry = schedule.next_retry(
        result.retry_count,
        now_us,
        age_us=now_us - ids.instant_of(result.delivery_id),
        random_bits=ids.random_bits(schedule.RANDOM_BITS),
        retry_after=msgspec.json.decode(attempt.answer_headers or "{}").get("retry-after"),
    )
    return result._replace(
        status="failed" if retry.due_at is None else "pending",
        retry_count=retry.failures,
        due_at=retry.due_at,
        failing_since=attempt.sent_at if since is None else since,
        has_changed=since is None,
        disabled_reason=schedule.disabled_reason(attempt.status, since, now_us),
    )
