"""SQLite behind the doors: one writer that commits whoever waits together, and readers.

The coroutines that rooms write never really wait here, so they are driven to their end in one
step on the event loop's thread; what does wait has threads of its own: the flush of the disk,
and reads that no index serves.
"""

import asyncio
import os
import sqlite3
import time
from collections import deque
from collections.abc import Awaitable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from sealdesk.db.engine import Params, Row, Work
from sealdesk.errors import Refusal, Unavailable

T = TypeVar("T")
BUSY_TIMEOUT_MS = 5000
SLOW_READ_LIMIT_S = 2.0  # decisions 9
_SLOW_READS_WAITING = 8
_STEPS_BETWEEN_LOOKS = 10_000  # of SQLite's machine: about 0.1 ms
_GROUP_JOBS = 32  # some 5 ms of the loop's time
_CHECKPOINT_PAGES = 16_384  # 64 MiB of log: hot pages are copied back once, not per group
_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    # What a savepoint may have to restore; on disk it took 40 of 53 writes of a new ticket.
    "PRAGMA temp_store = MEMORY",
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
    # Only ever a new file: to close one that exists would drop every lock that this process's
    # other connections hold on it, and a command beside the server would delete the log under
    # them (sqlite.org/howtocorrupt.html, section 2.2).
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
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
            self._share_view()
            return await work(self._reading)
        except sqlite3.Error as error:
            raise Unavailable from error

    def _share_view(self) -> None:
        """Let the reads of one turn of the loop see one state: opening it costs what a probe does.

        Whoever was told of a commit asks in a later turn, and sees it.
        """
        if not self._reader.in_transaction:
            self._reader.execute("BEGIN")
            asyncio.get_running_loop().call_soon(self._end_view)

    def _end_view(self) -> None:
        # Nothing was written; unlike COMMIT this cannot fail and leave an old state in view.
        self._reader.execute("ROLLBACK")

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
        # Asked for by the connection: an interrupt from another thread is lost between statements.
        deadline = time.monotonic() + SLOW_READ_LIMIT_S
        self._slow_reader.set_progress_handler(
            lambda: time.monotonic() > deadline, _STEPS_BETWEEN_LOOKS
        )
        try:
            return drive(work(SqliteTx(self._slow_reader)))
        except sqlite3.OperationalError as error:
            if "interrupted" in str(error):
                raise _too_slow(f"The query took more than {SLOW_READ_LIMIT_S:g} s.") from error
            raise Unavailable from error
        except sqlite3.Error as error:
            raise Unavailable from error

    async def write(self, work: Work[T]) -> T:
        return await self._writer.submit(work)

    async def close(self) -> None:
        await asyncio.sleep(0)  # the last view ends
        self._slow_thread.shutdown()
        self._slow_reader.close()
        self._reader.close()
        # Last, because the last one to close copies the log back.
        await self._writer.close()


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
    """Group commit: the jobs that wait share one transaction, with a savepoint for each.

    Their SQL runs on the loop's thread, for it waits for nothing; what waits for the disk, the
    COMMIT, runs on a thread of its own, and meanwhile the next group gathers. On two threads
    the interpreter lock changed hands at every statement, which cost a fifth (decision 0005).
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        # Nothing on the loop may wait for a lock; see _begin.
        self._connection.execute("PRAGMA busy_timeout = 0")
        self._tx = SqliteTx(connection)
        self._waiting: deque[_Job[Any]] = deque()
        self._committer = ThreadPoolExecutor(1, thread_name_prefix="committer")
        self._writing: asyncio.Task[None] | None = None

    async def submit(self, work: Work[T]) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._waiting.append(_Job(work, future))
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
            while self._waiting:
                count = min(len(self._waiting), _GROUP_JOBS)
                jobs = [self._waiting.popleft() for _ in range(count)]
                await self._commit_together(jobs)
                for job in jobs:
                    job.settle()
        finally:
            self._writing = None

    async def _commit_together(self, jobs: list[_Job[Any]]) -> None:
        """Run all jobs in one transaction; on return each has its value or its error."""
        try:
            await self._begin()
            for job in jobs:
                self._run_in_savepoint(job)
            await self._off_the_loop("COMMIT")
        except sqlite3.Error as error:
            self._give_up(jobs, error)

    async def _begin(self) -> None:
        """Take the write lock; only a command that writes beside the server can hold it."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            self._connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
            try:
                await self._off_the_loop("BEGIN IMMEDIATE")
            finally:
                self._connection.execute("PRAGMA busy_timeout = 0")

    async def _off_the_loop(self, sql: str) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._committer, self._connection.execute, sql)

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


def _translated(error: BaseException) -> BaseException:
    if isinstance(error, Refusal) or not isinstance(error, sqlite3.Error):
        return error
    # A broken constraint is our own mistake and must be seen; all else is the storage's state.
    if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
        return error
    unavailable = Unavailable()
    unavailable.__cause__ = error
    return unavailable
