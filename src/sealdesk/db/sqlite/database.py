"""The `Database` interface on SQLite: one writer with group commit, and two readers.

On SQLite the coroutines of rooms never suspend, so each runs in one step on the event loop's
thread. What blocks has threads of its own: the fsync of a commit, and reads that no index serves.
"""

import asyncio
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from sealdesk.db.engine import Work
from sealdesk.db.sqlite.connection import SqliteTx, connect, drive
from sealdesk.db.sqlite.group_commit import Writer
from sealdesk.errors import QueryTooSlow, ServiceUnavailable
from sealdesk.errors.general import QUERY_TOO_SLOW, TOO_MANY_SLOW_QUERIES

T = TypeVar("T")
SLOW_READ_LIMIT_S = 2.0  # decisions 9
_MAX_SLOW_READS = 8
_VM_STEPS_PER_CHECK = 10_000  # of SQLite's virtual machine: about 0.1 ms


class SqliteDatabase:
    """The embedded database of one serving process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reader = connect(path)
        self._reading = SqliteTx(self._reader)
        self._slow_reader = connect(path)
        self._slow_thread = ThreadPoolExecutor(1, thread_name_prefix="slow-reader")
        self._slow_read_count = 0
        self._writer = Writer(connect(path, is_checkpointer=True))

    async def read(self, work: Work[T], tenant_id: str | None = None) -> T:
        try:
            self._open_snapshot()
            return await work(self._reading)
        except sqlite3.Error as error:
            raise ServiceUnavailable from error

    def _open_snapshot(self) -> None:
        """Share one read transaction among the reads of one iteration of the event loop.

        Opening one costs as much as an index lookup. A client that was told of a commit sends its
        next request in a later iteration and sees the commit.
        """
        if not self._reader.in_transaction:
            self._reader.execute("BEGIN")
            asyncio.get_running_loop().call_soon(self._close_snapshot)

    def _close_snapshot(self) -> None:
        # Nothing was written; unlike COMMIT this cannot fail and keep the old snapshot open.
        if self._reader.in_transaction:
            self._reader.execute("ROLLBACK")

    async def read_unindexed(self, work: Work[T], tenant_id: str | None = None) -> T:
        if self._slow_read_count >= _MAX_SLOW_READS:
            raise QueryTooSlow(TOO_MANY_SLOW_QUERIES)
        self._slow_read_count += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._slow_thread, self._read_with_timeout, work)
        finally:
            self._slow_read_count -= 1

    def _read_with_timeout(self, work: Work[T]) -> T:
        # The time in the thread's queue does not count. A progress handler rather than interrupt():
        # an interrupt from another thread is lost between two statements.
        deadline = time.monotonic() + SLOW_READ_LIMIT_S
        self._slow_reader.set_progress_handler(
            lambda: time.monotonic() > deadline, _VM_STEPS_PER_CHECK
        )
        try:
            return drive(work(SqliteTx(self._slow_reader)))
        except sqlite3.OperationalError as error:
            if "interrupted" in str(error):
                raise QueryTooSlow(QUERY_TOO_SLOW, limit_s=f"{SLOW_READ_LIMIT_S:g}") from error
            raise ServiceUnavailable from error
        except sqlite3.Error as error:
            raise ServiceUnavailable from error

    async def write(self, work: Work[T], tenant_id: str | None = None) -> T:
        return await self._writer.submit(work)

    async def write_in_background(self, work: Work[T]) -> T:
        return await self._writer.submit_in_background(work)

    async def close(self) -> None:
        await asyncio.sleep(0)  # closes the last snapshot
        self._slow_thread.shutdown()
        self._slow_reader.close()
        self._reader.close()
        # Last, because the last connection to close checkpoints the log.
        await self._writer.close()
