"""The databases for events and webhooks, and direct SQL on them."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import asyncpg

from bench.databases.build import LOADING_PRAGMAS
from bench.databases.cluster import Cluster
from bench.databases.sqlite_data import Data
from bench.load.rounds import POSTGRES_PREFIX, POSTGRES_SUFFIX
from sealdesk.db.migrations import schema_version
from sealdesk.db.sqlite.connection import connect
from sealdesk.settings import from_env

_EMPTY_DATABASES = ("webhooks", "webhooks_burdened")
T = TypeVar("T")
Row = Mapping[str, Any]


class DirectSql(Protocol):
    """SQL on a database without the service."""

    def insert(self, table: str, rows: Iterable[Row]) -> None:
        """Insert rows with the columns of the first one, while no server runs.

        All data is on disk afterwards, so that no round is disturbed by writing it.
        """

    def delete(self, table: str, condition: str) -> None:
        """Delete rows, and vacuum the table on PostgreSQL."""

    def run(self, sql: str) -> None: ...

    def fetch_value(self, sql: str) -> Any:
        """The single value that a statement returns."""


class DirectSqlite:
    """SQL on an SQLite file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def insert(self, table: str, rows: Iterable[Row]) -> None:
        remaining = iter(rows)
        first = next(remaining)
        sql = f"INSERT INTO {table} ({', '.join(first)}) VALUES ({', '.join('?' * len(first))})"
        with closing(connect(self._path)) as connection:
            for pragma in LOADING_PRAGMAS:
                connection.execute(pragma)
            connection.execute("BEGIN")
            connection.executemany(sql, (list(row.values()) for row in chain([first], remaining)))
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL")
        # Otherwise the kernel writes the file during a round.
        with self._path.open("rb") as file:
            os.fsync(file.fileno())

    def delete(self, table: str, condition: str) -> None:
        self.run(f"DELETE FROM {table} WHERE {condition}")

    def run(self, sql: str) -> None:
        with closing(connect(self._path)) as connection:
            connection.execute(sql)

    def fetch_value(self, sql: str) -> Any:
        with closing(connect(self._path)) as connection:
            return connection.execute(sql).fetchone()[0]


class DirectPostgres:
    """SQL on PostgreSQL as the superuser. url: of the database."""

    def __init__(self, url: str) -> None:
        self._url = url

    def insert(self, table: str, rows: Iterable[Row]) -> None:
        remaining = iter(rows)
        first = next(remaining)
        records = (tuple(row.values()) for row in chain([first], remaining))

        async def copy(connection: asyncpg.Connection) -> None:
            await connection.copy_records_to_table(table, columns=list(first), records=records)
            await connection.execute(f"VACUUM (ANALYZE) {table}")  # as autovacuum would do
            await connection.execute("CHECKPOINT")

        self._run_async(copy)

    def delete(self, table: str, condition: str) -> None:
        self.run(f"DELETE FROM {table} WHERE {condition}")
        self.run(f"VACUUM {table}")

    def run(self, sql: str) -> None:
        self._run_async(lambda connection: connection.execute(sql))

    def fetch_value(self, sql: str) -> Any:
        return self._run_async(lambda connection: connection.fetchval(sql))

    def _run_async(self, function: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
        async def connect_and_run() -> T:
            connection = await asyncpg.connect(self._url)
            try:
                return await function(connection)
            finally:
                await connection.close()

        return asyncio.run(connect_and_run())


class BenchDatabase(NamedTuple):
    """A database. env: the settings of a service on it. sql: SQL without the service."""

    env: Mapping[str, str]
    sql: DirectSql


class DatabaseSet(NamedTuple):
    """The databases for webhooks, on SQLite or PostgreSQL.

    prefix: of the names of rounds. suffix: of the names of figures. empty: have empty tables.
    database_s: the CPU time of the database server so far.
    """

    prefix: str
    suffix: str
    tickets: BenchDatabase
    empty: list[BenchDatabase]
    database_s: Callable[[], float] | None


@contextmanager
def make_sqlite_databases(data: Data) -> Iterator[DatabaseSet]:
    """SQLite files."""
    tickets = BenchDatabase({}, DirectSqlite(data.settings.database_path))
    with _make_directories(data) as directories:
        envs = [{"SEALDESK_DATA_DIR": str(directory)} for directory in directories]
        paths = [from_env(env).database_path for env in envs]
        schema_version.ensure_current(paths[0])
        shutil.copy(*paths)
        empty = [
            BenchDatabase(env, DirectSqlite(path)) for env, path in zip(envs, paths, strict=True)
        ]
        yield DatabaseSet("", "", tickets, empty, None)


@contextmanager
def make_postgres_databases(data: Data, database: Cluster) -> Iterator[DatabaseSet]:
    """Databases of the running cluster."""
    tickets = BenchDatabase(database.environment(data), DirectPostgres(database.superuser_url()))
    with _make_directories(data) as directories, _create_empty_databases(database):
        empty = [
            BenchDatabase(
                # The log is written there.
                {**database.environment(data, name), "SEALDESK_DATA_DIR": str(directory)},
                DirectPostgres(database.superuser_url(name)),
            )
            for name, directory in zip(_EMPTY_DATABASES, directories, strict=True)
        ]
        yield DatabaseSet(POSTGRES_PREFIX, POSTGRES_SUFFIX, tickets, empty, database.cpu_s)


@contextmanager
def _create_empty_databases(database: Cluster) -> Iterator[None]:
    """Create the empty databases; drops those of a run that was killed."""
    first, second = _EMPTY_DATABASES
    _drop_databases(database)
    try:
        database.make_database(first)
        database.migrate(first)
        database.sql(f"CREATE DATABASE {second} OWNER owner TEMPLATE {first}")
        yield
    finally:
        _drop_databases(database)


def _drop_databases(database: Cluster) -> None:
    for name in _EMPTY_DATABASES:
        database.sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@contextmanager
def _make_directories(data: Data) -> Iterator[list[Path]]:
    """One directory for each of the empty databases."""
    with tempfile.TemporaryDirectory(prefix="webhooks-", dir=data.settings.data_dir) as directory:
        directories = [Path(directory) / name for name in _EMPTY_DATABASES]
        for path in directories:
            path.mkdir(mode=0o700)
        yield directories
