"""Reads the tables to move from PostgreSQL's catalogue.

Either source or target is PostgreSQL, and importing SQLAlchemy's metadata would cost 23 MiB.
"""

from graphlib import TopologicalSorter
from typing import NamedTuple

from asyncpg import Connection

from sealdesk.db import schema
from sealdesk.db.migrations.schema_version import Unusable

# As SQLite stores them: booleans are 0 and 1.
Value = None | int | str | bytes
Row = tuple[Value, ...]

_COLUMNS = """
SELECT c.relname AS name, a.attname AS column_name,
    format_type(a.atttypid, a.atttypmod) AS type_name,
    array_position(i.indkey::int2[], a.attnum) AS place_in_key
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
WHERE c.relkind IN ('r', 'p') AND c.oid <> 'alembic_version'::regclass
    AND c.relname <> ALL ($1)
    AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'alembic_version'::regclass)
ORDER BY c.relname, a.attnum LIMIT 10000
"""
_REFERENCES = """
SELECT c.relname AS name, r.relname AS referred
FROM pg_constraint k
JOIN pg_class c ON c.oid = k.conrelid
JOIN pg_class r ON r.oid = k.confrelid
WHERE k.contype = 'f' AND r.oid <> c.oid AND c.relname <> ALL ($1)
    AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'alembic_version'::regclass)
ORDER BY 1, 2 LIMIT 10000
"""
_SKIPPED = (*schema.REBUILT, schema.KEY_STAMP)
_PYTHON: dict[str, type] = {"text": str, "bytea": bytes}


class Event(NamedTuple):
    """An event in the feed of a tenant."""

    tenant_id: str
    position: int
    id: str


class Table(NamedTuple):
    """One table. types: as PostgreSQL names them. key: the columns of the primary key."""

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    key: tuple[str, ...]

    def key_of(self, row: Row) -> Row:
        return tuple(row[self.columns.index(name)] for name in self.key)

    def fault_in(self, row: Row) -> str:
        """The first value of a row that PostgreSQL cannot store, as text; "" when there is none."""
        for name, type_name, value in zip(self.columns, self.types, row, strict=True):
            wanted = _PYTHON.get(type_name, int)
            if value is not None and type(value) is not wanted:
                return f"{name} holds {type(value).__name__} where {type_name} belongs"
            if isinstance(value, str) and "\0" in value:
                return f"{name} holds the character U+0000, which PostgreSQL cannot"
        return ""


async def read_tables(
    connection: Connection, skipped: tuple[str, ...] = _SKIPPED
) -> tuple[Table, ...]:
    """The tables of a migrated database, without some; each follows those that it refers to."""
    found: dict[str, list[tuple[str, str, int | None]]] = {}
    for row in await connection.fetch(_COLUMNS, skipped):
        column = (row["column_name"], row["type_name"], row["place_in_key"])
        found.setdefault(row["name"], []).append(column)
    order = TopologicalSorter({name: set[str]() for name in found})
    for row in await connection.fetch(_REFERENCES, skipped):
        order.add(row["name"], row["referred"])
    return tuple(_make_table(name, found[name]) for name in order.static_order())


def check_same(ours: tuple[Table, ...], theirs: tuple[Table, ...]) -> None:
    """Raises Unusable unless two databases have the same tables with the same columns."""
    odd = {table.name for table in {*ours} ^ {*theirs}}
    if odd:
        raise Unusable(
            f"the two databases do not have the same tables: {', '.join(sorted(odd))}; they"
            " must hold nothing but Sealdesk"
        )


def display_key(key: Row) -> str:
    """A key as readable text."""
    return " ".join(value.hex() if isinstance(value, bytes) else str(value) for value in key)


def _make_table(name: str, columns: list[tuple[str, str, int | None]]) -> Table:
    in_key = sorted((place, column) for column, _, place in columns if place is not None)
    return Table(
        name,
        tuple(column for column, _, _ in columns),
        tuple(type_name for _, type_name, _ in columns),
        tuple(column for _, column in in_key),
    )
