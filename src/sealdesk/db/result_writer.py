"""Stores the results of attempts, such as of deliveries, in batches."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Generic, NamedTuple, TypeVar

from sealdesk.clock import Clock
from sealdesk.db.engine import Database, Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.errors.general import TENANT_MOVES

_RETRY_AFTER_S = 0.5

T = TypeVar("T")

log = logging.getLogger("sealdesk.db")


class _Unstored(NamedTuple, Generic[T]):
    result: T
    is_stored: "asyncio.Future[bool]"


class ResultWriter(Generic[T]):
    """Stores results in the order in which they are added.

    While a batch is written, the next one gathers. store: stores a batch, at a time in
    microseconds, as the work of one transaction.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        store: Callable[[Tx, list[T], int], Awaitable[None]],
        *,
        batch_size: int,
    ) -> None:
        self._database = database
        self._clock = clock
        self._store = store
        self._batch_size = batch_size
        self._unstored: list[_Unstored[T]] = []
        self._writing: asyncio.Task[None] | None = None

    def add(self, result: T) -> "asyncio.Future[bool]":
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
                batch = self._unstored[: self._batch_size]
                self._unstored = self._unstored[self._batch_size :]
                are_stored = await self._write([each.result for each in batch])
                for each, is_stored in zip(batch, are_stored, strict=True):
                    if not each.is_stored.done():
                        each.is_stored.set_result(is_stored)
        finally:
            self._writing = None

    async def _write(self, results: list[T]) -> list[bool]:
        """Whether each was stored. One that cannot be stored holds up no other."""
        # Repeated until the database is available: without its result, an attempt is made again.
        now_us = self._clock.now_us()
        while True:
            try:
                await self._database.write(lambda tx: self._store(tx, results, now_us))
                return [True] * len(results)
            except Exception as error:
                if _is_of_result(error) and len(results) == 1:
                    log.exception("a result could not be stored")
                    return [False]
                if _is_of_result(error):
                    break
                log.warning("results wait for the database", extra={"cause": repr(error.__cause__)})
            await asyncio.sleep(_RETRY_AFTER_S)
        return [(await self._write([each]))[0] for each in results]


def _is_of_result(error: Exception) -> bool:
    """Whether storing fails because of a result, and not as the database is unavailable."""
    return not isinstance(error, ServiceUnavailable) or error.problem_type is TENANT_MOVES
