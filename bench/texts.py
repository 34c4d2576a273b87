"""What is searched, made at once for all tickets and customers, as the indexer makes it."""

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

import asyncpg

from sealdesk.search import rules


class _Kind(NamedTuple):
    """Its table, the name of its id, SQLite's index of it, and how it is read: ids, then texts."""

    table: str
    of: str
    found_by: str
    texts: str


_KINDS = (
    _Kind(
        "search_documents",
        "ticket_id",
        "search_index",
        "SELECT t.tenant_id, t.id, t.number, t.subject, c.email, c.name, c.company, t.description"
        " FROM tickets t JOIN customers c ON c.tenant_id = t.tenant_id AND c.id = t.customer_id"
        " ORDER BY t.tenant_id, t.id",
    ),
    _Kind(
        "customer_documents",
        "customer_id",
        "search_index_customers",
        "SELECT tenant_id, id, name, email, company, phone, external_id FROM customers"
        " ORDER BY tenant_id, id",
    ),
)
TABLES = tuple(kind.table for kind in _KINDS)
_DONE = "INSERT INTO search_rebuilds (consumer) VALUES (?)"
_STAGE = "CREATE TEMP TABLE staged (tenant_id text, id text, number bigint, words text)"


def fill(connection: sqlite3.Connection) -> None:
    """Write the texts, and what finds their words."""
    connection.execute("BEGIN")
    for kind in _KINDS:
        rows = _made(connection, kind)
        connection.executemany(f"INSERT INTO {kind.table} VALUES (?, ?, ?, ?)", rows)
        connection.execute(f"INSERT INTO {kind.found_by} ({kind.found_by}) VALUES ('rebuild')")
    connection.executemany(_DONE, [("ticket_search",), ("customer_search",)])
    connection.execute("COMMIT")


def _made(connection: sqlite3.Connection, kind: _Kind) -> Iterator[tuple[str, str, int, str]]:
    for place, (tenant_id, of, *texts) in enumerate(connection.execute(kind.texts), 1):
        yield tenant_id, of, place, rules.text_of(str(text) for text in texts if text)


async def copy(source: sqlite3.Connection, target: asyncpg.Connection) -> None:
    """The same into PostgreSQL, where the words stand in a tsvector."""
    for kind in _KINDS:
        columns = f"tenant_id, {kind.of}, number"
        rows = source.execute(f"SELECT {columns}, words FROM {kind.table}")
        records = ((*kept, rules.vector_of([words])) for *kept, words in rows)
        await target.execute(_STAGE)
        await target.copy_records_to_table("staged", records=records)
        await target.execute(
            f"INSERT INTO {kind.table} ({columns}, words)"
            " SELECT tenant_id, id, number, words::tsvector FROM staged"
        )
        await target.execute("DROP TABLE staged")
