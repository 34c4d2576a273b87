"""A database that is distributed over nodes of Citus, as the source or target of a move."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from asyncpg import Connection

from sealdesk.db.postgres import preflight
from sealdesk_citus import all_nodes
from sealdesk_move.batch_size import BatchSize
from sealdesk_move.postgres import (
    STATEMENT_TIMEOUT_S,
    PostgresSource,
    PostgresTarget,
    comment_statement,
    selected,
)
from sealdesk_move.tables import Row, Table

_READ_MARK = "SELECT coalesce(obj_description(to_regclass('alembic_version'), 'pg_class'), '')"


class DistributedSource(PostgresSource):
    """The database that a move reads, from all nodes."""

    is_distributed = True

    def __init__(self, connection: Connection, tenant_tables: frozenset[str]) -> None:
        super().__init__(connection)
        self._tenant_tables = tenant_tables

    async def pages(
        self, table: Table, after: Row | None = None
    ) -> AsyncGenerator[list[Row], None]:
        # The coordinator would store the whole result of a cursor first. So large tables are read
        # tenant by tenant, which is the order of their keys.
        is_large = table.name in self._tenant_tables and table.key != ("tenant_id",)
        parts = self._parts(table, after) if is_large else super().pages(table, after)
        async with aclosing(parts):
            async for rows in parts:
                yield rows

    async def _parts(self, table: Table, after: Row | None) -> AsyncGenerator[list[Row], None]:
        batch = BatchSize()
        gathered: list[Row] = []
        async for rows in self._rows_of_tenants(table, after, batch):
            gathered += rows
            if len(gathered) >= batch.rows:
                batch.adapt(gathered)
                yield gathered
                gathered = []
        if gathered:
            yield gathered

    async def _rows_of_tenants(
        self, table: Table, after: Row | None, batch: BatchSize
    ) -> AsyncIterator[list[Row]]:
        for tenant_id in await self._tenants_in(table, after):
            last = after if after is not None and after[0] == tenant_id else None
            while True:
                limit = batch.rows
                rows = await self._rows_of(table, tenant_id, last, limit)
                if rows:
                    yield rows
                    last = table.key_of(rows[-1])
                if len(rows) < limit:
                    break

    async def _tenants_in(self, table: Table, after: Row | None) -> list[str]:
        rows = await self._connection.fetch(
            f"SELECT tenant_id FROM {table.name} WHERE tenant_id >= $1"
            " GROUP BY tenant_id ORDER BY tenant_id",
            after[0] if after else "",
            timeout=STATEMENT_TIMEOUT_S,
        )
        return [row["tenant_id"] for row in rows]

    async def _rows_of(
        self, table: Table, tenant_id: str, after: Row | None, limit: int
    ) -> list[Row]:
        key = ", ".join(table.key[1:])
        places = ", ".join(f"${place}" for place in range(3, len(table.key) + 2))
        condition = "" if after is None else f"AND ({key}) > ({places})"
        rows = await self._connection.fetch(
            f"SELECT {selected(table)} FROM {table.name} WHERE tenant_id = $1 {condition}"
            f" ORDER BY {key} LIMIT $2",
            tenant_id,
            limit,
            *(after or ())[1:],
            timeout=STATEMENT_TIMEOUT_S,
        )
        return list(map(tuple, rows))


class DistributedTarget(DistributedSource, PostgresTarget):
    """The database that a move writes. Its mark is on each node, as each may be served."""

    async def mark(self) -> str | None:
        comments = set(await all_nodes.run_on_all(self._connection, _READ_MARK))
        marks = [each for each in comments if each.startswith(preflight.UNFINISHED_MOVE)]
        if not marks:
            return None
        if len(comments) > 1:
            await self._comment(marks[0])  # was interrupted before all nodes had it
        return marks[0].removeprefix(preflight.UNFINISHED_MOVE)

    async def _comment(self, text: str | None) -> None:
        statement = await comment_statement(self._connection, text)
        await all_nodes.run_on_all(self._connection, statement)
