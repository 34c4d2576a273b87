"""What SQLite plans to do for the statements that a piece of work runs."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from sealdesk.db.engine import Params, Row, Work
from sealdesk.db.sqlite.connection import connect
from sealdesk.db.sqlite.transaction import SqliteTx, drive


class Explainer(SqliteTx):
    """A reading that runs nothing: it collects the plan of each statement."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self.steps: list[str] = []

    async def fetch_one(self, sql: str, params: Params) -> Row | None:
        await self.fetch_all(sql, params)
        return None

    async def fetch_all(self, sql: str, params: Params) -> Sequence[Row]:
        rows = self._connection.execute(f"EXPLAIN QUERY PLAN {sql}", params).fetchall()
        self.steps += [row["detail"] for row in rows]
        return []

    async def fetch_page(
        self, sql: str, params: Params, columns: Sequence[str], max_bytes: int
    ) -> Sequence[Row]:
        return await self.fetch_all(sql, params)

    async def execute(self, sql: str, params: Params) -> int:
        raise AssertionError("lists do not write")


def plan(path: Path, work: Work[object]) -> list[str]:
    """The steps of the plan, as SQLite words them, without values."""
    connection = connect(path)
    try:
        explainer = Explainer(connection)
        drive(work(explainer))
    finally:
        connection.close()
    return explainer.steps
