"""The SQLite data in PostgreSQL: built once, reused while it fits, cleaned before each run."""

import asyncio
import hashlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import msgspec
from rich.progress import Progress
from sqlalchemy import Boolean, Table
from tests.servers import NotHere, ServerFailed

from bench import build, cluster
from bench.build import progress_bars
from bench.cluster import CONVENTIONAL, DATABASE, PGBENCH, Cluster, Passwords
from bench.conventional import tables as conventional_tables
from bench.data import DATA_DIR, Data
from bench.plan import Plan
from sealdesk import ids
from sealdesk.db import tables
from sealdesk.db.postgres import roles
from sealdesk.db.schema import metadata
from sealdesk.db.sqlite.connection import connect

_STAMP_NAME = "built.json"
# What a run writes is newer than the data, and an id carries its time.
_WRITTEN_BY_RUNS = (
    ("search_documents", "ticket_id"),
    ("customer_documents", "customer_id"),
    ("ticket_tags", "ticket_id"),
    ("tickets", "id"),
    ("customers", "id"),
    ("events", "id"),
)
_WRITTEN_BY_CONVENTIONAL = ("outbox_events", "tickets", "customers")
# What is copied refers to the same rows as it did: checking that again would take longer.
_LOADING_SETTINGS = "SET session_replication_role = replica; SET maintenance_work_mem = '512MB'"
_INDEXES = """
SELECT indexname, indexdef FROM pg_indexes
WHERE schemaname = 'public' AND indexname NOT IN (SELECT conname FROM pg_constraint)
"""


class PostgresUnavailable(Exception):
    """There is no PostgreSQL to measure on; the text says why."""


class ClusterStamp(msgspec.Struct, frozen=True):
    """What a cluster was built from, and the ways in; written when it is complete."""

    built_from: str
    passwords: Passwords


class PostgresData(msgspec.Struct, frozen=True):
    """A cluster that is ready to be started."""

    directory: Path
    passwords: Passwords


def prepare(plan: Plan, data: Data, home: Path = DATA_DIR, *, fresh: bool = False) -> PostgresData:
    """The data of a plan, built if there is none that fits. Raises Cannot."""
    directory = home / f"postgres-{plan.name}"
    try:
        stamp = None if fresh else _find_reusable(directory, data)
        return _build(directory, plan, data) if stamp is None else _clean(directory, stamp, data)
    except (NotHere, ServerFailed) as error:
        raise PostgresUnavailable(str(error).splitlines()[0]) from error


def _find_reusable(directory: Path, data: Data) -> ClusterStamp | None:
    path = directory / _STAMP_NAME
    if not path.exists():
        return None
    try:
        stamp = msgspec.json.decode(path.read_bytes(), type=ClusterStamp)
    except msgspec.ValidationError:  # of an earlier version
        return None
    return stamp if stamp.built_from == _compute_fingerprint(data) else None


def _compute_fingerprint(data: Data) -> str:
    """A fingerprint of what decides the rows: those of SQLite, and what copies them."""
    digest = hashlib.sha256(msgspec.json.encode((data.stamp, cluster.SETTINGS)))
    for module in (build, cluster, conventional_tables, roles, tables):
        digest.update(Path(str(module.__file__)).read_bytes())
    digest.update(Path(__file__).read_bytes())
    return digest.hexdigest()


def _build(directory: Path, plan: Plan, data: Data) -> PostgresData:
    shutil.rmtree(directory, ignore_errors=True)
    with cluster.new_cluster(directory) as made:
        _fill_databases(made, plan, data)
        _vacuum(made)
        passwords = made.passwords
    stamp = directory / _STAMP_NAME
    stamp.touch(mode=0o600)
    stamp.write_bytes(msgspec.json.encode(ClusterStamp(_compute_fingerprint(data), passwords)))
    return PostgresData(directory, passwords)


def _fill_databases(made: Cluster, plan: Plan, data: Data) -> None:
    for name in (DATABASE, PGBENCH):
        made.make_database(name)
    made.migrate()
    asyncio.run(copy_to_postgres(data.settings.database_path, made.superuser_url()))
    made.sql(f"CREATE ROLE {CONVENTIONAL} LOGIN PASSWORD '{made.passwords.conventional}'")
    made.sql(f"ALTER ROLE {CONVENTIONAL} SET search_path = {CONVENTIONAL}")
    secrets = {key.api_key: key.api_secret for key in data.stamp.keys}
    asyncio.run(conventional_tables.fill_tables(made.superuser_url(), secrets, CONVENTIONAL))
    cluster.initialise_pgbench(made.superuser_url(PGBENCH), plan.pgbench_scale)


def _clean(directory: Path, stamp: ClusterStamp, data: Data) -> PostgresData:
    """Delete what earlier runs have added; what they changed stays changed."""
    until_us = data.stamp.until_us
    with cluster.running_cluster(directory, stamp.passwords) as found:
        for table, column in _WRITTEN_BY_RUNS:
            found.sql(
                f"DELETE FROM {table} WHERE tenant_id IN (SELECT id FROM tenants)"
                f" AND {column} >= '{ids.lowest(until_us)}'",
                DATABASE,
            )
        for table in _WRITTEN_BY_CONVENTIONAL:
            found.sql(
                f"DELETE FROM {CONVENTIONAL}.{table}"
                f" WHERE created_at >= to_timestamp({until_us} / 1e6)",
                DATABASE,
            )
        found.sql("TRUNCATE pgbench_history", PGBENCH)
        _vacuum(found)
    return PostgresData(directory, stamp.passwords)


def _vacuum(server: Cluster) -> None:
    """Leave nothing to be tidied up during a round."""
    for database in (DATABASE, PGBENCH):
        server.sql("VACUUM (ANALYZE)", database)
    server.sql("CHECKPOINT")


async def copy_to_postgres(path: Path, superuser_url: str) -> None:
    """Copy all tables of an SQLite database into empty ones, with a bar for what is left."""
    source = connect(path)
    target = await asyncpg.connect(superuser_url)
    with progress_bars() as progress:
        await target.execute(_LOADING_SETTINGS)
        indexes = await target.fetch(_INDEXES)
        for index in indexes:
            await target.execute(f"DROP INDEX {index['indexname']}")
        for table in metadata.sorted_tables:
            if table.name not in build.SEARCH_TABLES:
                await _copy_table(source, target, table, progress)
        for _ in progress.track((None,), description="search into PostgreSQL"):
            await build.copy_search_documents(source, target)
        for index in progress.track(indexes, description="indexes in PostgreSQL"):
            await target.execute(index["indexdef"])
    await target.close()
    source.close()


async def _copy_table(
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
        records=_convert_rows(rows, places, lambda copied: progress.update(task, completed=copied)),
    )


def _convert_rows(
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
