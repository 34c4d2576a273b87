"""The `Database` interface on SQLite: one writer with group commit, and readers.

On SQLite the coroutines of rooms never suspend, so each runs in one step on the event loop's
thread. What blocks has threads of its own: the fsync of a commit, and reads that no index serves.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from sealdesk.db.engine import Work
from sealdesk.db.sqlite import errors
from sealdesk.db.sqlite.calls import Call, start_thread
from sealdesk.db.sqlite.checkpoint import DUE_FRAMES, Checkpointer
from sealdesk.db.sqlite.connection import BUSY_TIMEOUT_MS, connect
from sealdesk.db.sqlite.files import DatabaseFiles
from sealdesk.db.sqlite.job_queue import JobQueue
from sealdesk.db.sqlite.slow_reads import SlowReads
from sealdesk.db.sqlite.snapshot import ReadTx
from sealdesk.db.sqlite.transaction import SqliteTx
from sealdesk.db.sqlite.watch import StorageWatch
from sealdesk.errors import ServiceUnavailable
from sealdesk.telemetry.storage import StorageHealth

T = TypeVar("T")
_MAX_GROUP_JOBS = 32  # about 5 ms of the event loop's time


class SqliteDatabase:
    """The embedded database of one serving process."""

    def __init__(self, path: Path) -> None:
        self.health = StorageHealth()
        self._reading = ReadTx(connect(path))
        self._slow_reads = SlowReads(path)
        self._files = DatabaseFiles(path, self.health)
        self._writer = _Writer(path, self._files, self.health)
        self.listeners = self._writer.listeners
        self._watch = StorageWatch(path, self._files, self.health, self._writer.run_alone)

    async def watch(self) -> None:
        await self._watch.run()

    async def read(self, work: Work[T], tenant_id: str | None = None) -> T:
        if self.health.files_fault:
            raise ServiceUnavailable
        try:
            self._reading.open_snapshot()
            return await work(self._reading)
        except sqlite3.Error as error:
            raise ServiceUnavailable from error

    async def read_key_stamp(self) -> int | None:
        if self.health.files_fault:
            raise ServiceUnavailable
        try:
            return self._reading.read_key_stamp()
        except sqlite3.Error as error:
            raise ServiceUnavailable from error

    async def read_ticket_stamp(self, tenant_id: str) -> int | None:
        if self.health.files_fault:
            raise ServiceUnavailable
        try:
            return self._reading.read_ticket_stamp(tenant_id)
        except sqlite3.Error as error:
            raise ServiceUnavailable from error

    async def read_unindexed(self, work: Work[T], tenant_id: str | None = None) -> T:
        if self.health.files_fault:
            raise ServiceUnavailable
        return await self._slow_reads.run(work, tenant_id)

    async def write(self, work: Work[T], tenant_id: str | None = None) -> T:
        if self.health.files_fault:
            raise ServiceUnavailable
        return await self._writer.submit(work, tenant_id)

    async def write_in_background(self, work: Work[T]) -> T:
        if self.health.files_fault:
            raise ServiceUnavailable
        return await self._writer.submit_in_background(work)

    async def close(self) -> None:
        await asyncio.sleep(0)  # closes the last snapshot
        self._watch.close()
        self._slow_reads.close()
        self._reading.close()
        # Last, because the last connection to close checkpoints the log.
        await self._writer.close()
        self._files.close()


class _Job(Generic[T]):
    """Work, and the future of its caller."""

    __slots__ = ("error", "future", "value", "work")

    def __init__(self, work: Callable[..., Any]) -> None:
        self.work = work
        self.future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.value: T | None = None
        self.error: BaseException | None = None

    def run(self, run: Callable[[Any], T]) -> None:
        """Keep what `run` returns or raises for the work. Raises TransactionLost."""
        self.value = self.error = None
        try:
            self.value = run(self.work)
        except errors.TransactionLost:
            raise
        except BaseException as error:
            self.error = errors.translate(error)

    def settle(self) -> None:
        _settle(self.future, self.value, self.error)


class _Writer:
    """Group commit: waiting jobs share one transaction.

    Their SQL runs on the event loop's thread, because it does not block. COMMIT, which waits for
    the disk, runs on a second thread while the next group gathers. With all SQL on the second
    thread the interpreter lock changed threads at every statement: 20 % (decision 0005).

    Background work runs entirely on the second thread, each job in a transaction of its own, in
    turns with the groups. It may take longer, and reads do not wait for it.
    """

    def __init__(self, path: Path, files: DatabaseFiles, health: StorageHealth) -> None:
        self._connection = connect(path)
        self._files = files
        self._health = health
        self._checkpointer = Checkpointer(path, files)
        self._checkpointing: asyncio.Task[None] | None = None
        self._log_frames = 0  # at the last commit
        # The event loop must not wait for a lock; see _begin.
        self._connection.execute("PRAGMA busy_timeout = 0")
        self._tx = SqliteTx(self._connection)
        self.listeners = self._tx.listeners
        self._waiting = JobQueue[_Job[Any]]()
        self._background: deque[_Job[Any]] = deque()
        self._turn = asyncio.Lock()
        self._calls: SimpleQueue[Call | None] = SimpleQueue()
        self._thread = start_thread("committer", self._calls)
        self._writing: asyncio.Task[None] | None = None

    async def submit(self, work: Work[T], tenant_id: str | None) -> T:
        job: _Job[T] = _Job(work)
        self._waiting.add(job, tenant_id)
        return await self._result_of(job)

    async def submit_in_background(self, work: Work[T]) -> T:
        job: _Job[T] = _Job(work)
        self._background.append(job)
        return await self._result_of(job)

    async def run_alone(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function on the second thread, between two transactions, beside no checkpoint."""

        async def take_turn() -> T:
            async with self._checkpointer.lock:
                return await self._run_between_commits(function)

        # A cancelled caller leaves the function running, and nothing else may run meanwhile.
        return await asyncio.shield(take_turn())

    async def _run_between_commits(self, function: Callable[[sqlite3.Connection], T]) -> T:
        async with self._turn:
            return await self._in_thread(partial(function, self._connection))

    async def _result_of(self, job: _Job[T]) -> T:
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_until_empty())
        try:
            return await job.future
        except ServiceUnavailable as error:
            if isinstance(error.__cause__, sqlite3.Error) and not error.is_mistake:
                self._health.note_failed_write()
            raise

    async def close(self) -> None:
        if self._writing is not None:
            await self._writing
        if self._checkpointing is not None:
            await self._checkpointing
        async with self._checkpointer.lock, self._turn:
            pass
        self._calls.put(None)
        self._thread.join()
        self._checkpointer.close()
        self._tx.close()

    async def _write_until_empty(self) -> None:
        try:
            while self._waiting or self._background:
                async with self._turn:
                    await self._commit_group(self._waiting.take(_MAX_GROUP_JOBS))
                    if self._background:
                        await self._commit_background(self._background.popleft())
                self._tx.call_listeners()
                if self._log_frames >= DUE_FRAMES and self._checkpointing is None:
                    self._checkpointing = asyncio.create_task(self._checkpoint())
        finally:
            self._writing = None

    async def _checkpoint(self) -> None:
        await self._checkpointer.run(self._run_between_commits)
        self._checkpointing = None

    async def _commit_group(self, jobs: list[_Job[Any]]) -> None:
        """Run all jobs in one transaction, then settle each with its value or error."""
        if not jobs:
            return
        try:
            await self._begin()
            if not self._run_all(jobs):
                self._tx.roll_back()
                await self._begin()
                for job in jobs:
                    job.run(self._tx.run_in_savepoint)
            self._tx.store_counters()
            await self._in_thread(self._commit)
        except sqlite3.Error as error:
            self._fail_jobs(jobs, error)
        for job in jobs:
            job.settle()

    def _run_all(self, jobs: list[_Job[Any]]) -> bool:
        """Run the jobs; False as soon as one fails that has changed something.

        A savepoint for each costs as much as two of their statements.
        """
        for job in jobs:
            former = self._tx.change_count
            job.run(self._tx.run)
            if job.error is not None and self._tx.change_count != former:
                return False
        return True

    async def _commit_background(self, job: _Job[Any]) -> None:
        try:
            await self._begin()
            await self._in_thread(partial(self._run_and_commit, job))
        except sqlite3.Error as error:
            self._fail_jobs([job], error)
        job.settle()

    def _run_and_commit(self, job: _Job[Any]) -> None:
        job.run(self._tx.run)
        if job.error is None:
            self._commit()
        else:
            self._tx.roll_back()

    async def _begin(self) -> None:
        """Take the write lock, which only a command beside the server can hold."""
        try:
            self._tx.begin()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            await self._in_thread(partial(self._tx.wait_and_begin, BUSY_TIMEOUT_MS))

    async def _in_thread(self, function: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        call: Call = function, lambda *end: loop.call_soon_threadsafe(_settle, future, *end)
        self._calls.put(call)
        return await future

    def _commit(self) -> None:
        self._tx.commit()
        self._files.verify()
        self._log_frames = self._files.count_log_frames()

    def _fail_jobs(self, jobs: list[_Job[Any]], error: sqlite3.Error) -> None:
        try:
            self._tx.roll_back()
        except sqlite3.Error as second:
            error.add_note(f"and the rollback failed: {second}")
        for job in jobs:
            job.error = errors.unavailable(error)


def _settle(future: asyncio.Future[Any], value: object, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)
