"""What is searched, made at once for all tickets, as the indexer makes it bit by bit."""

import sqlite3
from collections.abc import Iterator

import asyncpg

from sealdesk.search import rules

TABLE = "search_documents"
_COLUMNS = ("tenant_id", "ticket_id", "number", "words")
_TICKETS = """
SELECT t.tenant_id, t.id, t.number, t.subject, c.email, c.name, c.company, t.description
FROM tickets t JOIN customers c ON c.tenant_id = t.tenant_id AND c.id = t.customer_id
ORDER BY t.tenant_id, t.id
"""
_DONE = "INSERT INTO search_progress (tenant_id, position) SELECT id, 0 FROM tenants"
_STAGE = "CREATE TEMP TABLE staged (tenant_id text, ticket_id text, number bigint, words text)"
_UNSTAGE = f"""
INSERT INTO {TABLE} (tenant_id, ticket_id, number, words)
SELECT tenant_id, ticket_id, number, words::tsvector FROM staged
"""


def fill(connection: sqlite3.Connection) -> None:
    """Write the texts, and what finds their words."""
    connection.execute("BEGIN")
    connection.executemany(f"INSERT INTO {TABLE} VALUES (?, ?, ?, ?)", _made(connection))
    connection.execute("INSERT INTO search_index (search_index) VALUES ('rebuild')")
    connection.execute(_DONE)
    connection.execute("COMMIT")


def _made(connection: sqlite3.Connection) -> Iterator[tuple[str, str, int, str]]:
    for place, (tenant_id, ticket_id, number, *texts) in enumerate(connection.execute(_TICKETS), 1):
        said = [str(number), *(text for text in texts if text)]
        yield tenant_id, ticket_id, place, rules.text_of(said)


async def copy(source: sqlite3.Connection, target: asyncpg.Connection) -> None:
    """The same into PostgreSQL, where the words stand in a tsvector."""
    rows = source.execute(f"SELECT {', '.join(_COLUMNS)} FROM {TABLE}")
    records = ((*kept, rules.vector_of([words])) for *kept, words in rows)
    await target.execute(_STAGE)
    await target.copy_records_to_table("staged", columns=_COLUMNS, records=records)
    await target.execute(_UNSTAGE)
    await target.execute("DROP TABLE staged")
