"""The one writer of SQLite: group commit, and background work in turns with the groups."""

import asyncio
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from sealdesk.db.engine import Work
from sealdesk.db.sqlite import errors
from sealdesk.db.sqlite.checkpoint import DUE_FRAMES, Checkpointer
from sealdesk.db.sqlite.connection import BUSY_TIMEOUT_MS, connect
from sealdesk.db.sqlite.files import DatabaseFiles
from sealdesk.db.sqlite.transaction import SqliteTx
from sealdesk.errors import ServiceUnavailable
from sealdesk.errors.general import TOO_MANY_WRITES
from sealdesk.telemetry.storage import StorageHealth

T = TypeVar("T")
Job = TypeVar("Job")
_MAX_GROUP_JOBS = 32  # about 5 ms of the event loop's time
MAX_WAITING_WRITES = 1000  # of one tenant: half a second
# A function, and what the thread calls with its value or its error.
_Call = tuple[Callable[[], Any], Callable[[Any, BaseException | None], object]]


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


class Writer:
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
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._thread = _start_thread(self._calls)
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
        call: _Call = function, lambda *end: loop.call_soon_threadsafe(_settle, future, *end)
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


class JobQueue(Generic[Job]):
    """Waiting jobs, in the order in which tenants take turns.

    A job's rank is one more than that of the tenant's job before it, and at least that of the job
    that ran last (start-time fair queuing). Work without a tenant counts as one more tenant.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Job]] = []
        self._numbers = count()
        self._rank = 0  # of the last job that was taken
        self._next_ranks: dict[str | None, int] = {}

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, job: Job, tenant_id: str | None) -> None:
        """Raises ServiceUnavailable when too many jobs of the tenant wait."""
        rank = max(self._rank, self._next_ranks.get(tenant_id, 0))
        if tenant_id is not None and rank - self._rank >= MAX_WAITING_WRITES:
            raise ServiceUnavailable(TOO_MANY_WRITES)
        self._next_ranks[tenant_id] = rank + 1
        heappush(self._heap, (rank, next(self._numbers), job))

    def take(self, at_most: int) -> list[Job]:
        """The next jobs, which leave the queue."""
        taken = [heappop(self._heap) for _ in range(min(at_most, len(self._heap)))]
        if self._heap:
            self._rank = taken[-1][0]
        else:
            self._rank = 0
            self._next_ranks.clear()
        return [job for _, _, job in taken]


def _start_thread(calls: SimpleQueue[_Call | None]) -> threading.Thread:
    """A thread that runs the calls, one after another, until it gets None.

    It does less for each than an executor of one thread, which makes two more futures.
    """
    thread = threading.Thread(target=_run, args=(calls,), name="committer", daemon=True)
    thread.start()
    return thread


def _run(calls: SimpleQueue[_Call | None]) -> None:
    while (call := calls.get()) is not None:
        function, settle = call
        value, error = None, None
        try:
            value = function()
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # the loop was closed meanwhile, and nobody waits
            settle(value, error)
