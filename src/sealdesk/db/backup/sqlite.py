"""Copies an SQLite database while it is in use, and puts such a copy in place."""

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from sealdesk.db.engine import Work
from sealdesk.db.migrations import schema_version
from sealdesk.db.migrations.schema_version import Unusable
from sealdesk.db.sqlite.connection import connect, run_now
from sealdesk.db.sqlite.quick_check import quick_check

T = TypeVar("T")
_PAGES_PER_STEP = 1024
_TABLES = """
SELECT name FROM sqlite_master
WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'search_index%'
ORDER BY name LIMIT 1000
"""
_SEALED_COLUMNS = """
SELECT m.name, p.name FROM sqlite_master m JOIN pragma_table_info(m.name) p
WHERE m.type = 'table' AND p.name LIKE 'sealed\\_%' ESCAPE '\\' ORDER BY 1, 2 LIMIT 1000
"""


class Reader:
    """Reads the copy for the manifest."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def rows(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        named = {str(number): value for number, value in enumerate(values, 1)}
        return self._connection.execute(sql, named).fetchall()

    async def tables(self) -> list[str]:
        return [name for (name,) in self._connection.execute(_TABLES)]

    async def sealed_columns(self) -> list[tuple[str, str]]:
        return self._connection.execute(_SEALED_COLUMNS).fetchall()


def copy(source: Path, target: Path, report: Callable[[int, int], None]) -> None:
    """Copy a database as it is at one moment, and check the copy.

    report: is told how many pages are copied, and how many there are. Raises Unusable,
    sqlite3.Error.
    """
    with closing(connect(source)) as reader, closing(sqlite3.connect(target)) as writer:
        writer.execute("PRAGMA synchronous = OFF")
        # In a read transaction: without it, each commit of the server makes the copy start anew.
        reader.execute("BEGIN")
        reader.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        reader.backup(
            writer,
            pages=_PAGES_PER_STEP,
            progress=lambda _, left, total: report(total - left, total),
        )
        reader.execute("ROLLBACK")
        writer.execute("PRAGMA journal_mode = DELETE")
        check(writer, source)


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Raises Unusable when pages of the database are damaged."""
    faults = quick_check(connection).faults
    if faults:
        raise Unusable(f"{path} is damaged ({faults[0]}); restore the newest whole backup")


def check_target(path: Path) -> None:
    """Raises Unusable when there is a database, or what one has left."""
    for suffix in ("", "-wal", "-shm"):
        found = path.with_name(f"{path.name}{suffix}")
        if found.exists():
            raise Unusable(
                f"{found} exists, and a restore replaces nothing; move it and the files beside it"
                " that begin with the same name to another directory, and keep them"
            )


def unpack(blocks: Iterable[bytes], part: Path, advance: Callable[[int], None]) -> None:
    """Write a database from a backup, and check it. Raises Unusable."""
    with part.open("wb") as file:
        for block in blocks:
            file.write(block)
            advance(len(block))
    with closing(sqlite3.connect(part)) as connection:
        check(connection, part)


def prepare(part: Path, work: Work[object]) -> None:
    """Migrate an unpacked database and run this work in it. Raises Unusable."""
    schema_version.ensure_current(part)
    write(part, work)


def write(path: Path, work: Work[T]) -> T:
    """Run work in one transaction, alone, and leave no log beside the file."""
    with closing(connect(path, is_checkpointer=True)) as connection:
        value = run_now(connection, work)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return value
