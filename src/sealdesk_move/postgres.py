"""PostgreSQL as the source or target of a move, as the owner of the tables."""

from collections.abc import AsyncGenerator

import asyncpg
from asyncpg import Connection

from sealdesk.db.migrations.schema_version import Unusable
from sealdesk.db.postgres import preflight
from sealdesk.db.postgres.maintenance_checks import check_unused
from sealdesk.db.schema import REBUILT
from sealdesk_move.batch_size import BatchSize
from sealdesk_move.tables import Event, Row, Table, display_key

STATEMENT_TIMEOUT_S = 600.0  # reading a large table in key order may begin with sorting it


_FIRST_BEHIND = """
SELECT tenant_id, min(position) FROM events WHERE log_position > $1 GROUP BY tenant_id
"""
_EVENTS_BEHIND = """
SELECT tenant_id, position, id FROM events WHERE tenant_id = $1 AND position > $2
ORDER BY position LIMIT $3
"""


class PostgresSource:
    """The database that a move reads."""

    is_distributed = False

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def count(self, table: Table) -> int:
        found = await self._connection.fetchval(f"SELECT count(*) FROM {table.name}")
        return int(found)

    async def pages(
        self, table: Table, after: Row | None = None
    ) -> AsyncGenerator[list[Row], None]:
        key = ", ".join(table.key)
        places = ", ".join(f"${place}" for place in range(1, len(table.key) + 1))
        condition = "" if after is None else f"WHERE ({key}) > ({places})"
        async with self._connection.transaction():
            cursor = await self._connection.cursor(
                f"SELECT {selected(table)} FROM {table.name} {condition} ORDER BY {key}",
                *(after or ()),
            )
            batch = BatchSize()
            while rows := list(
                map(tuple, await cursor.fetch(batch.rows, timeout=STATEMENT_TIMEOUT_S))
            ):
                batch.adapt(rows)
                yield rows

    async def first_behind(self, log_position: int) -> dict[str, int]:
        return dict(map(tuple, await self._connection.fetch(_FIRST_BEHIND, log_position)))

    async def events_behind(self, tenant_id: str, position: int, limit: int) -> list[Event]:
        rows = await self._connection.fetch(_EVENTS_BEHIND, tenant_id, position, limit)
        return [Event(*row) for row in rows]


class PostgresTarget(PostgresSource):
    """The database that a move writes."""

    async def last_key(self, table: Table) -> Row | None:
        order = ", ".join(f"{name} DESC" for name in table.key)
        row = await self._connection.fetchrow(
            f"SELECT {', '.join(table.key)} FROM {table.name} ORDER BY {order} LIMIT 1"
        )
        return None if row is None else tuple(row)

    async def add(self, table: Table, rows: list[Row]) -> None:
        # Not COPY FROM, which PostgreSQL rejects for tables with row level security.
        columns = [list(column) for column in zip(*rows, strict=True)]
        try:
            await self._connection.execute(_insert(table), *columns, timeout=STATEMENT_TIMEOUT_S)
        except (asyncpg.DataError, asyncpg.PostgresError) as error:
            for row in rows:
                if fault := table.fault_in(row):
                    key = display_key(table.key_of(row))
                    raise Unusable(f"{table.name}: in the row {key}, {fault}") from error
            if isinstance(error, asyncpg.IntegrityConstraintViolationError):
                raise Unusable(f"{table.name} cannot be moved as it is: {error}") from error
            raise

    async def mark(self) -> str | None:
        return await preflight.find_unfinished_move(self._connection)

    async def set_mark(self, fingerprint: str) -> None:
        await self._comment(preflight.UNFINISHED_MOVE + fingerprint)
        try:
            # No process starts to serve a marked database, but one may have started just before.
            await check_unused(self._connection)
        except Unusable:
            await self._comment(None)
            raise

    async def clear(self, wanted: tuple[Table, ...]) -> None:
        # The rebuilt tables refer to the others.
        names = (*(table.name for table in wanted), *REBUILT)
        await self._connection.execute(f"TRUNCATE {', '.join(names)}")
        await self._comment(None)

    async def finish(self) -> None:
        await self._connection.execute("ANALYZE", timeout=STATEMENT_TIMEOUT_S)
        # Waiting for this commit makes all earlier ones durable.
        await self._connection.execute("SET synchronous_commit = on")
        await self._comment(None)

    async def _comment(self, text: str | None) -> None:
        await self._connection.execute(await comment_statement(self._connection, text))


async def comment_statement(connection: Connection, text: str | None) -> str:
    """The statement that sets or removes the mark of an unfinished move."""
    sql = "SELECT format('COMMENT ON TABLE alembic_version IS %L', $1::text)"
    return str(await connection.fetchval(sql, text))


def selected(table: Table) -> str:
    """The columns as SQLite stores them, for a SELECT."""
    return ", ".join(
        f"{name}::int" if type_name == "boolean" else name
        for name, type_name in zip(table.columns, table.types, strict=True)
    )


def _insert(table: Table) -> str:
    types = {"boolean": "int"}
    arrays, chosen = [], []
    for place, type_name in enumerate(table.types, 1):
        arrays.append(f"${place}::{types.get(type_name, type_name)}[]")
        chosen.append(f"c{place}::{type_name}")
    names = ", ".join(f"c{place}" for place in range(1, len(table.types) + 1))
    return (
        f"INSERT INTO {table.name} ({', '.join(table.columns)})"
        f" SELECT {', '.join(chosen)} FROM unnest({', '.join(arrays)}) AS u({names})"
    )
