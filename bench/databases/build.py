"""Builds the SQLite database with the statements of the service, many rows at a time."""

import multiprocessing
import sqlite3
from collections.abc import Iterator, Sequence
from multiprocessing.queues import Queue
from queue import Empty
from typing import NamedTuple

import asyncpg
import msgspec
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from bench.databases.rows import SPAN_US, Chunk, TenantToFill, generate_chunks
from bench.plan import Plan
from sealdesk import ids
from sealdesk.api_keys import actions as api_keys
from sealdesk.api_keys.types import NewApiKey
from sealdesk.caller import SYSTEM, Caller
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db.engine import Tx
from sealdesk.db.migrations import schema_version
from sealdesk.db.sqlite.connection import connect, run_now
from sealdesk.identity import actions as identity
from sealdesk.installation.store import notes
from sealdesk.installation.types import DOCUMENTS, DocumentsNote
from sealdesk.records.identities import ADDRESSES, IDENTITIES, IdentitiesNote
from sealdesk.resources.identity import version
from sealdesk.search import rules
from sealdesk.settings import Settings
from sealdesk.tickets.ticket.store.ready_documents import SHAPE

_SEED = 20_260_101
_AGENTS = 6
AGENT_EMAIL = "agent{number}@tenant{tenant_number}.example"
_QUEUED_CHUNKS = 6
_QUEUE_TIMEOUT_S = 2.0
_LARGE_TABLES = ("tickets", "ticket_tags", "customers")
# Nothing here has to survive a crash: a database without its stamp is built again.
LOADING_PRAGMAS = (
    "PRAGMA journal_mode = OFF",
    "PRAGMA synchronous = OFF",
    "PRAGMA foreign_keys = OFF",
    "PRAGMA cache_size = -524288",
    "PRAGMA threads = 2",
)


class BenchKey(msgspec.Struct, frozen=True):
    """An API key of the benchmark, with its secret."""

    tenant_id: str
    api_key: str
    api_secret: str


def build(settings: Settings, plan: Plan, until_us: int) -> tuple[list[str], list[BenchKey]]:
    """Build a new database with the tickets of the two years before `until_us`.

    Returns the ids of the tenants, first the big one and then the small one, and all keys.
    """
    schema_version.ensure_current(settings.database_path)
    connection = connect(settings.database_path)
    for pragma in LOADING_PRAGMAS:
        connection.execute(pragma)
    tenants = _add_tenants(connection, plan, until_us - SPAN_US)
    keys = _add_keys(connection, KeyRing(settings.master_keys), plan, tenants)
    _fill_tables(connection, tenants, until_us)
    run_now(connection, lambda tx: _note_that_rows_are_new(tx, until_us))
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    return [tenant.id for tenant in tenants], keys


async def _note_that_rows_are_new(tx: Tx, now_us: int) -> None:
    """The worker would look at each of them, beside the requests that are measured."""
    renewed = IdentitiesNote(version(), is_finished=True)
    written: dict[str, msgspec.Struct] = {
        DOCUMENTS: DocumentsNote(SHAPE, is_finished=True),
        IDENTITIES: renewed,
        ADDRESSES: renewed,
    }
    for name, note in written.items():
        text = msgspec.json.encode(note).decode()
        await notes.put(tx, name, text, now_us=now_us, expires_at=None)


def _add_tenants(connection: sqlite3.Connection, plan: Plan, at_us: int) -> list[TenantToFill]:
    other_count = plan.tenants - 2
    share, rest = divmod(plan.other_tickets, other_count)
    sizes = [plan.big_tickets, plan.small_tickets, share + rest, *[share] * (other_count - 1)]

    async def add(tx: Tx) -> list[TenantToFill]:
        return [await _add_tenant(tx, number, size, at_us) for number, size in enumerate(sizes)]

    return run_now(connection, add)


async def _add_tenant(tx: Tx, tenant_number: int, size: int, at_us: int) -> TenantToFill:
    tenant = await identity.create_tenant(tx, f"Tenant {tenant_number}", now_us=at_us)
    agents = [
        await identity.create_user(
            tx,
            tenant.id,
            email=AGENT_EMAIL.format(number=number, tenant_number=tenant_number),
            name=None,
            role="agent",
            password_hash="of no password",  # without one they would be invited only
            actor=SYSTEM,
            now_us=at_us,
        )
        for number in range(_AGENTS)
    ]
    return TenantToFill(tenant.id, tuple(agent.id for agent in agents), size)


def _add_keys(
    connection: sqlite3.Connection, key_ring: KeyRing, plan: Plan, tenants: Sequence[TenantToFill]
) -> list[BenchKey]:
    counts = [plan.big_keys, *[plan.keys_each] * (len(tenants) - 1)]
    tenant_ids = [tenant.id for tenant, n in zip(tenants, counts, strict=True) for _ in range(n)]

    async def add(tx: Tx) -> list[BenchKey]:
        return [await _add_key(tx, key_ring, tenant_id) for tenant_id in tenant_ids]

    return run_now(connection, add)


async def _add_key(tx: Tx, key_ring: KeyRing, tenant_id: str) -> BenchKey:
    now_us = ids.instant_of(tenant_id)
    caller = Caller(tenant_id, SYSTEM, frozenset(), "")
    new_key = NewApiKey("bench", rate_limit=100_000)
    created = await api_keys.create_key(tx, caller, new_key, key_ring=key_ring, now_us=now_us)
    return BenchKey(tenant_id, created.api_key, created.api_secret)


def progress_bars() -> Progress:
    """A progress bar for each step."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
        TimeElapsedColumn(),
    )


def _fill_tables(
    connection: sqlite3.Connection, tenants: Sequence[TenantToFill], until_us: int
) -> None:
    """Write all tickets and customers, then create the indexes; shows progress bars."""
    with progress_bars() as progress:
        indexes = _drop_indexes(connection)
        total = sum(tenant.tickets for tenant in tenants)
        task = progress.add_task("tickets", total=total)
        connection.execute("BEGIN")
        for chunk in _generate_in_child(tenants, until_us):
            for statement, rows in chunk.statements.items():
                connection.executemany(statement, rows)
            progress.advance(task, chunk.tickets)
        connection.executemany(
            "INSERT INTO ticket_numbers (tenant_id, last_number) VALUES (?, ?)",
            [(tenant.id, tenant.tickets) for tenant in tenants],
        )
        connection.execute("COMMIT")
        for statement in progress.track(indexes, description="indexes"):
            connection.execute(statement)
        for _ in progress.track((None,), description="search"):
            fill_search_documents(connection)


def _drop_indexes(connection: sqlite3.Connection) -> list[str]:
    """Drop the secondary indexes of the large tables; returns the statements that create them."""
    indexes = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
        f" AND tbl_name IN ({', '.join('?' * len(_LARGE_TABLES))})",
        _LARGE_TABLES,
    ).fetchall()
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}")
    return [sql for _, sql in indexes]


def _generate_in_child(tenants: Sequence[TenantToFill], until_us: int) -> Iterator[Chunk]:
    """The chunks of rows, generated by a child process."""
    context = multiprocessing.get_context("spawn")
    queue: Queue[Chunk | None] = context.Queue(_QUEUED_CHUNKS)
    process = context.Process(target=_generate, args=(queue, tenants, until_us), daemon=True)
    process.start()
    while True:
        try:
            chunk = queue.get(timeout=_QUEUE_TIMEOUT_S)
        except Empty:
            if process.is_alive():
                continue
            raise RuntimeError("the process that generates the rows has failed") from None
        if chunk is None:
            process.join()
            return
        yield chunk


def _generate(queue: "Queue[Chunk | None]", tenants: Sequence[TenantToFill], until_us: int) -> None:
    for chunk in generate_chunks(tenants, until_us, _SEED):
        queue.put(chunk)
    queue.put(None)


class _DocumentTable(NamedTuple):
    """A table of search documents.

    fts_table: its FTS5 table in SQLite. query: selects tenant and id, then the searched texts.
    """

    name: str
    id_column: str
    fts_table: str
    query: str


_DOCUMENT_TABLES = (
    _DocumentTable(
        "search_documents",
        "ticket_id",
        "search_index",
        "SELECT t.tenant_id, t.id, t.number, t.subject, c.email, c.name, c.company, t.description"
        " FROM tickets t JOIN customers c ON c.tenant_id = t.tenant_id AND c.id = t.customer_id"
        " ORDER BY t.tenant_id, t.id",
    ),
    _DocumentTable(
        "customer_documents",
        "customer_id",
        "search_index_customers",
        "SELECT tenant_id, id, name, email, company, phone, external_id FROM customers"
        " ORDER BY tenant_id, id",
    ),
)


SEARCH_TABLES = tuple(table.name for table in _DOCUMENT_TABLES)


_MARK_BUILT = "INSERT INTO search_rebuilds (consumer) VALUES (?)"


_CREATE_STAGING = "CREATE TEMP TABLE staged (tenant_id text, id text, number bigint, words text)"


def fill_search_documents(connection: sqlite3.Connection) -> None:
    """Write the search documents and their full-text indexes, as the indexer does."""
    connection.execute("BEGIN")
    for table in _DOCUMENT_TABLES:
        rows = _generate_documents(connection, table)
        connection.executemany(f"INSERT INTO {table.name} VALUES (?, ?, ?, ?)", rows)
        connection.execute(f"INSERT INTO {table.fts_table} ({table.fts_table}) VALUES ('rebuild')")
    connection.executemany(_MARK_BUILT, [("ticket_search",), ("customer_search",)])
    connection.execute("COMMIT")


def _generate_documents(
    connection: sqlite3.Connection, table: _DocumentTable
) -> Iterator[tuple[str, str, int, str]]:
    for number, (tenant_id, row_id, *texts) in enumerate(connection.execute(table.query), 1):
        yield tenant_id, row_id, number, rules.fts5_text(str(text) for text in texts if text)


async def copy_search_documents(source: sqlite3.Connection, target: asyncpg.Connection) -> None:
    """Copy the search documents into PostgreSQL, where the words are a tsvector."""
    for table in _DOCUMENT_TABLES:
        columns = f"tenant_id, {table.id_column}, number"
        rows = source.execute(f"SELECT {columns}, words FROM {table.name}")
        records = ((*key, rules.tsvector([words])) for *key, words in rows)
        await target.execute(_CREATE_STAGING)
        await target.copy_records_to_table("staged", records=records)
        await target.execute(
            f"INSERT INTO {table.name} ({columns}, words)"
            " SELECT tenant_id, id, number, words::tsvector FROM staged"
        )
        await target.execute("DROP TABLE staged")
