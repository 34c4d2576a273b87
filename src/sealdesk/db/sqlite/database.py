"""SQLite behind the doors: one writer that commits whoever waits together, and readers.

The coroutines that rooms write never really wait here, so they are driven to their end in one
step on the event loop's thread; what does wait has threads of its own: the flush of the disk,
and reads that no index serves.
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

T = TypeVar("T")
SLOW_READ_LIMIT_S = 2.0  # decisions 9
_SLOW_READS_WAITING = 8
_STEPS_BETWEEN_LOOKS = 10_000  # of SQLite's machine: about 0.1 ms


class SqliteDatabase:
    """The embedded database of one serving process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reader = connect(path)
        self._reading = SqliteTx(self._reader)
        self._slow_reader = connect(path)
        self._slow_thread = ThreadPoolExecutor(1, thread_name_prefix="slow-reader")
        self._slow_reads = 0
        self._writer = Writer(connect(path, is_checkpointer=True))

    async def read(self, work: Work[T], tenant_id: str | None = None) -> T:
        try:
            self._share_view()
            return await work(self._reading)
        except sqlite3.Error as error:
            raise ServiceUnavailable from error

    def _share_view(self) -> None:
        """Let the reads of one turn of the loop see one state: opening it costs what a probe does.

        Whoever was told of a commit asks in a later turn, and sees it.
        """
        if not self._reader.in_transaction:
            self._reader.execute("BEGIN")
            asyncio.get_running_loop().call_soon(self._end_view)

    def _end_view(self) -> None:
        # Nothing was written; unlike COMMIT this cannot fail and leave an old state in view.
        if self._reader.in_transaction:
            self._reader.execute("ROLLBACK")

    async def read_unindexed(self, work: Work[T], tenant_id: str | None = None) -> T:
        if self._slow_reads >= _SLOW_READS_WAITING:
            raise QueryTooSlow("Too many queries that no index serves are waiting.")
        self._slow_reads += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._slow_thread, self._read_within_limit, work)
        finally:
            self._slow_reads -= 1

    def _read_within_limit(self, work: Work[T]) -> T:
        # Counted from here, not from the asking: waiting for the thread is not the query's fault.
        # Asked for by the connection: an interrupt from another thread is lost between statements.
        deadline = time.monotonic() + SLOW_READ_LIMIT_S
        self._slow_reader.set_progress_handler(
            lambda: time.monotonic() > deadline, _STEPS_BETWEEN_LOOKS
        )
        try:
            return drive(work(SqliteTx(self._slow_reader)))
        except sqlite3.OperationalError as error:
            if "interrupted" in str(error):
                raise QueryTooSlow(f"The query took more than {SLOW_READ_LIMIT_S:g} s.") from error
            raise ServiceUnavailable from error
        except sqlite3.Error as error:
            raise ServiceUnavailable from error

    async def write(self, work: Work[T], tenant_id: str | None = None) -> T:
        return await self._writer.submit(work)

    async def write_in_background(self, work: Work[T]) -> T:
        return await self._writer.submit_aside(work)

    async def close(self) -> None:
        await asyncio.sleep(0)  # the last view ends
        self._slow_thread.shutdown()
        self._slow_reader.close()
        self._reader.close()
        # Last, because the last one to close copies the log back.
        await self._writer.close()
