"""PostgreSQL as the source or target of a move, as the owner of the tables."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
from asyncpg import Connection

from sealdesk.db.moving.batch_size import BatchSize
from sealdesk.db.moving.tables import Row, Table, display_key, read_tables
from sealdesk.db.postgres import errors, preflight
from sealdesk.db.schema_version import KNOWN_VERSIONS, Unusable
from sealdesk.db.tables import REBUILT

_NAME = "sealdesk move"
_MOVE_LOCK = 0x5EA1DE5D  # an advisory lock
_STATEMENT_TIMEOUT_S = 600.0  # reading a large table in key order may begin with sorting it
_SETTINGS = """
SET statement_timeout = '10min'; SET idle_in_transaction_session_timeout = 0;
SET lock_timeout = '4s'
"""
# Row level security omits rows silently.
_HIDDEN_TABLES = """
SELECT c.relname AS name FROM pg_class c
WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'alembic_version'::regclass)
    AND c.relkind IN ('r', 'p') AND c.oid <> 'alembic_version'::regclass
    AND NOT (pg_has_role(current_user, c.relowner, 'USAGE') AND (
        NOT c.relrowsecurity OR EXISTS (
            SELECT FROM pg_policy p, unnest(p.polroles) AS r
            WHERE p.polrelid = c.oid AND p.polcmd = '*' AND p.polpermissive
                AND pg_get_expr(p.polqual, p.polrelid) = 'true'
                AND r <> 0 AND pg_has_role(current_user, r, 'USAGE')
        )
    ))
    AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
ORDER BY 1 LIMIT 1000
"""
_EXISTING_RELATIONS = """
SELECT relname AS name FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
ORDER BY 1 LIMIT 5
"""
# By application name, or by role where a pooler sets no name: another role that may write.
_ACTIVE_SESSIONS = """
SELECT coalesce(nullif(s.application_name, ''), 'a session') || ' as ' || s.usename AS who,
    count(*) AS sessions
FROM pg_stat_activity s JOIN pg_roles r ON r.oid = s.usesysid
WHERE s.datname = current_database() AND s.pid <> pg_backend_pid()
    AND s.application_name <> 'sealdesk move'
    AND (s.application_name LIKE 'sealdesk %' OR (
        NOT r.rolsuper AND r.rolname <> current_user
        AND has_table_privilege(r.oid, 'events', 'DELETE')
    ))
GROUP BY 1 ORDER BY 1 LIMIT 10
"""


class PostgresSource:
    """The database that a move reads."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def count(self, table: Table) -> int:
        found = await self._connection.fetchval(f"SELECT count(*) FROM {table.name}")
        return int(found)

    async def pages(
        self, table: Table, after: Row | None = None
    ) -> AsyncGenerator[list[Row], None]:
        key = ", ".join(table.key)
        places = ", ".join(f"${place}" for place in range(1, len(table.key) + 1))
        condition = "" if after is None else f"WHERE ({key}) > ({places})"
        columns = ", ".join(
            f"{name}::int" if type_name == "boolean" else name
            for name, type_name in zip(table.columns, table.types, strict=True)
        )
        async with self._connection.transaction():
            cursor = await self._connection.cursor(
                f"SELECT {columns} FROM {table.name} {condition} ORDER BY {key}", *(after or ())
            )
            batch = BatchSize()
            while rows := list(
                map(tuple, await cursor.fetch(batch.rows, timeout=_STATEMENT_TIMEOUT_S))
            ):
                batch.adapt(rows)
                yield rows


class PostgresTarget(PostgresSource):
    """The database that a move writes."""

    async def last_key(self, table: Table) -> Row | None:
        order = ", ".join(f"{name} DESC" for name in table.key)
        row = await self._connection.fetchrow(
            f"SELECT {', '.join(table.key)} FROM {table.name} ORDER BY {order} LIMIT 1"
        )
        return None if row is None else tuple(row)

    async def add(self, table: Table, rows: list[Row]) -> None:
        # Not COPY FROM, which PostgreSQL rejects for tables with row level security.
        columns = [list(column) for column in zip(*rows, strict=True)]
        try:
            await self._connection.execute(_insert(table), *columns, timeout=_STATEMENT_TIMEOUT_S)
        except (asyncpg.DataError, asyncpg.PostgresError) as error:
            for row in rows:
                if fault := table.fault_in(row):
                    key = display_key(table.key_of(row))
                    raise Unusable(f"{table.name}: in the row {key}, {fault}") from error
            if isinstance(error, asyncpg.IntegrityConstraintViolationError):
                raise Unusable(f"{table.name} cannot be moved as it is: {error}") from error
            raise

    async def mark(self) -> str | None:
        return await preflight.find_unfinished_move(self._connection)

    async def set_mark(self, fingerprint: str) -> None:
        await self._comment(preflight.UNFINISHED_MOVE + fingerprint)
        try:
            # No process starts to serve a marked database, but one may have started just before.
            await check_unused(self._connection)
        except Unusable:
            await self._comment(None)
            raise

    async def clear(self, wanted: tuple[Table, ...]) -> None:
        # The rebuilt tables refer to the others.
        names = (*(table.name for table in wanted), *REBUILT)
        async with self._connection.transaction():
            await self._connection.execute(f"TRUNCATE {', '.join(names)}")
            await self._comment(None)

    async def finish(self) -> None:
        await self._connection.execute("ANALYZE", timeout=_STATEMENT_TIMEOUT_S)
        # Waiting for this commit makes all earlier ones durable.
        await self._connection.execute("SET synchronous_commit = on")
        await self._comment(None)

    async def _comment(self, text: str | None) -> None:
        statement = await self._connection.fetchval(
            "SELECT format('COMMENT ON TABLE alembic_version IS %L', $1::text)", text
        )
        await self._connection.execute(statement)


def _insert(table: Table) -> str:
    types = {"boolean": "int"}
    arrays, chosen = [], []
    for place, type_name in enumerate(table.types, 1):
        arrays.append(f"${place}::{types.get(type_name, type_name)}[]")
        chosen.append(f"c{place}::{type_name}")
    names = ", ".join(f"c{place}" for place in range(1, len(table.types) + 1))
    return (
        f"INSERT INTO {table.name} ({', '.join(table.columns)})"
        f" SELECT {', '.join(chosen)} FROM unnest({', '.join(arrays)}) AS u({names})"
    )


@asynccontextmanager
async def open_source(url: str) -> AsyncIterator[tuple[PostgresSource, tuple[Table, ...]]]:
    """Open a database for reading, locked against changes; and its tables. Raises Unusable."""
    async with _open(url) as connection:
        if await preflight.find_unfinished_move(connection) is not None:
            raise Unusable(
                f"{preflight.redacted(url)} holds an unfinished move, which is not a source"
            )
        tables = await read_tables(connection)
        async with connection.transaction(isolation="repeatable_read"):
            # Before the first read, whose snapshot then holds everything that was committed.
            await connection.execute(
                f"LOCK TABLE {', '.join(table.name for table in tables)} IN SHARE MODE"
            )
            yield PostgresSource(connection), tables


@asynccontextmanager
async def open_target(url: str) -> AsyncIterator[tuple[PostgresTarget, tuple[Table, ...]]]:
    """Open a migrated database for writing; and its tables. Raises Unusable."""
    async with _open(url) as connection:
        # If a crash of the server loses a page, the next attempt copies it again.
        await connection.execute("SET synchronous_commit = off")
        yield PostgresTarget(connection), await read_tables(connection)


async def check_target(url: str) -> None:
    """Raises Unusable unless the database is empty or holds only Sealdesk's tables."""
    connection = await preflight.open_connection(url, name=_NAME)
    where = preflight.redacted(url)
    try:
        faults = await preflight.find_server_faults(connection)
        if faults:
            raise Unusable(f"{where} {faults[0]}")
        others = await connection.fetch(_EXISTING_RELATIONS)
        if others and await preflight.schema_version(connection) is None:
            names = ", ".join(row["name"] for row in others)
            raise Unusable(f"{where} holds something else ({names}); name an empty database")
    finally:
        await connection.close(timeout=1)


@asynccontextmanager
async def _open(url: str) -> AsyncIterator[Connection]:
    connection = await preflight.open_connection(url, name=_NAME)
    try:
        await connection.execute(_SETTINGS)
        await _check(connection, preflight.redacted(url))
        yield connection
    except Exception as error:
        why = _find_reason(error)
        if why is None:
            raise
        raise Unusable(
            f"{preflight.redacted(url)}: {why}; when that is mended, the same command goes on"
        ) from error
    finally:
        # Terminated rather than closed: a statement may still be running.
        connection.terminate()


def _find_reason(error: Exception) -> str | None:
    # asyncpg raises this when the server has closed the connection and asyncpg has not read it yet.
    if isinstance(error, asyncpg.InternalClientError):
        return "the server ended the connection"
    return str(error) or "no answer in time" if errors.is_unavailable(error) else None


async def _check(connection: Connection, where: str) -> None:
    found = await preflight.schema_version(connection)
    if found != KNOWN_VERSIONS[-1]:
        raise Unusable(
            f"{where} has schema {found} and not {KNOWN_VERSIONS[-1]}; run `sealdesk migrate`"
        )
    if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", _MOVE_LOCK):
        raise Unusable(f"another `sealdesk move` works on {where}; let it end")
    await check_visible(connection, where)
    await check_unused(connection)


async def check_visible(connection: Connection, where: str) -> None:
    """Raises Unusable unless the role sees all rows of all tables."""
    if hidden := await connection.fetch(_HIDDEN_TABLES):
        names = ", ".join(row["name"] for row in hidden)
        raise Unusable(
            f"{where}: the role is not the owner of all tables, and row level security may hide"
            f" rows of {names} from it; name the role that ran `sealdesk migrate`"
        )


async def check_unused(connection: Connection) -> None:
    """Raises Unusable when servers or workers use the database."""
    users = await connection.fetch(_ACTIVE_SESSIONS)
    if users:
        names = ", ".join(f"{row['who']} ({row['sessions']})" for row in users)
        raise Unusable(
            f"the database is in use by {names}; stop `sealdesk serve`, `sealdesk worker` and any"
            " pooler in between on all hosts, and run the command again"
        )
