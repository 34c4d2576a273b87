"""SQLite behind the doors: reads on the event-loop thread, writes on one writer thread.

The coroutines that rooms write never really wait here, so they are driven to their end in one
step. The writer takes all waiting jobs, gives each a savepoint and commits them together: one
flush of the disk for all of them.
"""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Awaitable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Generic, TypeVar, cast

from sealdesk.db.engine import Params, Row, Work
from sealdesk.errors import Refusal, Unavailable

T = TypeVar("T")
BUSY_TIMEOUT_MS = 5000
SLOW_READ_LIMIT_S = 2.0  # decisions 9
_SLOW_READS_WAITING = 8
_GROUP_JOBS = 128
_CHECKPOINT_PAGES = 16_384  # 64 MiB of log: hot pages are copied back once, not per group
_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}",
    "PRAGMA cache_size = -16384",
)


class SqliteTx:
    """SQL on one connection. Its coroutines end without waiting."""

    __slots__ = ("_connection",)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def first(self, sql: str, params: Params) -> Row | None:
        rows = self._connection.execute(sql, params).fetchall()
        return rows[0] if rows else None

    async def all(self, sql: str, params: Params) -> Sequence[Row]:
        return self._connection.execute(sql, params).fetchall()

    async def run(self, sql: str, params: Params) -> int:
        return self._connection.execute(sql, params).rowcount


def connect(path: Path, *, is_checkpointer: bool = False) -> sqlite3.Connection:
    """A connection set up as every one must be.

    is_checkpointer: only the server's writer copies the log back into the database; SQLite before
    3.51.3 can corrupt it when two connections do (sqlite.org/wal.html, "WAL-reset bug").
    Raises sqlite3.Error.
    """
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    for pragma in _PRAGMAS:
        connection.execute(pragma)
    pages = _CHECKPOINT_PAGES if is_checkpointer else 0
    connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")
    connection.row_factory = sqlite3.Row
    return connection


def drive(work: Awaitable[T]) -> T:
    """Run a coroutine that never waits to its end."""
    steps = work.__await__()
    try:
        next(steps)
    except StopIteration as done:
        return cast(T, done.value)
    raise RuntimeError("work on SQLite must await nothing but its transaction")


def run_now(connection: sqlite3.Connection, work: Work[T]) -> T:
    """One transaction on the calling thread: for commands that work beside the server."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        value = drive(work(SqliteTx(connection)))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return value


class SqliteDatabase:
    """The embedded database of one serving process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reader = connect(path)
        self._reading = SqliteTx(self._reader)
        self._slow_reader = connect(path)
        self._slow_thread = ThreadPoolExecutor(1, thread_name_prefix="slow-reader")
        self._slow_reads = 0
        self._writer = _Writer(connect(path, is_checkpointer=True))

    async def read(self, work: Work[T]) -> T:
        try:
            return await work(self._reading)
        except sqlite3.Error as error:
            raise Unavailable from error

    async def read_slowly(self, work: Work[T]) -> T:
        if self._slow_reads >= _SLOW_READS_WAITING:
            raise _too_slow("Too many queries that no index serves are waiting.")
        self._slow_reads += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._slow_thread, self._read_within_limit, work)
        finally:
            self._slow_reads -= 1

    def _read_within_limit(self, work: Work[T]) -> T:
        # Counted from here, not from the asking: waiting for the thread is not the query's fault.
        timer = threading.Timer(SLOW_READ_LIMIT_S, self._slow_reader.interrupt)
        timer.start()
        try:
            return drive(work(SqliteTx(self._slow_reader)))
        except sqlite3.OperationalError as error:
            if "interrupted" in str(error):
                raise _too_slow(f"The query took more than {SLOW_READ_LIMIT_S:g} s.") from error
            raise Unavailable from error
        except sqlite3.Error as error:
            raise Unavailable from error
        finally:
            timer.cancel()

    async def write(self, work: Work[T]) -> T:
        return await self._writer.submit(work)

    async def close(self) -> None:
        self._slow_thread.shutdown()
        self._slow_reader.close()
        self._reader.close()
        # Last, because the last one to close copies the log back.
        await asyncio.get_running_loop().run_in_executor(None, self._writer.close)


def _too_slow(what: str) -> Unavailable:
    advice = "No index serves this combination: use one filter, or narrow the time range."
    return Unavailable("query_too_slow", f"{what} {advice}", retry_after_s=10)


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


class _Writer:
    """The one thread that writes: group commit with a savepoint for each job."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._tx = SqliteTx(connection)
        self._queue: SimpleQueue[_Job[Any] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name="writer", daemon=True)
        self._thread.start()

    async def submit(self, work: Work[T]) -> T:
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue.put(_Job(work, future))
        # Shielded: a client that goes away must not make a committed write look undone.
        return await asyncio.shield(future)

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()
        self._connection.close()

    def _serve(self) -> None:
        while (first := self._queue.get()) is not None:
            jobs, is_last = self._with_those_waiting(first)
            self._commit_together(jobs)
            jobs[0].future.get_loop().call_soon_threadsafe(_settle_all, jobs)
            if is_last:
                return

    def _with_those_waiting(self, first: _Job[Any]) -> tuple[list[_Job[Any]], bool]:
        jobs = [first]
        while len(jobs) < _GROUP_JOBS and not self._queue.empty():
            job = self._queue.get()
            if job is None:
                return jobs, True
            jobs.append(job)
        return jobs, False

    def _commit_together(self, jobs: list[_Job[Any]]) -> None:
        """Run all jobs in one transaction; on return each has its value or its error."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for job in jobs:
                self._run_in_savepoint(job)
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._give_up(jobs, error)

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
            job.error = Unavailable()
            job.error.__cause__ = error


def _settle_all(jobs: list[_Job[Any]]) -> None:
    for job in jobs:
        job.settle()


def _translated(error: BaseException) -> BaseException:
    if isinstance(error, Refusal) or not isinstance(error, sqlite3.Error):
        return error
    # A broken constraint is our own mistake and must be seen; all else is the storage's state.
    if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
        return error
    unavailable = Unavailable()
    unavailable.__cause__ = error
    return unavailable
