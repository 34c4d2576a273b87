"""A PostgreSQL database with several tenants that have a row in every table."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from typing import Any, TypeVar
from uuid import UUID, uuid4

import asyncpg
from sqlalchemy import BigInteger, Boolean, Column, LargeBinary, SmallInteger, Table

from sealdesk.db import schema
from sealdesk.db.schema import metadata
from tests.support.databases import Template

T = TypeVar("T")
# Begins every text of a row, so that a leaked row is recognised.
MARK = "mark-"
# The tables whose rows belong to a tenant.
TENANT_TABLES = [table for table in metadata.sorted_tables if table.name not in schema.GLOBAL]
_OF_NO_TENANT = ("epochs",)
# Left empty, because few statements find rows that have ended.
_ENDS = ("revoked_at", "deleted_at", "finished_at", "read_at")


class FilledDatabase:
    """A database with these tenants. owner, runtime and worker: its URLs."""

    def __init__(self, env: dict[str, str], count: int) -> None:
        self.owner = env["SEALDESK_OWNER_DATABASE_URL"]
        self.runtime = env["SEALDESK_DATABASE_URL"]
        self.worker = env["SEALDESK_WORKER_DATABASE_URL"]
        self.tenants = [str(uuid4()) for _ in range(count)]
        self._runner = asyncio.Runner()
        self._reader: asyncpg.Connection | None = None
        self.run(self._fill())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it in the one event loop of this database, so that its connections can stay open."""
        return self._runner.run(work)

    def close(self) -> None:
        if self._reader is not None:
            self.run(self._reader.close())
        self._runner.close()

    async def _fill(self) -> None:
        async with _connected(self.owner) as connection:
            for tenant in self.tenants:
                for table in metadata.sorted_tables:
                    if table.name not in _OF_NO_TENANT:
                        await _insert(connection, table, row_of(table, tenant))

    def add(self, table: Table, row: dict[str, object]) -> None:
        async def work() -> None:
            async with _connected(self.owner) as connection:
                await _insert(connection, table, row)

        self.run(work())

    def contents(self, tenant: str) -> dict[str, list[dict[str, object]]]:
        """All rows of a tenant as JSON, by table."""

        async def look() -> list[asyncpg.Record]:
            self._reader = connection = self._reader or await asyncpg.connect(self.owner)
            found: list[asyncpg.Record] = await connection.fetch(_contents(), tenant)
            return found

        rows: dict[str, list[dict[str, object]]] = {name: [] for name in of_tenants()}
        for name, row in self.run(look()):
            rows[name].append(json.loads(row))
        return rows

    def sql(self, *statements: str, url: str = "") -> None:
        """Run statements, as the owner unless `url` names another role."""

        self.fetch(*statements, url=url)

    def fetch(self, *statements: str, url: str = "") -> list[tuple[object, ...]]:
        """The same; the rows that the last one returns."""

        async def work() -> list[tuple[object, ...]]:
            async with _connected(url or self.owner) as connection:
                found = [await connection.fetch(statement) for statement in statements]
                return [tuple(row) for row in found[-1]]

        return self.run(work())


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def _insert(connection: asyncpg.Connection, table: Table, row: dict[str, object]) -> None:
    places = ", ".join(f"${number + 1}" for number in range(len(row)))
    sql = f"INSERT INTO {table.name} ({', '.join(row)}) VALUES ({places})"
    await connection.execute(sql, *row.values())


@contextmanager
def filled_database(template: Template, count: int = 3) -> Iterator[FilledDatabase]:
    """A new database with so many tenants."""
    with template.copied() as env:
        filled = FilledDatabase(env, count)
        try:
            yield filled
        finally:
            filled.close()


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def of_tenants() -> list[str]:
    return [table.name for table in metadata.sorted_tables if table.name not in schema.GLOBAL]


def row_of(table: Table, tenant: str) -> dict[str, object]:
    """A tenant's row; its ids are the same in all tables, so that they refer to each other."""
    values = {column.name: _value(column, tenant) for column in table.columns}
    if table.name == "attachments":
        values["ticket_id"] = None  # nothing refers to it yet
    if table.name == "presence_counters":
        values["bucket"] = UUID(tenant).int % 2**62
    return {**values, "id": tenant} if table.name == "tenants" else values


def further_row_of(table: Table, tenant: str) -> dict[str, object]:
    """Another row of a tenant, with values of its own in each key and unique index."""
    row = row_of(table, tenant)
    for column in table.columns:
        is_own = column.primary_key or not column.foreign_keys
        if is_own and column.name != "tenant_id" and row[column.name] is not None:
            is_number = isinstance(column.type, BigInteger | SmallInteger)
            row[column.name] = 2 if is_number else _value(column, "new")
    return row


def _value(column: Column[Any], tenant: str) -> object:
    if column.name in _ENDS:
        return None
    if isinstance(column.type, BigInteger | SmallInteger):
        return 1
    if isinstance(column.type, Boolean):
        return True
    text = tenant if column.name == "tenant_id" else f"{MARK}{tenant}"
    return text.encode() if isinstance(column.type, LargeBinary) else text


@cache
def _contents() -> str:
    """One statement for all tables, which takes a fifth of the time of one for each."""
    return " UNION ALL ".join(
        f"(SELECT '{name}', row_to_json({name})::text FROM {name}"
        " WHERE tenant_id = $1 ORDER BY 2 LIMIT 100)"
        for name in of_tenants()
    )
