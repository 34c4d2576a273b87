"""The tables with rows of a tenant, and the SQL that reads and writes these rows."""

from collections.abc import Sequence
from typing import NamedTuple

from asyncpg import Connection

from sealdesk.db import schema
from sealdesk_move.tables import Row, Table, read_tables

# Progress of rebuilds and the stamp of keys belong to an installation.
_SKIPPED = ("search_rebuilds", schema.KEY_STAMP)
# What makes a tenant usable: these rows come last at the target, and go first at the source.
# reset_links are only deleted: a link to reset a password leads to the installation that sent it.
DIRECTORIES = (
    "test_tenants",
    "user_directory",
    "api_key_directory",
    "mailbox_directory",
    "contact_forms",
)
# At the target an event has no place in the log of all tenants, and no process has a lease yet.
_CHOSEN = {
    ("events", "log_position"): "NULL::bigint",
    ("mailbox_directory", "leased_by"): "NULL::text",
    ("mailbox_directory", "leased_until"): "NULL::bigint",
}
_UNIQUE_TEXTS = """
SELECT c.relname AS name, a.attname AS column_name
FROM pg_index i
JOIN pg_class c ON c.oid = i.indrelid
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey::int2[])
WHERE i.indisunique AND NOT i.indisprimary AND a.atttypid = 'text'::regtype
    AND NOT EXISTS (SELECT 1 FROM pg_constraint k
        WHERE k.conrelid = c.oid AND k.contype = 'f' AND a.attnum = ANY (k.conkey))
    AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'alembic_version'::regclass)
ORDER BY 1, 2 LIMIT 1000
"""


class Tables(NamedTuple):
    """The tables of an installation that have rows of tenants.

    own: with row level security; each follows those that it refers to. directories: the global
    ones. tenants: has a row of each tenant. unique_texts: by table, the texts of its unique indexes
    that are not in its key.
    """

    own: tuple[Table, ...]
    directories: tuple[Table, ...]
    tenants: Table
    unique_texts: dict[str, tuple[str, ...]]


async def read(connection: Connection) -> Tables:
    found = await read_tables(connection, _SKIPPED)
    by_name = {table.name: table for table in found}
    own = tuple(table for table in found if table.name not in schema.GLOBAL)
    texts: dict[str, tuple[str, ...]] = {}
    for row in await connection.fetch(_UNIQUE_TEXTS):
        table = by_name.get(row["name"])
        if table in own and row["column_name"] not in table.key:
            texts[table.name] = (*texts.get(table.name, ()), row["column_name"])
    return Tables(own, tuple(by_name[name] for name in DIRECTORIES), by_name["tenants"], texts)


def selected(table: Table) -> str:
    """The columns as they are compared, for a SELECT from the table with the alias t."""
    return ", ".join(
        _CHOSEN.get((table.name, name))
        or (f"t.{name}::text" if type_name == "tsvector" else f"t.{name}")
        for name, type_name in zip(table.columns, table.types, strict=True)
    )


async def page(
    connection: Connection, table: Table, tenant_id: str, after: Row | None, limit: int
) -> list[Row]:
    """The rows of a tenant after a key, in the order of the key."""
    rest = table.key[1:]
    if after is not None and not rest:
        return []
    order, condition = "", ""
    values: Row = ()
    if rest:
        order = f"ORDER BY {', '.join(f't.{name}' for name in rest)}"
    if after is not None:
        places = ", ".join(f"${place}" for place in range(3, len(rest) + 3))
        condition = f"AND ({', '.join(f't.{name}' for name in rest)}) > ({places})"
        values = after[1:]
    rows = await connection.fetch(
        f"SELECT {selected(table)} FROM {table.name} t WHERE t.tenant_id = $1 {condition}"
        f" {order} LIMIT $2",
        tenant_id,
        limit,
        *values,
    )
    return list(map(tuple, rows))


async def all_of(connection: Connection, table: Table, tenant_ids: Sequence[str]) -> list[Row]:
    """All rows of a small table."""
    key = ", ".join(f"t.{name}" for name in table.key)
    rows = await connection.fetch(
        f"SELECT {selected(table)} FROM {table.name} t WHERE t.tenant_id = ANY ($1) ORDER BY {key}",
        tenant_ids,
    )
    return list(map(tuple, rows))


async def with_keys(connection: Connection, table: Table, keys: Sequence[Row]) -> list[Row]:
    """The rows that have these keys, in the order of the key."""
    order = ", ".join(f"t.{name}" for name in table.key)
    rows = await connection.fetch(
        f"SELECT {selected(table)} FROM {table.name} t JOIN {_keys(table)}"
        f" USING ({', '.join(table.key)}) ORDER BY {order}",
        *_by_column(keys),
    )
    return list(map(tuple, rows))


async def last_key(
    connection: Connection, table: Table, tenant_ids: Sequence[str]
) -> Row | None:  # fmt: skip
    """The highest key of some tenants."""
    order = ", ".join(f"{name} DESC" for name in table.key)
    row = await connection.fetchrow(
        f"SELECT {', '.join(table.key)} FROM {table.name} WHERE tenant_id = ANY ($1)"
        f" ORDER BY {order} LIMIT 1",
        tenant_ids,
    )
    return None if row is None else tuple(row)


async def count(connection: Connection, table: Table, tenant_ids: Sequence[str]) -> int:
    found = await connection.fetchval(
        f"SELECT count(*) FROM {table.name} WHERE tenant_id = ANY ($1)", tenant_ids
    )
    return int(found)


async def add(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    await connection.execute(_insert(table), *_by_column(rows))


async def store(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Insert rows, or replace those that have their keys."""
    changed = [name for name in table.columns if name not in table.key]
    what = ", ".join(f"{name} = excluded.{name}" for name in changed)
    then = f"DO UPDATE SET {what}" if changed else "DO NOTHING"
    await connection.execute(
        f"{_insert(table)} ON CONFLICT ({', '.join(table.key)}) {then}", *_by_column(rows)
    )


async def free_texts(
    connection: Connection, table: Table, texts: Sequence[str], keys: Sequence[Row]
) -> None:
    """Give rows other unique texts, so that each of them may get one that another has now."""
    what = ", ".join(f"{name} = 'moving ' || gen_random_uuid()" for name in texts)
    condition = " AND ".join(f"t.{name} = k.{name}" for name in table.key)
    await connection.execute(
        f"UPDATE {table.name} t SET {what} FROM {_keys(table)} WHERE {condition}", *_by_column(keys)
    )


async def delete(connection: Connection, table: Table, keys: Sequence[Row]) -> None:
    condition = " AND ".join(f"t.{name} = k.{name}" for name in table.key)
    await connection.execute(
        f"DELETE FROM {table.name} t USING {_keys(table)} WHERE {condition}", *_by_column(keys)
    )


async def delete_some(
    connection: Connection, table: Table, tenant_ids: Sequence[str], limit: int
) -> int:
    """Delete some rows of tenants; how many."""
    status = await connection.execute(
        f"DELETE FROM {table.name} WHERE ctid = ANY (ARRAY(SELECT ctid FROM {table.name}"
        f" WHERE tenant_id = ANY ($1) LIMIT {limit}))",
        tenant_ids,
    )
    return int(status.rpartition(" ")[2])


def _keys(table: Table) -> str:
    return _unnested(table, table.key, "k")


def _insert(table: Table) -> str:
    chosen = ", ".join(
        f"u.{name}::tsvector" if type_name == "tsvector" else f"u.{name}"
        for name, type_name in zip(table.columns, table.types, strict=True)
    )
    return (
        f"INSERT INTO {table.name} ({', '.join(table.columns)})"
        f" SELECT {chosen} FROM {_unnested(table, table.columns, 'u')}"
    )


def _unnested(table: Table, names: Sequence[str], alias: str) -> str:
    types = dict(zip(table.columns, table.types, strict=True))
    arrays = ", ".join(
        f"${place}::{'text' if types[name] == 'tsvector' else types[name]}[]"
        for place, name in enumerate(names, 1)
    )
    return f"unnest({arrays}) AS {alias}({', '.join(names)})"


def _by_column(rows: Sequence[Row]) -> list[list[object]]:
    return [list(column) for column in zip(*rows, strict=True)]
