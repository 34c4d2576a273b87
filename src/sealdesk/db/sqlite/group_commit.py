"""The one writer: whoever waits is committed together, and answered once it is durable."""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar, cast

from sealdesk.db.engine import Work
from sealdesk.db.sqlite.connection import BUSY_TIMEOUT_MS, SqliteTx, drive
from sealdesk.errors import ApiError, ServiceUnavailable

T = TypeVar("T")
Argument = TypeVar("Argument")
_GROUP_JOBS = 32  # some 5 ms of the loop's time


class _Job(Generic[T]):
    """One piece of work and the future of who waits for it."""

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


class Writer:
    """Group commit: the jobs that wait share one transaction, with a savepoint for each.

    Their SQL runs on the loop's thread, for it waits for nothing; what waits for the disk, the
    COMMIT, runs on a thread of its own, and meanwhile the next group gathers. On two threads
    the interpreter lock changed hands at every statement, which cost a fifth (decision 0005).

    Work of the background runs aside: all of it on that other thread and in a transaction of its
    own, in turns with the groups. It may take longer, and what is read waits for none of it.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        # Nothing on the loop may wait for a lock; see _begin.
        self._connection.execute("PRAGMA busy_timeout = 0")
        self._tx = SqliteTx(connection)
        self._waiting: deque[_Job[Any]] = deque()
        self._aside: deque[_Job[Any]] = deque()
        self._committer = ThreadPoolExecutor(1, thread_name_prefix="committer")
        self._writing: asyncio.Task[None] | None = None

    async def submit(self, work: Work[T]) -> T:
        return await self._submitted(work, self._waiting)

    async def submit_aside(self, work: Work[T]) -> T:
        return await self._submitted(work, self._aside)

    async def _submitted(self, work: Work[T], jobs: deque[_Job[Any]]) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        jobs.append(_Job(work, future))
        if self._writing is None:
            self._writing = loop.create_task(self._write_all())
        return await future

    async def close(self) -> None:
        if self._writing is not None:
            await self._writing
        self._committer.shutdown()
        self._connection.close()

    async def _write_all(self) -> None:
        try:
            while self._waiting or self._aside:
                count = min(len(self._waiting), _GROUP_JOBS)
                await self._commit_together([self._waiting.popleft() for _ in range(count)])
                if self._aside:
                    await self._commit_aside(self._aside.popleft())
        finally:
            self._writing = None

    async def _commit_together(self, jobs: list[_Job[Any]]) -> None:
        """Run all jobs in one transaction; on return each has been told its value or its error."""
        if not jobs:
            return
        try:
            await self._begin()
            for job in jobs:
                self._run_in_savepoint(job)
            await self._off_the_loop(self._connection.execute, "COMMIT")
        except sqlite3.Error as error:
            self._give_up(jobs, error)
        for job in jobs:
            job.settle()

    async def _commit_aside(self, job: _Job[Any]) -> None:
        try:
            await self._begin()
            await self._off_the_loop(self._run_and_commit, job)
        except sqlite3.Error as error:
            self._give_up([job], error)
        job.settle()

    def _run_and_commit(self, job: _Job[Any]) -> None:
        self._run_in_savepoint(job)
        self._connection.execute("COMMIT")

    async def _begin(self) -> None:
        """Take the write lock; only a command that writes beside the server can hold it."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            self._connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
            try:
                await self._off_the_loop(self._connection.execute, "BEGIN IMMEDIATE")
            finally:
                self._connection.execute("PRAGMA busy_timeout = 0")

    async def _off_the_loop(
        self, request: Callable[[Argument], object], argument: Argument
    ) -> None:
        await asyncio.get_running_loop().run_in_executor(self._committer, request, argument)

    def _run_in_savepoint(self, job: _Job[Any]) -> None:
        """Raises sqlite3.Error when the whole transaction is lost."""
        self._connection.execute("SAVEPOINT job")
        try:
            job.value = drive(job.work(self._tx))
        except BaseException as error:
            # A full disk undoes the whole transaction, not the savepoint; going on would
            # silently start a new one and keep only the later half of the group.
            if not self._connection.in_transaction:
                raise sqlite3.OperationalError("the transaction was undone") from error
            self._connection.execute("ROLLBACK TO job")
            job.error = _translated(error)
        self._connection.execute("RELEASE job")

    def _give_up(self, jobs: list[_Job[Any]], error: sqlite3.Error) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error as second:
            error.add_note(f"and the rollback failed: {second}")
        for job in jobs:
            job.error = ServiceUnavailable()
            job.error.__cause__ = error


def _translated(error: BaseException) -> BaseException:
    if isinstance(error, ApiError) or not isinstance(error, sqlite3.Error):
        return error
    # A broken constraint is our own mistake and must be seen; all else is the storage's state.
    if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
        return error
    unavailable = ServiceUnavailable()
    unavailable.__cause__ = error
    return unavailable
