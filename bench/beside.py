"""SQL beside the service, on either database: many rows at once, and what has become of them."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, TypeVar

import asyncpg

from bench.build import LOADING
from sealdesk.db.sqlite.connection import connect

T = TypeVar("T")
Row = Mapping[str, Any]


class Beside(Protocol):
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


class BesideSqlite:
    """In a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, table: str, rows: Iterable[Row]) -> None:
        found = iter(rows)
        first = next(found)
        sql = f"INSERT INTO {table} ({', '.join(first)}) VALUES ({', '.join('?' * len(first))})"
        with closing(connect(self._path)) as connection:
            for pragma in LOADING:
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


class BesidePostgres:
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
