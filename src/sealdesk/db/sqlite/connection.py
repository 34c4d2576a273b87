"""Connections to SQLite with the pragmas that all need, and the `Tx` interface on them."""

import os
import sqlite3
from collections.abc import Awaitable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar, cast

from sealdesk.db.engine import Dialect, Params, Row, SerializationConflict, Work

T = TypeVar("T")
BUSY_TIMEOUT_MS = 5000
_CHECKPOINT_PAGES = 16_384  # 64 MiB of log: hot pages are checkpointed once, not per group commit
# After a checkpoint the file of the log is cut to this, twice the size that one leaves normally.
KEPT_LOG_BYTES = 128 * 1024 * 1024
_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    # The rollback data of savepoints; on disk it was 40 of the 53 writes of a new ticket.
    "PRAGMA temp_store = MEMORY",
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}",
    "PRAGMA cache_size = -16384",
)


class SqliteTx:
    """A transaction on one connection. Its coroutines never suspend."""

    __slots__ = ("_connection",)
    dialect: Dialect = "sqlite"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def fetch_one(self, sql: str, params: Params) -> Row | None:
        rows = self._connection.execute(sql, params).fetchall()
        return rows[0] if rows else None

    async def fetch_all(self, sql: str, params: Params) -> Sequence[Row]:
        return self._connection.execute(sql, params).fetchall()

    async def fetch_page(
        self, sql: str, params: Params, columns: Sequence[str], max_bytes: int
    ) -> Sequence[Row]:
        rows: list[Row] = []
        free_bytes = max_bytes
        with closing(self._connection.execute(sql, params)) as cursor:
            names = [name for name, *_ in cursor.description]
            places = [names.index(column) for column in columns]
            for row in cursor:
                rows.append(row)
                if free_bytes < 0:
                    break
                for place in places:
                    value = row[place]
                    free_bytes -= len(value) if type(value) is bytes else _size(value)
        return rows

    async def execute(self, sql: str, params: Params) -> int:
        return self._connection.execute(sql, params).rowcount

    async def execute_one(self, sql: str, params: Params) -> None:
        if self._connection.execute(sql, params).rowcount != 1:
            raise SerializationConflict  # a bug: there is no concurrent writer

    async def enqueue(self, sql: str, params: Params) -> None:
        self._connection.execute(sql, params)

    async def execute_returning(self, sql: str, params: Params) -> Row:
        (row,) = self._connection.execute(sql, params).fetchall()
        return row

    async def execute_many(self, sql: str, many: Sequence[Params]) -> None:
        self._connection.executemany(sql, many)

    async def select_for_update(self, sql: str, params: Params) -> Sequence[Row]:
        return await self.fetch_all(sql, params)

    async def lock(self, name: str) -> None:
        """No lock is needed: one transaction writes at a time."""

    async def try_lock(self, name: str) -> bool:
        return True

    async def set_tenant(self, tenant_id: str) -> None:
        """SQLite has no row level security; every statement names its tenant."""

    async def find_across_tenants(self, directory: str, sql: str, params: Params) -> Row | None:
        found = await self.fetch_one(directory, params)
        return None if found is None else await self.fetch_one(sql, dict(found))


def _size(value: str | None) -> int:
    return len(value.encode()) if value else 0


def connect(path: Path, *, is_checkpointer: bool = False) -> sqlite3.Connection:
    """Open a connection.

    is_checkpointer: only the server's writer checkpoints the log into the database; SQLite before
    3.51.3 can corrupt it when two connections do (sqlite.org/wal.html, "WAL-reset bug").
    Raises sqlite3.Error.
    """
    # O_EXCL creates new files only: opening and closing an existing one would drop the locks that
    # other connections of this process hold on it, and a command that runs beside the server would
    # delete the log under them (sqlite.org/howtocorrupt.html, section 2.2).
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    for pragma in _PRAGMAS:
        connection.execute(pragma)
    pages = _CHECKPOINT_PAGES if is_checkpointer else 0
    connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")
    connection.execute(f"PRAGMA journal_size_limit = {KEPT_LOG_BYTES}")
    connection.row_factory = sqlite3.Row
    return connection


def drive(work: Awaitable[T]) -> T:
    """Run a coroutine that never suspends."""
    steps = work.__await__()
    try:
        next(steps)
    except StopIteration as done:
        return cast(T, done.value)
    raise RuntimeError("work on SQLite must await nothing but its transaction")


def run_now(connection: sqlite3.Connection, work: Work[T]) -> T:
    """Run work in one transaction on the calling thread, for commands beside the server."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        value = drive(work(SqliteTx(connection)))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return value
