"""The `Database` interface on SQLite: one writer with group commit, and readers.

On SQLite the coroutines of rooms never suspend, so each runs in one step on the event loop's
thread. What blocks has threads of its own: the fsync of a commit, and reads that no index serves.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from sealdesk.db.engine import Work
from sealdesk.db.sqlite import errors
from sealdesk.db.sqlite.connection import BUSY_TIMEOUT_MS, connect
from sealdesk.db.sqlite.files import DatabaseFiles
from sealdesk.db.sqlite.slow_reads import SlowReads
from sealdesk.db.sqlite.transaction import SqliteTx, drive
from sealdesk.db.sqlite.watch import StorageWatch
from sealdesk.errors import ServiceUnavailable
from sealdesk.errors.general import TOO_MANY_WRITES
from sealdesk.telemetry.storage import StorageHealth

T = TypeVar("T")
Argument = TypeVar("Argument")
MAX_WAITING_WRITES = 1000  # of one tenant: half a second
_MAX_GROUP_JOBS = 32  # about 5 ms of the event loop's time


class SqliteDatabase:
    """The embedded database of one serving process."""

    def __init__(self, path: Path) -> None:
        self.health = StorageHealth()
        self._reader = connect(path)
        self._reading = SqliteTx(self._reader)
        self._slow_reads = SlowReads(path)
        self._files = DatabaseFiles(path, self.health)
        self._writer = _Writer(connect(path, is_checkpointer=True), self._files, self.health)
        self._watch = StorageWatch(path, self._files, self.health, self._writer.run_alone)

    async def watch(self) -> None:
        await self._watch.run()

    async def read(self, work: Work[T], tenant_id: str | None = None) -> T:
        if self.health.files_fault:
            raise ServiceUnavailable
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
        self._reader.close()
        # Last, because the last connection to close checkpoints the log.
        await self._writer.close()
        self._files.close()


class _Job(Generic[T]):
    """One piece of work and the future of its caller."""

    __slots__ = ("error", "future", "value", "work")

    def __init__(self, work: Work[T], future: asyncio.Future[T]) -> None:
        self.work = work
        self.future = future
        self.value: T | None = None
        self.error: BaseException | None = None

    def settle(self) -> None:
        if self.future.done():
            return
        if self.error is None:
            self.future.set_result(cast(T, self.value))
        else:
            self.future.set_exception(self.error)


class _JobQueue:
    """Waiting jobs, in the order in which tenants take turns.

    A job's rank is one more than that of the tenant's job before it, and at least that of the job
    that ran last (start-time fair queuing). Work without a tenant counts as one more tenant.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, _Job[Any]]] = []
        self._numbers = count()
        self._rank = 0  # of the last job that was taken
        self._next_ranks: dict[str | None, int] = {}

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, job: _Job[Any], tenant_id: str | None) -> None:
        """Raises ServiceUnavailable when too many jobs of the tenant wait."""
        rank = max(self._rank, self._next_ranks.get(tenant_id, 0))
        if tenant_id is not None and rank - self._rank >= MAX_WAITING_WRITES:
            raise ServiceUnavailable(TOO_MANY_WRITES)
        self._next_ranks[tenant_id] = rank + 1
        heappush(self._heap, (rank, next(self._numbers), job))

    def take(self, at_most: int) -> list[_Job[Any]]:
        """The next jobs, which leave the queue."""
        taken = [heappop(self._heap) for _ in range(min(at_most, len(self._heap)))]
        if self._heap:
            self._rank = taken[-1][0]
        else:
            self._rank = 0
            self._next_ranks.clear()
        return [job for _, _, job in taken]


class _Writer:
    """Group commit: waiting jobs share one transaction, with a savepoint for each.

    Their SQL runs on the event loop's thread, because it does not block. COMMIT, which waits for
    the disk, runs on a second thread while the next group gathers. With all SQL on the second
    thread the interpreter lock changed threads at every statement: 20 % (decision 0005).

    Background work runs entirely on the second thread, each job in a transaction of its own, in
    turns with the groups. It may take longer, and reads do not wait for it.
    """

    def __init__(
        self, connection: sqlite3.Connection, files: DatabaseFiles, health: StorageHealth
    ) -> None:
        self._connection = connection
        self._files = files
        self._health = health
        # The event loop must not wait for a lock; see _begin.
        self._connection.execute("PRAGMA busy_timeout = 0")
        self._tx = SqliteTx(connection)
        self._waiting = _JobQueue()
        self._background: deque[_Job[Any]] = deque()
        self._turn = asyncio.Lock()
        self._committer = ThreadPoolExecutor(1, thread_name_prefix="committer")
        self._writing: asyncio.Task[None] | None = None

    async def submit(self, work: Work[T], tenant_id: str | None) -> T:
        job = _Job(work, asyncio.get_running_loop().create_future())
        self._waiting.add(job, tenant_id)
        return await self._result_of(job)

    async def submit_in_background(self, work: Work[T]) -> T:
        job = _Job(work, asyncio.get_running_loop().create_future())
        self._background.append(job)
        return await self._result_of(job)

    async def run_alone(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function on the second thread, between two transactions."""

        async def take_turn() -> T:
            loop = asyncio.get_running_loop()
            async with self._turn:
                return await loop.run_in_executor(self._committer, function, self._connection)

        # A cancelled caller leaves the function running, and nothing else may run meanwhile.
        return await asyncio.shield(take_turn())

    async def _result_of(self, job: _Job[T]) -> T:
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_until_empty())
        try:
            return await job.future
        except ServiceUnavailable as error:
            if isinstance(error.__cause__, sqlite3.Error):
                self._health.note_failed_write()
            raise

    async def close(self) -> None:
        if self._writing is not None:
            await self._writing
        async with self._turn:
            pass
        self._committer.shutdown()
        self._connection.close()

    async def _write_until_empty(self) -> None:
        try:
            while self._waiting or self._background:
                async with self._turn:
                    await self._commit_group(self._waiting.take(_MAX_GROUP_JOBS))
                    if self._background:
                        await self._commit_background(self._background.popleft())
        finally:
            self._writing = None

    async def _commit_group(self, jobs: list[_Job[Any]]) -> None:
        """Run all jobs in one transaction, then settle each with its value or error."""
        if not jobs:
            return
        try:
            await self._begin()
            for job in jobs:
                self._run_in_savepoint(job)
            await self._run_in_thread(self._commit, self._files)
        except sqlite3.Error as error:
            self._fail_jobs(jobs, error)
        for job in jobs:
            job.settle()

    def _commit(self, files: DatabaseFiles) -> None:
        self._tx.commit()
        files.verify()

    async def _commit_background(self, job: _Job[Any]) -> None:
        try:
            await self._begin()
            await self._run_in_thread(self._run_and_commit, job)
        except sqlite3.Error as error:
            self._fail_jobs([job], error)
        job.settle()

    def _run_and_commit(self, job: _Job[Any]) -> None:
        self._run_in_savepoint(job)
        self._commit(self._files)

    async def _begin(self) -> None:
        """Take the write lock, which only a command beside the server can hold."""
        try:
            self._tx.begin()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            self._connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
            try:
                await asyncio.get_running_loop().run_in_executor(self._committer, self._tx.begin)
            finally:
                self._connection.execute("PRAGMA busy_timeout = 0")

    async def _run_in_thread(
        self, function: Callable[[Argument], object], argument: Argument
    ) -> None:
        await asyncio.get_running_loop().run_in_executor(self._committer, function, argument)

    def _run_in_savepoint(self, job: _Job[Any]) -> None:
        """Raises sqlite3.Error when the whole transaction is lost."""
        self._connection.execute("SAVEPOINT job")
        try:
            job.value = drive(job.work(self._tx))
            self._tx.store_counters()
        except BaseException as error:
            # A full disk rolls back the whole transaction, not the savepoint; the next job would
            # silently start a new one, and only the second half of the group would be stored.
            if not self._connection.in_transaction:
                raise sqlite3.OperationalError("the transaction was rolled back") from error
            self._tx.roll_back(to="job")
            job.error = errors.translate(error)
        self._connection.execute("RELEASE job")

    def _fail_jobs(self, jobs: list[_Job[Any]], error: sqlite3.Error) -> None:
        try:
            self._tx.roll_back()
        except sqlite3.Error as second:
            error.add_note(f"and the rollback failed: {second}")
        for job in jobs:
            job.error = errors.unavailable(error)
