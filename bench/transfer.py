"""Copying the benchmark's SQLite data into PostgreSQL: the same rows on both."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
from rich.progress import Progress
from sqlalchemy import Boolean, Table

from bench import texts
from bench.build import bars
from sealdesk.db.schema import metadata
from sealdesk.db.sqlite.connection import connect

# What is copied refers to the same rows as it did: checking that again would take longer.
_LOADING = "SET session_replication_role = replica; SET maintenance_work_mem = '512MB'"
_INDEXES = """
SELECT indexname, indexdef FROM pg_indexes
WHERE schemaname = 'public' AND indexname NOT IN (SELECT conname FROM pg_constraint)
"""


async def transfer(path: Path, superuser_url: str) -> None:
    """Copy all tables of an SQLite database into empty ones, with a bar for what is left."""
    source = connect(path)
    target = await asyncpg.connect(superuser_url)
    with bars() as progress:
        await target.execute(_LOADING)
        indexes = await target.fetch(_INDEXES)
        for index in indexes:
            await target.execute(f"DROP INDEX {index['indexname']}")
        for table in metadata.sorted_tables:
            if table.name not in texts.TABLES:
                await _copy(source, target, table, progress)
        for _ in progress.track((None,), description="search into PostgreSQL"):
            await texts.copy(source, target)
        for index in progress.track(indexes, description="indexes in PostgreSQL"):
            await target.execute(index["indexdef"])
    await target.close()
    source.close()


async def _copy(
    source: sqlite3.Connection, target: asyncpg.Connection, table: Table, progress: Progress
) -> None:
    (count,) = source.execute(f"SELECT count(*) FROM {table.name}").fetchone()
    if count == 0:
        return
    task = progress.add_task(f"{table.name} into PostgreSQL", total=count)
    names = [column.name for column in table.columns]
    places = [n for n, column in enumerate(table.columns) if isinstance(column.type, Boolean)]
    rows = source.execute(f"SELECT {', '.join(names)} FROM {table.name}")
    await target.copy_records_to_table(
        table.name,
        columns=names,
        records=_records(rows, places, lambda copied: progress.update(task, completed=copied)),
    )


def _records(
    rows: sqlite3.Cursor, booleans: list[int], say: Callable[[int], None]
) -> Iterator[tuple[Any, ...]]:
    """The rows; SQLite keeps a truth value as a number."""
    copied = 0
    while batch := rows.fetchmany(2_000):
        for row in batch:
            values = list(row)
            for place in booleans:
                values[place] = bool(values[place])
            yield tuple(values)
        copied += len(batch)
        say(copied)
