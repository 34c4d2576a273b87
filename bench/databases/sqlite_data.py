"""The SQLite data: built once, reused while it fits, cleaned before each run."""

import fcntl
import hashlib
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from bench.databases import build
from bench.databases.build import BenchKey
from bench.plan import Plan
from sealdesk import ids
from sealdesk.customers import rules as customer_rules
from sealdesk.customers import store as customers
from sealdesk.db import schema
from sealdesk.db.engine import Tx
from sealdesk.db.migrations import schema_version
from sealdesk.db.schema.definitions import Table
from sealdesk.db.sqlite.connection import connect
from sealdesk.db.sqlite.transaction import SqliteTx, drive
from sealdesk.search import rules as search_rules
from sealdesk.settings import Settings, from_env, make_private_dir
from sealdesk.tickets.ticket import documents
from sealdesk.tickets.ticket.store import tickets

DATA_DIR = Path(__file__).parent.parent / "data"
_CHECKED_TICKETS = 100
_NEWEST = """
SELECT id, customer_id FROM tickets WHERE tenant_id = :tenant_id ORDER BY id DESC LIMIT :limit
"""


def rows_of_tickets_and_customers() -> tuple[tuple[str, str], ...]:
    """Tables, and the column that says whose their rows are, in the order of deletion."""
    owners = {"tickets", "customers"}
    return tuple(
        (name, column)
        for name in reversed(schema.IN_ORDER)
        for column in _columns_of(schema.TABLES[name], owners)
    )


def _columns_of(table: Table, owners: set[str]) -> list[str]:
    if table.name in owners:
        return ["id"]
    return [key.column for key in table.references if key.table in owners]


# Rows of runs are newer than the data, and ids begin with the time.
_WRITTEN_BY_RUNS = (
    "INSERT INTO search_index (search_index, rowid, tenant_id, words)"
    " SELECT 'delete', number, tenant_id, words FROM search_documents"
    " WHERE tenant_id = ? AND ticket_id >= ?",
    "DELETE FROM search_documents WHERE tenant_id = ? AND ticket_id >= ?",
    "INSERT INTO search_index_customers (search_index_customers, rowid, tenant_id, words)"
    " SELECT 'delete', number, tenant_id, words FROM customer_documents"
    " WHERE tenant_id = ? AND customer_id >= ?",
    "DELETE FROM customer_documents WHERE tenant_id = ? AND customer_id >= ?",
    "DELETE FROM replies WHERE tenant_id = ? AND id >= ?",
    "DELETE FROM ticket_changes WHERE tenant_id = ? AND id >= ?",
    *(
        f"DELETE FROM {table} WHERE tenant_id = ? AND {column} >= ?"
        for table, column in rows_of_tickets_and_customers()
    ),
    "DELETE FROM events WHERE tenant_id = ? AND id >= ?",
    "DELETE FROM attempts WHERE tenant_id = ? AND delivery_id >= ?",
    "DELETE FROM deliveries WHERE tenant_id = ? AND id >= ?",
    "DELETE FROM endpoints WHERE tenant_id = ? AND id >= ?",
)

# Otherwise consumers would miss the deleted events, and build the search and the reports anew
# beside what is measured.
ALL_HANDLED = """
UPDATE log_positions SET position = (SELECT position FROM log_positions WHERE name = 'sequencer')
"""


class BuildStamp(msgspec.Struct, frozen=True):
    """The fingerprint and the time of a database; written when the database is complete."""

    built_from: str
    until_us: int
    took_s: float
    tenant_ids: list[str]
    keys: list[BenchKey]


class Data(msgspec.Struct, frozen=True):
    """A complete database. The first tenant is the big one, the second the small one."""

    settings: Settings
    stamp: BuildStamp

    @property
    def big(self) -> str:
        return self.stamp.tenant_ids[0]

    @property
    def small(self) -> str:
        return self.stamp.tenant_ids[1]

    def keys_of(self, tenant_id: str) -> list[BenchKey]:
        return [key for key in self.stamp.keys if key.tenant_id == tenant_id]


class AlreadyRunning(Exception):
    """Another benchmark is running, and would change the data and the figures."""


@contextmanager
def exclusive_lock(home: Path = DATA_DIR) -> Iterator[None]:
    """Lock the directory against other benchmarks. Raises AlreadyRunning."""
    home.mkdir(exist_ok=True)
    with (home / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise AlreadyRunning from error
        yield


def prepare(plan: Plan, home: Path = DATA_DIR, *, rebuild: bool = False) -> Data:
    """The data of a plan without rows of earlier runs; built if no data fits the plan."""
    directory = home / plan.name
    reusable = None if rebuild else _find_reusable(directory, plan)
    if reusable is not None:
        delete_rows_of_runs(reusable)
        return reusable
    shutil.rmtree(directory, ignore_errors=True)
    make_private_dir(directory)
    return _build(_settings(directory), plan)


def _build(settings: Settings, plan: Plan) -> Data:
    started = time.monotonic()
    until_us = time.time_ns() // 1000
    tenant_ids, keys = build.build(settings, plan, until_us)
    stamp = BuildStamp(
        _compute_fingerprint(plan), until_us, time.monotonic() - started, tenant_ids, keys
    )
    _stamp_path(settings.data_dir).write_bytes(msgspec.json.encode(stamp))
    return Data(settings, stamp)


def _settings(directory: Path) -> Settings:
    return from_env({"SEALDESK_DATA_DIR": str(directory)})


def _stamp_path(directory: Path) -> Path:
    return directory / "built.json"


def _find_reusable(directory: Path, plan: Plan) -> Data | None:
    """The data in this directory, if the current service would write the same rows."""
    if not _stamp_path(directory).exists():
        return None
    stamp = msgspec.json.decode(_stamp_path(directory).read_bytes(), type=BuildStamp)
    if stamp.built_from != _compute_fingerprint(plan):
        return None
    data = Data(_settings(directory), stamp)
    connection = connect(data.settings.database_path)
    try:
        is_current = drive(_matches_service(SqliteTx(connection), data.big))
    finally:
        connection.close()
    return data if is_current else None


def _compute_fingerprint(plan: Plan) -> str:
    """A hash of what determines the rows: the plan, the migrations and the code."""
    digest = hashlib.sha256(msgspec.json.encode(plan))
    migrations = Path(schema_version.__file__).parent / "migrations" / "versions"
    here = Path(__file__).parent
    for path in (
        *sorted(migrations.glob("0*")),
        here / "rows.py",
        here / "build.py",
        Path(search_rules.__file__),
    ):
        digest.update(path.read_bytes())
    return digest.hexdigest()


async def _matches_service(tx: Tx, tenant_id: str) -> bool:
    """Whether the ready documents of the newest rows are what the current service writes."""
    sample = await tx.fetch_all(_NEWEST, {"tenant_id": tenant_id, "limit": _CHECKED_TICKETS})
    for row in sample:
        stored = await tickets.find(tx, tenant_id, row["id"])
        view = await tickets.find_view(tx, tenant_id, row["id"])
        customer = await customers.find(tx, tenant_id, row["customer_id"])
        if stored is None or view is None or customer is None:
            return False
        document = documents.ready_document(stored.ticket)
        if view.json != documents.with_customer(document, stored.reference):
            return False
        if stored.reference != customer_rules.reference(customer):
            return False
    return bool(sample)


def delete_rows_of_runs(data: Data) -> None:
    """Delete the rows of earlier runs; changes to other rows stay."""
    connection = connect(data.settings.database_path, is_checkpointer=True)
    since = ids.lowest(data.stamp.until_us)
    connection.execute("BEGIN IMMEDIATE")
    for statement in _WRITTEN_BY_RUNS:
        connection.executemany(statement, [(tenant, since) for tenant in data.stamp.tenant_ids])
    connection.execute(ALL_HANDLED)
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
