"""What came of attempts, stored together with whatever else came meanwhile."""

import asyncio
from typing import NamedTuple

import msgspec
import structlog

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.event_log import events
from sealdesk.state import AppState
from sealdesk.webhooks import rules
from sealdesk.webhooks.delivery import schedule
from sealdesk.webhooks.rules import Attempt, Endpoint
from sealdesk.webhooks.store import deliveries as delivery_store
from sealdesk.webhooks.store.deliveries import Due, Outcome

_TOGETHER = 100  # some 3 ms of the loop's time on SQLite
_AGAIN_AFTER_S = 0.5

log = structlog.get_logger("sealdesk.webhooks")


class _Waiting(NamedTuple):
    outcome: Outcome
    noted: "asyncio.Future[bool]"


class Results:
    """Stores outcomes in the order in which they come."""

    def __init__(self, state: AppState) -> None:
        self._state = state
        self._waiting: list[_Waiting] = []
        self._writing: asyncio.Task[None] | None = None

    def add(self, outcome: Outcome) -> "asyncio.Future[bool]":
        """Have it stored; whether it was, in the end."""
        loop = asyncio.get_running_loop()
        noted: asyncio.Future[bool] = loop.create_future()
        self._waiting.append(_Waiting(outcome, noted))
        if self._writing is None:
            self._writing = loop.create_task(self._write_all())
        return noted

    async def _write_all(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:_TOGETHER], self._waiting[_TOGETHER:]
                is_noted = await self._is_written([waiting.outcome for waiting in batch])
                for waiting in batch:
                    waiting.noted.set_result(is_noted)
        finally:
            self._writing = None

    async def _is_written(self, outcomes: list[Outcome]) -> bool:
        """However long the database is away: what was sent is not to be sent again."""
        now_us = self._state.clock.now_us()
        while True:
            try:
                await self._state.database.write(lambda tx: _note(tx, outcomes, now_us))
                return True
            except ServiceUnavailable as error:
                log.warning("results have to wait", cause=repr(error.__cause__))
                await asyncio.sleep(_AGAIN_AFTER_S)
            except Exception:
                log.exception("results could not be stored", count=len(outcomes))
                return False


async def _note(tx: Tx, outcomes: list[Outcome], now_us: int) -> None:
    for outcome in await delivery_store.note(tx, outcomes):
        endpoint = await delivery_store.find(tx, outcome.endpoint)
        if endpoint is not None:
            document = msgspec.json.encode(rules.shown(endpoint, now_us))
            changes = {"is_active": (True, False), "disabled_reason": (None, outcome.disables)}
            await events.record(
                tx, endpoint.tenant_id, "webhook.disabled", document, changes, now_us
            )


def delivery_result(
    endpoint: Endpoint, failing_since: int | None, due: Due, attempt: Attempt, now_us: int
) -> Outcome:
    """What an attempt means. failing_since: of the endpoint, before it."""
    outcome = Outcome(
        endpoint=endpoint,
        delivery_id=due.delivery_id,
        attempt=attempt,
        status="failed",
        retry_count=due.retry_count + 1,
        due_at=None,
        failing_since=failing_since,
        has_turned=False,
        disables=None,
    )
    if due.event is None:
        return outcome
    if rules.is_success(attempt.status):
        has_turned = failing_since is not None
        return outcome._replace(status="succeeded", failing_since=None, has_turned=has_turned)
    return _failed(outcome, now_us)


def _failed(outcome: Outcome, now_us: int) -> Outcome:
    attempt, since = outcome.attempt, outcome.failing_since
    due_at = schedule.next_due(
        outcome.retry_count,
        now_us,
        drawn=ids.random_bits(schedule.DRAWN_BITS),
        retry_after=msgspec.json.decode(attempt.answer_headers or "{}").get("retry-after"),
    )
    return outcome._replace(
        status="failed" if due_at is None else "pending",
        due_at=due_at,
        failing_since=attempt.sent_at if since is None else since,
        has_turned=since is None,
        disables=schedule.disables(attempt.status, since, now_us),
    )
