"""A move reads the tables from the catalogue, and copies pages of bounded size."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy import Boolean, LargeBinary, Text

from sealdesk.db import schema
from sealdesk.db.migrations.schema_version import Unusable
from sealdesk.db.schema import metadata
from sealdesk.db.sqlite.connection import connect
from sealdesk_move import copy, sessions
from sealdesk_move import sqlite as sqlite_side
from sealdesk_move.batch_size import BatchSize
from sealdesk_move.sqlite import SqliteSource
from sealdesk_move.tables import Table, read_tables
from tests.support.databases import WAITS_FOR_ADVISORY_LOCK, Template

# Derived tables are rebuilt, not copied.
MOVED = [table for name, table in metadata.tables.items() if name not in schema.REBUILT]


@pytest.fixture
def owner_url(postgres_template: Template) -> Iterator[str]:
    with postgres_template.copied() as env:
        yield env["SEALDESK_OWNER_DATABASE_URL"]


@pytest.fixture
def tables(owner_url: str) -> tuple[Table, ...]:
    async def ask() -> tuple[Table, ...]:
        connection = await asyncpg.connect(owner_url, timeout=60)
        try:
            return await read_tables(connection)
        finally:
            await connection.close()

    return asyncio.run(ask())


class Silent:
    """A progress display without output."""

    def begin(self, stage: str, table: str, done: int, total: int) -> None: ...

    def advance(self, rows: int) -> None: ...


def move(path: Path, url: str) -> dict[str, copy.Summary]:
    async def run() -> dict[str, copy.Summary]:
        with closing(connect(path)) as connection:
            connection.row_factory = None
            async with sessions.open_target(url) as (target, tables):
                return await copy.move(SqliteSource(connection), target, tables, Silent())

    return asyncio.run(run())


def test_catalogue_matches_the_schema(tables: tuple[Table, ...]) -> None:
    told = {
        table.name: (table.columns, table.key, dict(zip(table.columns, table.types, strict=True)))
        for table in tables
    }
    kinds = {Text: "text", LargeBinary: "bytea", Boolean: "boolean"}
    for table in MOVED:
        columns, key, types = told.pop(table.name)
        assert set(columns) == set(table.columns.keys())
        assert key == tuple(table.primary_key.columns.keys())
        for column in table.columns:
            kind = kinds.get(type(column.type), "int")
            assert types[column.name].removeprefix("big").removeprefix("small")[:3] == kind[:3]
    assert told == {}


def test_each_table_comes_after_those_that_it_refers_to(tables: tuple[Table, ...]) -> None:
    place = {table.name: number for number, table in enumerate(tables)}
    references = [
        (table.name, key.column.table.name) for table in MOVED for key in table.foreign_keys
    ]
    assert references
    assert [pair for pair in references if place[pair[0]] <= place[pair[1]]] == []


def test_pages_of_large_rows_have_few_rows() -> None:
    pace = BatchSize()
    pace.adapt([("x" * 1_000_000,)])
    assert pace.rows == 2
    pace.adapt([(1,)] * 100)
    assert pace.rows == 2000


@pytest.mark.parametrize(
    ("kind", "value", "told"),
    [
        ("text", b"bytes", "bytes where text belongs"),
        ("bigint", "12", "str where bigint belongs"),
        ("bytea", "text", "str where bytea belongs"),
        ("text", "\0", "U+0000"),
    ],
)
def test_values_that_postgresql_cannot_store_are_reported(
    kind: str, value: str | bytes, told: str
) -> None:
    table = Table("songs", ("id", "title"), ("bigint", kind), ("id",))
    assert told in table.fault_in((1, value))
    assert table.fault_in((1, None)) == ""


def _filled(template: Path, tmp_path: Path, *statements: str) -> Path:
    path = tmp_path / "sealdesk.db"
    path.write_bytes(template.read_bytes())
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in ("INSERT INTO tenants VALUES ('t', 'Acme', 1)", *statements):
            connection.execute(statement)
    return path


def test_a_row_that_refers_to_nothing_is_one_line(
    template: Path, tmp_path: Path, owner_url: str
) -> None:
    path = _filled(template, tmp_path, "INSERT INTO ticket_tags VALUES ('t', 'tag', 'none')")
    with pytest.raises(Unusable, match=r"ticket_tags cannot be moved as it is: .*foreign key"):
        move(path, owner_url)


def test_a_truth_that_is_neither_0_nor_1_is_found(
    template: Path, tmp_path: Path, owner_url: str
) -> None:
    user = (
        "INSERT INTO users VALUES ('t', 'u', 'a@b.test', 'Ada', 'agent', NULL, 2, 1, 1, 'a@b.test')"
    )
    with pytest.raises(Unusable, match=r"users differs .* in the row t u"):
        move(_filled(template, tmp_path, user), owner_url)


def test_two_moves_at_once_are_refused(template: Path, tmp_path: Path, owner_url: str) -> None:
    async def run() -> None:
        async with sessions.open_target(owner_url):
            with pytest.raises(Unusable, match="another `sealdesk move` works on"):
                async with sessions.open_target(owner_url):
                    pass

    asyncio.run(run())


def test_a_move_waits_for_the_end_of_the_last_one(owner_url: str) -> None:
    async def run() -> None:
        async def move_again() -> None:
            async with sessions.open_target(owner_url):
                pass

        looking = await asyncpg.connect(owner_url)
        async with sessions.open_target(owner_url):
            again = asyncio.create_task(move_again())
            while not await looking.fetchval(WAITS_FOR_ADVISORY_LOCK):
                assert not again.done()
        await again
        await looking.close()

    asyncio.run(run())


def test_a_source_on_postgresql_takes_no_writes_meanwhile(owner_url: str) -> None:
    async def run() -> None:
        async with sessions.open_source(owner_url):
            other = await asyncpg.connect(owner_url, timeout=60)
            try:
                await other.execute("SET lock_timeout = '100ms'")
                with pytest.raises(asyncpg.LockNotAvailableError):
                    await other.execute("INSERT INTO tenants VALUES ('t', 'Acme', 1)")
            finally:
                await other.close()

    asyncio.run(run())


def test_a_source_on_sqlite_takes_no_writes_meanwhile_not_even_the_moves(
    template: Path, tmp_path: Path
) -> None:
    path = _filled(template, tmp_path)
    with (
        sqlite_side.open_source(path) as source,
        closing(sqlite3.connect(path, timeout=0.1)) as other,
    ):
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("DELETE FROM tenants")
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            source._connection.execute("DELETE FROM tenants")


def test_a_file_that_is_not_whole_is_no_source(template: Path, tmp_path: Path) -> None:
    back = tmp_path / "back.db"
    (tmp_path / "back.db.moving").write_bytes(template.read_bytes())

    async def begin() -> None:
        with sqlite_side.open_target(back) as target:
            assert await target.mark() is None
            await target.set_mark("of something")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(begin())
    assert not back.exists()
    unfinished = sqlite_side.open_source(tmp_path / "back.db.moving")
    with pytest.raises(Unusable, match="holds an unfinished move"), unfinished:
        pass
