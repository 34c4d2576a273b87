"""The SQLite data in PostgreSQL: built once, reused while it fits, cleaned of each run."""

import asyncio
import hashlib
import shutil
from pathlib import Path

import msgspec
from tests.servers import NotHere, ServerFailed

from bench import cluster, pgbench, texts, transfer
from bench.cluster import CONVENTIONAL, DATABASE, PGBENCH, Cluster, Passwords
from bench.conventional import fill, models
from bench.data import HOME, Data
from bench.plan import Plan
from sealdesk import ids
from sealdesk.db import tables
from sealdesk.db.postgres import roles

_STAMP = "built.json"
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


class Cannot(Exception):
    """There is no PostgreSQL to measure on; the text says why."""


class Stamp(msgspec.Struct, frozen=True):
    """What a cluster was built from, and the ways in; written when it is complete."""

    built_from: str
    passwords: Passwords


class PostgresData(msgspec.Struct, frozen=True):
    """A cluster that is ready to be started."""

    directory: Path
    passwords: Passwords


def ready(plan: Plan, data: Data, home: Path = HOME, *, fresh: bool = False) -> PostgresData:
    """The data of a plan, built if there is none that fits. Raises Cannot."""
    directory = home / f"postgres-{plan.name}"
    try:
        stamp = None if fresh else _reusable(directory, data)
        return _built(directory, plan, data) if stamp is None else _cleaned(directory, stamp, data)
    except (NotHere, ServerFailed) as error:
        raise Cannot(str(error).splitlines()[0]) from error


def _reusable(directory: Path, data: Data) -> Stamp | None:
    path = directory / _STAMP
    if not path.exists():
        return None
    try:
        stamp = msgspec.json.decode(path.read_bytes(), type=Stamp)
    except msgspec.ValidationError:  # of an earlier version
        return None
    return stamp if stamp.built_from == _sources(data) else None


def _sources(data: Data) -> str:
    """A fingerprint of what decides the rows: those of SQLite, and what copies them."""
    digest = hashlib.sha256(msgspec.json.encode((data.stamp, cluster.SETTINGS)))
    for module in (transfer, texts, fill, models, pgbench, roles, tables):
        digest.update(Path(module.__file__ or "").read_bytes())
    return digest.hexdigest()


def _built(directory: Path, plan: Plan, data: Data) -> PostgresData:
    shutil.rmtree(directory, ignore_errors=True)
    with cluster.made(directory) as made:
        _fill(made, plan, data)
        _tidy(made)
        passwords = made.passwords
    stamp = directory / _STAMP
    stamp.touch(mode=0o600)
    stamp.write_bytes(msgspec.json.encode(Stamp(_sources(data), passwords)))
    return PostgresData(directory, passwords)


def _fill(made: Cluster, plan: Plan, data: Data) -> None:
    for name in (DATABASE, PGBENCH):
        made.make_database(name)
    made.migrate()
    asyncio.run(transfer.transfer(data.settings.database_path, made.superuser_url()))
    made.sql(f"CREATE ROLE {CONVENTIONAL} LOGIN PASSWORD '{made.passwords.conventional}'")
    made.sql(f"ALTER ROLE {CONVENTIONAL} SET search_path = {CONVENTIONAL}")
    asyncio.run(fill.fill(made.superuser_url(), data.stamp.keys, CONVENTIONAL))
    pgbench.initialise(made.superuser_url(PGBENCH), plan.pgbench_scale)


def _cleaned(directory: Path, stamp: Stamp, data: Data) -> PostgresData:
    """Delete what earlier runs have added; what they changed stays changed."""
    until_us = data.stamp.until_us
    with cluster.started(directory, stamp.passwords) as found:
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
        _tidy(found)
    return PostgresData(directory, stamp.passwords)


def _tidy(server: Cluster) -> None:
    """Leave nothing to be tidied up during a round."""
    for database in (DATABASE, PGBENCH):
        server.sql("VACUUM (ANALYZE)", database)
    server.sql("CHECKPOINT")
