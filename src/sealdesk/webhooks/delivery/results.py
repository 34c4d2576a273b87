"""Stores the results of delivery attempts in batches."""

import asyncio
import logging
from typing import NamedTuple

import msgspec

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.event_log import events
from sealdesk.state import AppState
from sealdesk.webhooks import rules
from sealdesk.webhooks.delivery import schedule
from sealdesk.webhooks.rules import Attempt, Endpoint
from sealdesk.webhooks.store import deliveries as delivery_store
from sealdesk.webhooks.store.deliveries import DeliveryResult, DueDelivery

_BATCH_RESULTS = 100  # some 3 ms of the loop's time on SQLite
_RETRY_AFTER_S = 0.5

log = logging.getLogger("sealdesk.webhooks")


class _Unstored(NamedTuple):
    result: DeliveryResult
    is_stored: "asyncio.Future[bool]"


class ResultWriter:
    """Stores results in the order in which they are added.

    While a batch is written, the next one gathers.
    """

    def __init__(self, state: AppState) -> None:
        self._state = state
        self._unstored: list[_Unstored] = []
        self._writing: asyncio.Task[None] | None = None

    def add(self, result: DeliveryResult) -> "asyncio.Future[bool]":
        """Store a result soon; the future says whether it was stored."""
        loop = asyncio.get_running_loop()
        is_stored: asyncio.Future[bool] = loop.create_future()
        self._unstored.append(_Unstored(result, is_stored))
        if self._writing is None:
            self._writing = loop.create_task(self._write_all())
        return is_stored

    async def _write_all(self) -> None:
        try:
            while self._unstored:
                batch = self._unstored[:_BATCH_RESULTS]
                self._unstored = self._unstored[_BATCH_RESULTS:]
                is_stored = await self._write([each.result for each in batch])
                for each in batch:
                    each.is_stored.set_result(is_stored)
        finally:
            self._writing = None

    async def _write(self, results: list[DeliveryResult]) -> bool:
        # Repeated until the database is available: an unstored delivery would be sent again.
        now_us = self._state.clock.now_us()
        while True:
            try:
                await self._state.database.write(lambda tx: _store(tx, results, now_us))
                return True
            except ServiceUnavailable as error:
                log.warning("results wait for the database", extra={"cause": repr(error.__cause__)})
                await asyncio.sleep(_RETRY_AFTER_S)
            except Exception:
                log.exception("results could not be stored", extra={"count": len(results)})
                return False


async def _store(tx: Tx, results: list[DeliveryResult], now_us: int) -> None:
    for result in await delivery_store.store_results(tx, results):
        endpoint = await delivery_store.find(tx, result.endpoint)
        if endpoint is not None:
            document = msgspec.json.encode(rules.endpoint_response(endpoint, now_us))
            reason = result.disabled_reason
            changes = {"is_active": (True, False), "disabled_reason": (None, reason)}
            await events.record(
                tx, endpoint.tenant_id, "webhook.disabled", document, changes, now_us
            )


def delivery_result(
    endpoint: Endpoint,
    failing_since: int | None,
    due: DueDelivery,
    attempt: Attempt,
    now_us: int,
) -> DeliveryResult:
    """The result of an attempt. failing_since: of the endpoint, before the attempt."""
    result = DeliveryResult(
        endpoint=endpoint,
        delivery_id=due.delivery_id,
        attempt=attempt,
        status="failed",
        retry_count=due.retry_count + 1,
        due_at=None,
        failing_since=failing_since,
        has_changed=False,
        disabled_reason=None,
    )
    if due.event is None:
        return result
    if rules.is_success(attempt.status):
        has_changed = failing_since is not None
        return result._replace(status="succeeded", failing_since=None, has_changed=has_changed)
    return _failed(result, now_us)


def _failed(result: DeliveryResult, now_us: int) -> DeliveryResult:
    attempt, since = result.attempt, result.failing_since
    due_at = schedule.next_due(
        result.retry_count,
        now_us,
        random_bits=ids.random_bits(schedule.RANDOM_BITS),
        retry_after=msgspec.json.decode(attempt.answer_headers or "{}").get("retry-after"),
    )
    return result._replace(
        status="failed" if due_at is None else "pending",
        due_at=due_at,
        failing_since=attempt.sent_at if since is None else since,
        has_changed=since is None,
        disabled_reason=schedule.disabled_reason(attempt.status, since, now_us),
    )
