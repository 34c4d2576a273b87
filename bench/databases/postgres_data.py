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
from tests.servers import NotHere, ServerFailed

from bench.databases import build, cluster
from bench.databases.build import progress_bars
from bench.databases.cluster import CONVENTIONAL, DATABASE, PGBENCH, Cluster, Passwords
from bench.databases.sqlite_data import (
    ALL_HANDLED,
    DATA_DIR,
    Data,
    rows_of_tickets_and_customers,
)
from bench.peers import pgbench
from bench.peers.conventional import tables as conventional_tables
from bench.plan import Plan
from sealdesk import ids
from sealdesk.db import schema
from sealdesk.db.postgres import roles
from sealdesk.db.schema.definitions import Table
from sealdesk.db.sqlite.connection import connect

_STAMP_NAME = "built.json"
# Rows of runs are newer than the data, and ids begin with the time.
_WRITTEN_BY_RUNS = (
    ("search_documents", "ticket_id"),
    ("customer_documents", "customer_id"),
    ("ticket_changes", "id"),
    *rows_of_tickets_and_customers(),
    ("events", "id"),
)
_WRITTEN_BY_CONVENTIONAL = ("outbox_events", "tickets", "customers")
# Foreign keys were valid in SQLite, and what belongs to a ticket is deleted before it. To look for
# its tags takes 45 ms: their index begins with the tag.
_UNCHECKED = "SET session_replication_role = replica"
_LOADING_SETTINGS = f"{_UNCHECKED}; SET maintenance_work_mem = '512MB'"
_INDEXES = """
SELECT indexname, indexdef FROM pg_indexes
WHERE schemaname = 'public' AND indexname NOT IN (SELECT conname FROM pg_constraint)
"""


class PostgresUnavailable(Exception):
    """PostgreSQL cannot be measured here; the message says why."""


class ClusterStamp(msgspec.Struct, frozen=True):
    """The fingerprint and the passwords of a cluster; written when it is complete."""

    built_from: str
    passwords: Passwords


class PostgresData(msgspec.Struct, frozen=True):
    """A cluster that is ready to be started."""

    directory: Path
    passwords: Passwords


def prepare(
    plan: Plan, data: Data, home: Path = DATA_DIR, *, rebuild: bool = False
) -> PostgresData:
    """The cluster of a plan; built if no cluster fits the plan. Raises PostgresUnavailable."""
    directory = home / f"postgres-{plan.name}"
    try:
        stamp = None if rebuild else _find_reusable(directory, data)
        if stamp is None:
            return _build(directory, plan, data)
        postgres = PostgresData(directory, stamp.passwords)
        delete_rows_of_runs(postgres, data)
        return postgres
    except (NotHere, ServerFailed) as error:
        raise PostgresUnavailable(str(error).splitlines()[0]) from error


def _find_reusable(directory: Path, data: Data) -> ClusterStamp | None:
    path = directory / _STAMP_NAME
    if not path.exists():
        return None
    try:
        stamp = msgspec.json.decode(path.read_bytes(), type=ClusterStamp)
    except msgspec.ValidationError:  # written by an earlier version
        return None
    return stamp if stamp.built_from == _compute_fingerprint(data) else None


def _compute_fingerprint(data: Data) -> str:
    """A hash of what determines the rows: the SQLite data, and the code that copies it."""
    digest = hashlib.sha256(msgspec.json.encode((data.stamp, cluster.SETTINGS)))
    for module in (build, cluster, conventional_tables, roles):
        digest.update(Path(str(module.__file__)).read_bytes())
    for declared in sorted(Path(schema.__file__).parent.glob("*.py")):
        digest.update(declared.read_bytes())
    digest.update(Path(__file__).read_bytes())
    return digest.hexdigest()


def _build(directory: Path, plan: Plan, data: Data) -> PostgresData:
    shutil.rmtree(directory, ignore_errors=True)
    with cluster.new_cluster(directory) as created:
        _fill_databases(created, plan, data)
        _vacuum(created)
        passwords = created.passwords
    stamp = directory / _STAMP_NAME
    stamp.touch(mode=0o600)
    stamp.write_bytes(msgspec.json.encode(ClusterStamp(_compute_fingerprint(data), passwords)))
    return PostgresData(directory, passwords)


def _fill_databases(created: Cluster, plan: Plan, data: Data) -> None:
    for name in (DATABASE, PGBENCH):
        created.make_database(name)
    created.migrate()
    asyncio.run(copy_to_postgres(data.settings.database_path, created.superuser_url()))
    created.sql(f"CREATE ROLE {CONVENTIONAL} LOGIN PASSWORD '{created.passwords.conventional}'")
    created.sql(f"ALTER ROLE {CONVENTIONAL} SET search_path = {CONVENTIONAL}")
    secrets = {key.api_key: key.api_secret for key in data.stamp.keys}
    asyncio.run(conventional_tables.fill_tables(created.superuser_url(), secrets, CONVENTIONAL))
    pgbench.initialise_pgbench(created.superuser_url(PGBENCH), plan.pgbench_scale)


def delete_rows_of_runs(postgres: PostgresData, data: Data) -> None:
    """Delete the rows of earlier runs; changes to other rows stay."""
    until_us = data.stamp.until_us
    with cluster.running_cluster(postgres.directory, postgres.passwords) as running:
        for table, column in _WRITTEN_BY_RUNS:
            running.sql(
                f"{_UNCHECKED}; DELETE FROM {table} WHERE tenant_id IN (SELECT id FROM tenants)"
                f" AND {column} >= '{ids.lowest(until_us)}'",
                DATABASE,
            )
        for table in _WRITTEN_BY_CONVENTIONAL:
            running.sql(
                f"DELETE FROM {CONVENTIONAL}.{table}"
                f" WHERE created_at >= to_timestamp({until_us} / 1e6)",
                DATABASE,
            )
        running.sql(ALL_HANDLED, DATABASE)
        running.sql("TRUNCATE pgbench_history", PGBENCH)
        _vacuum(running)


def _vacuum(server: Cluster) -> None:
    """Vacuum now, so that no round is disturbed by autovacuum or a checkpoint."""
    for database in (DATABASE, PGBENCH):
        server.sql("VACUUM (ANALYZE)", database)
    server.sql("CHECKPOINT")


async def copy_to_postgres(path: Path, superuser_url: str) -> None:
    """Copy all tables of an SQLite database into a new one; shows progress bars."""
    source = connect(path)
    target = await asyncpg.connect(superuser_url)
    with progress_bars() as progress:
        await target.execute(_LOADING_SETTINGS)
        indexes = await target.fetch(_INDEXES)
        for index in indexes:
            await target.execute(f"DROP INDEX {index['indexname']}")
        for name in schema.IN_ORDER:
            if name not in build.SEARCH_TABLES:
                await _copy_table(source, target, schema.TABLES[name], progress)
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
    boolean_indexes = [n for n, column in enumerate(table.columns) if column.type == "boolean"]
    rows = source.execute(f"SELECT {', '.join(names)} FROM {table.name}")
    await target.execute(f"DELETE FROM {table.name}")  # migrations have filled some
    await target.copy_records_to_table(
        table.name,
        columns=names,
        records=_convert_rows(
            rows, boolean_indexes, lambda copied: progress.update(task, completed=copied)
        ),
    )


def _convert_rows(
    rows: sqlite3.Cursor, boolean_indexes: list[int], show_copied: Callable[[int], None]
) -> Iterator[tuple[Any, ...]]:
    """The rows with booleans, which SQLite stores as numbers."""
    copied = 0
    while batch := rows.fetchmany(2_000):
        for row in batch:
            values = list(row)
            for index in boolean_indexes:
                values[index] = bool(values[index])
            yield tuple(values)
        copied += len(batch)
        show_copied(copied)
