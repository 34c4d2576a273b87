"""Reads that no index serves, on SQLite: each in a thread with a connection of its own."""

import asyncio
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from sealdesk.db import fairness, threads
from sealdesk.db.deadline import current as current_deadline
from sealdesk.db.engine import Work
from sealdesk.db.fairness import lower_thread_priority, slow_read_slots
from sealdesk.db.sqlite import errors
from sealdesk.db.sqlite.connection import connect
from sealdesk.db.sqlite.transaction import SqliteTx, drive
from sealdesk.errors import QueryTooSlow
from sealdesk.errors.general import QUERY_TOO_SLOW

T = TypeVar("T")
_COUNT = 3  # one more than a tenant may have at a time
_VM_STEPS_PER_CHECK = 10_000  # of SQLite's virtual machine: about 0.1 ms


class SlowReads:
    """The threads and connections of slow reads."""

    def __init__(self, path: Path) -> None:
        self._slots = slow_read_slots(_COUNT)
        self._idle = [connect(path) for _ in range(_COUNT)]
        self._threads = ThreadPoolExecutor(
            _COUNT, thread_name_prefix="slow-reader", initializer=lower_thread_priority
        )

    async def run(self, work: Work[T], tenant_id: str | None) -> T:
        """The result of the work. Raises QueryTooSlow, ServiceUnavailable."""
        await self._slots.acquire(tenant_id, fairness.SLOW_READ_WAIT_S)
        current_deadline().unindexed_reads += 1
        is_cancelled = threading.Event()
        running = asyncio.ensure_future(
            threads.run_in(self._threads, self._read_with_timeout, work, is_cancelled)
        )
        # The thread has the slot until it ends, even if nobody waits for it any more.
        running.add_done_callback(lambda _: self._slots.release(tenant_id))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            is_cancelled.set()
            raise

    def close(self) -> None:
        self._threads.shutdown()
        for connection in self._idle:
            connection.close()

    def _read_with_timeout(self, work: Work[T], is_cancelled: threading.Event) -> T:
        # A progress handler rather than interrupt(): an interrupt from another thread is lost
        # between two statements.
        deadline = time.monotonic() + fairness.SLOW_READ_LIMIT_S
        connection = self._idle.pop()
        connection.set_progress_handler(
            lambda: time.monotonic() > deadline or is_cancelled.is_set(), _VM_STEPS_PER_CHECK
        )
        try:
            return drive(work(SqliteTx(connection)))
        except sqlite3.Error as error:
            if "interrupted" in str(error):
                limit_s = f"{fairness.SLOW_READ_LIMIT_S:g}"
                raise QueryTooSlow(QUERY_TOO_SLOW, limit_s=limit_s) from error
            raise errors.unavailable(error) from error
        finally:
            self._idle.append(connection)
