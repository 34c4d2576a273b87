"""Stores the results of attempts in batches."""

import asyncio
import logging
from typing import NamedTuple

from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.mail.sending import rules, store
from sealdesk.mail.sending.results import actions
from sealdesk.mail.sending.types import Outcome, OutgoingMessage
from sealdesk.state import AppState

_BATCH_RESULTS = 50
_RETRY_AFTER_S = 0.5

log = logging.getLogger("sealdesk.mail")


class Result(NamedTuple):
    """The result of an attempt.

    leases: which the message may have, as a lease may be renewed meanwhile. is_attempt: False if
    the server was not asked about this message. is_told: whether a final failure is a note.
    """

    message: OutgoingMessage
    leases: tuple[int, int]
    outcome: Outcome
    is_attempt: bool = True
    is_told: bool = True


class ResultWriter:
    """Stores results in the order in which they are added.

    While a batch is written, the next one gathers.
    """

    def __init__(self, state: AppState) -> None:
        self._state = state
        self._unstored: list[tuple[Result, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    def add(self, result: Result) -> "asyncio.Future[None]":
        """Store a result soon; the future ends when that is done, or cannot be done."""
        loop = asyncio.get_running_loop()
        is_over: asyncio.Future[None] = loop.create_future()
        self._unstored.append((result, is_over))
        if self._writing is None:
            self._writing = loop.create_task(self._write_all())
        return is_over

    async def _write_all(self) -> None:
        try:
            while self._unstored:
                batch = self._unstored[:_BATCH_RESULTS]
                self._unstored = self._unstored[_BATCH_RESULTS:]
                await self._write([result for result, _ in batch])
                for _, is_over in batch:
                    if not is_over.done():
                        is_over.set_result(None)
        finally:
            self._writing = None

    async def _write(self, results: list[Result]) -> None:
        # Repeated until the database is available: an unstored message would be sent again.
        now_us = self._state.clock.now_us()
        while True:
            try:
                await self._state.database.write(lambda tx: _store(tx, results, now_us))
                return
            except ServiceUnavailable as error:
                log.warning("results wait for the database", extra={"cause": repr(error.__cause__)})
                await asyncio.sleep(_RETRY_AFTER_S)
            except Exception:
                log.exception("results could not be stored", extra={"count": len(results)})
                return


async def _store(tx: Tx, results: list[Result], now_us: int) -> None:
    # In the same order in each process, as replies are locked.
    for result in sorted(results, key=lambda each: each.message.about_id):
        await _store_one(tx, result, now_us)


async def _store_one(tx: Tx, result: Result, now_us: int) -> None:
    message, outcome, due_at = result.message, result.outcome, None
    if outcome.state == "queued":
        due_at = rules.due_again_at(message, now_us, is_attempt=result.is_attempt)
        outcome = outcome if due_at else Outcome("failed", outcome.reason)
    is_stored = await store.finish(
        tx,
        message,
        result.leases,
        outcome,
        attempt_count=message.attempt_count + result.is_attempt,
        due_at=due_at,
        now_us=now_us,
    )
    if not is_stored:
        return
    await actions.update_reply(tx, message, now_us)
    if outcome.state in ("bounced", "failed") and result.is_told and message.ticket_id:
        await actions.add_note(tx, message, outcome.reason or "", now_us, is_worker=True)
