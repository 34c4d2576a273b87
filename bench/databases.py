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

from bench.build import LOADING_PRAGMAS
from bench.cluster import Cluster
from bench.data import Data
from bench.rounds import POSTGRES_PREFIX, POSTGRES_SUFFIX
from sealdesk.db import schema_version
from sealdesk.db.sqlite.connection import connect
from sealdesk.settings import from_env

_EMPTY_DATABASES = ("webhooks", "webhooks_burdened")
T = TypeVar("T")
Row = Mapping[str, Any]


class DirectSql(Protocol):
    """The way in."""

    def add(self, table: str, rows: Iterable[Row]) -> None:
        """Add rows that all have the columns of the first one, while nobody serves.

        Nothing of it is left to be written later.
        """

    def remove(self, table: str, condition: str) -> None:
        """Delete rows, and leave nothing of them to be tidied up."""

    def run(self, sql: str) -> None: ...

    def value(self, sql: str) -> Any:
        """The only value that a statement gives."""


class DirectSqlite:
    """In a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, table: str, rows: Iterable[Row]) -> None:
        found = iter(rows)
        first = next(found)
        sql = f"INSERT INTO {table} ({', '.join(first)}) VALUES ({', '.join('?' * len(first))})"
        with closing(connect(self._path)) as connection:
            for pragma in LOADING_PRAGMAS:
                connection.execute(pragma)
            connection.execute("BEGIN")
            connection.executemany(sql, (list(row.values()) for row in chain([first], found)))
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL")
        # Otherwise the kernel writes it while others wait for the disk.
        with self._path.open("rb") as file:
            os.fsync(file.fileno())

    def remove(self, table: str, condition: str) -> None:
        self.run(f"DELETE FROM {table} WHERE {condition}")

    def run(self, sql: str) -> None:
        with closing(connect(self._path)) as connection:
            connection.execute(sql)

    def value(self, sql: str) -> Any:
        with closing(connect(self._path)) as connection:
            return connection.execute(sql).fetchone()[0]


class DirectPostgres:
    """As the superuser. url: of the database."""

    def __init__(self, url: str) -> None:
        self._url = url

    def add(self, table: str, rows: Iterable[Row]) -> None:
        found = iter(rows)
        first = next(found)
        records = (tuple(row.values()) for row in chain([first], found))

        async def add(connection: asyncpg.Connection) -> None:
            await connection.copy_records_to_table(table, columns=list(first), records=records)
            await connection.execute(f"VACUUM (ANALYZE) {table}")  # as it would do by itself
            await connection.execute("CHECKPOINT")

        self._do(add)

    def remove(self, table: str, condition: str) -> None:
        self.run(f"DELETE FROM {table} WHERE {condition}")
        self.run(f"VACUUM {table}")

    def run(self, sql: str) -> None:
        self._do(lambda connection: connection.execute(sql))

    def value(self, sql: str) -> Any:
        return self._do(lambda connection: connection.fetchval(sql))

    def _do(self, work: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
        async def do() -> T:
            connection = await asyncpg.connect(self._url)
            try:
                return await work(connection)
            finally:
                await connection.close()

        return asyncio.run(do())


class BenchDatabase(NamedTuple):
    """A database. env: leads the service to it. beside: SQL on it."""

    env: Mapping[str, str]
    beside: DirectSql


class DatabaseSet(NamedTuple):
    """The databases of one kind.

    prefix, suffix: of the names of what is driven, and of figures. small: have their tables, and
    nothing in them. database_s: what the database server has computed.
    """

    prefix: str
    suffix: str
    tickets: BenchDatabase
    small: list[BenchDatabase]
    database_s: Callable[[], float] | None


@contextmanager
def sqlite_databases(data: Data) -> Iterator[DatabaseSet]:
    """Files."""
    tickets = BenchDatabase({}, DirectSqlite(data.settings.database_path))
    with _directories(data) as directories:
        envs = [{"SEALDESK_DATA_DIR": str(directory)} for directory in directories]
        paths = [from_env(env).database_path for env in envs]
        schema_version.ensure_current(paths[0])
        shutil.copy(*paths)
        small = [
            BenchDatabase(env, DirectSqlite(path)) for env, path in zip(envs, paths, strict=True)
        ]
        yield DatabaseSet("", "", tickets, small, None)


@contextmanager
def postgres_databases(data: Data, database: Cluster) -> Iterator[DatabaseSet]:
    """Databases of the running cluster."""
    tickets = BenchDatabase(database.environment(data), DirectPostgres(database.superuser_url()))
    with _directories(data) as directories, _empty_databases(database):
        small = [
            BenchDatabase(
                # For the logs of who serves it.
                {**database.environment(data, name), "SEALDESK_DATA_DIR": str(directory)},
                DirectPostgres(database.superuser_url(name)),
            )
            for name, directory in zip(_EMPTY_DATABASES, directories, strict=True)
        ]
        yield DatabaseSet(POSTGRES_PREFIX, POSTGRES_SUFFIX, tickets, small, database.cpu_s)


@contextmanager
def _empty_databases(database: Cluster) -> Iterator[None]:
    """The small ones, also where a run was killed."""
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
def _directories(data: Data) -> Iterator[list[Path]]:
    """One for each of the small databases, beside the data."""
    with tempfile.TemporaryDirectory(prefix="webhooks-", dir=data.settings.data_dir) as directory:
        directories = [Path(directory) / name for name in _EMPTY_DATABASES]
        for each in directories:
            each.mkdir(mode=0o700)
        yield directories
