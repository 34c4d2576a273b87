"""Checks all pages of the database again and again while the service runs, slowly."""

import asyncio
import logging
import math
import sqlite3
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sealdesk.db.sqlite.pages import count_pages, find_implausible
from sealdesk.db.sqlite.quick_check import CheckResult, quick_check
from sealdesk.telemetry.storage import StorageHealth

ROUND_S = 86_400  # the longest round, however large the database is
STEP_EVERY_S = 0.25
STEP_PAGES = 64  # 1 MiB a second: 0.5 ms of processor time (decision 0034)
REST_S = 60.0  # between two rounds
# While one table is checked, the log cannot be emptied. SQLite checks about 1 GB in this time.
TABLE_LIMIT_S = 1.0
_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name"
_MAX_LOGGED = 20
_ADVICE = "stop the server, run `sealdesk doctor`, and restore the last good backup"

T = TypeVar("T")
log = logging.getLogger("sealdesk.storage")


class PageChecker:
    """A round reads every page of the file, then has SQLite check table by table.

    A page that is no page of a database is found at the first step, at any load. A valid page in a
    wrong place is found by SQLite's check of its table.
    """

    def __init__(
        self,
        path: Path,
        descriptor: int,
        health: StorageHealth,
        run_alone: Callable[[Callable[[sqlite3.Connection], Any]], Awaitable[Any]],
        threads: ThreadPoolExecutor,
    ) -> None:
        self._path = path
        self._descriptor = descriptor
        self._health = health
        self._run_alone = run_alone
        self._threads = threads
        self._connection: sqlite3.Connection | None = None
        self._suspects: frozenset[int] = frozenset()

    async def run(self) -> None:
        """Check in rounds until cancelled."""
        while True:
            try:
                await self.check_all()
            except (OSError, sqlite3.Error) as error:
                log.warning("pages could not be checked", extra={"cause": repr(error)})
            await asyncio.sleep(REST_S)

    async def check_all(self) -> None:
        """One round. Raises OSError, sqlite3.Error."""
        await self._check_pages()
        await self._check_tables()
        self._health.rounds_checked += 1

    def interrupt(self) -> None:
        """End a check of a table that is running."""
        connection = self._connection
        if connection is not None:
            with suppress(sqlite3.ProgrammingError):  # closed in between
                connection.interrupt()

    async def _check_pages(self) -> None:
        page_count = await self._in_thread(lambda: count_pages(self._descriptor))
        step = max(STEP_PAGES, math.ceil(page_count / ROUND_S * STEP_EVERY_S))
        for first in range(1, page_count + 1, step):
            await self._check_step(range(first, min(first + step, page_count + 1)))
            await asyncio.sleep(STEP_EVERY_S)

    async def _check_step(self, numbers: range) -> None:
        """Check these pages, and again those that were damaged at the step before."""
        looked_at = {*numbers, *self._suspects}
        self._suspects = await self._in_thread(
            lambda: find_implausible(self._descriptor, looked_at)
        )
        damaged = self._health.damaged_pages
        if self._suspects != damaged:
            damaged = await self._run_alone(self._confirm)
        self._health.pages_checked += len(numbers)
        self._note_pages(damaged)

    def _confirm(self, connection: sqlite3.Connection) -> frozenset[int]:
        """Those suspects that stay so when the log is in the file and nothing writes to it.

        After a power failure in a checkpoint, a page may be torn in the file and whole in the log.
        """
        _, in_log, moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if in_log != moved:
            return self._health.damaged_pages  # a reader is in the way: at the next step
        return find_implausible(self._descriptor, self._suspects)

    def _note_pages(self, damaged: frozenset[int]) -> None:
        new = sorted(damaged - self._health.damaged_pages)
        if new:
            log.error("pages are damaged", extra={"pages": new[:_MAX_LOGGED], "advice": _ADVICE})
        elif self._health.damaged_pages and not damaged:
            log.warning("the damaged pages are whole again")
        self._health.damaged_pages = damaged

    async def _check_tables(self) -> None:
        """Check each table with its indexes."""
        names = await self._in_thread(lambda: self._on_new_connection(_list_tables))
        results: dict[str, CheckResult] = {}
        for name in names:
            check = partial(quick_check, table=name, limit_s=TABLE_LIMIT_S)
            results[name] = await self._in_thread(partial(self._on_new_connection, check))
        self._note_tables(results)

    def _on_new_connection(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Call it with a connection that has cached no page, and that creates no file."""
        uri = f"{self._path.absolute().as_uri()}?mode=ro"
        # Opened and closed in the thread that uses it, which outlives a cancelled task.
        with closing(sqlite3.connect(uri, uri=True, check_same_thread=False)) as connection:
            self._connection = connection
            try:
                return function(connection)
            finally:
                self._connection = None

    def _note_tables(self, results: dict[str, CheckResult]) -> None:
        faults = tuple(
            f"{name}: {fault}" for name, result in results.items() for fault in result.faults
        )
        if faults and faults != self._health.table_faults:
            log.error("tables are damaged", extra={"faults": faults, "advice": _ADVICE})
        self._health.table_faults = faults
        large = [name for name, result in results.items() if not result.is_complete]
        if large:
            log.info("tables are checked only page by page: too large", extra={"tables": large})

    async def _in_thread(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function)


def _list_tables(connection: sqlite3.Connection) -> list[str]:
    return [str(name) for (name,) in connection.execute(_TABLES)]
