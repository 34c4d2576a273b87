"""PostgreSQL as one end of a move, as the owner of the tables."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
from asyncpg import Connection

from sealdesk.db.moving.batch_size import Pace
from sealdesk.db.moving.tables import Row, Table, describe, shown
from sealdesk.db.postgres import errors, preflight
from sealdesk.db.schema_version import KNOWN, Unusable
from sealdesk.db.tables import REMADE

_NAME = "sealdesk move"
_LOCK = 0x5EA1DE5D  # of moves, among the advisory locks of the database
_WAIT_S = 600.0  # for one statement; reading a large table in order may begin with sorting it
_SETTINGS = """
SET statement_timeout = '10min'; SET idle_in_transaction_session_timeout = 0;
SET lock_timeout = '4s'
"""
# Row level security hides what it does not show, without a word.
_HIDDEN = """
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
_OTHERS = """
SELECT relname AS name FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
ORDER BY 1 LIMIT 5
"""
# By name, or, behind a pooler that gives none, by being a role that may write and is not this one.
_USERS = """
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
    """A database that is read."""

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
        behind = "" if after is None else f"WHERE ({key}) > ({places})"
        columns = ", ".join(
            f"{name}::int" if type_name == "boolean" else name
            for name, type_name in zip(table.columns, table.types, strict=True)
        )
        async with self._connection.transaction():
            cursor = await self._connection.cursor(
                f"SELECT {columns} FROM {table.name} {behind} ORDER BY {key}", *(after or ())
            )
            pace = Pace()
            while rows := list(map(tuple, await cursor.fetch(pace.rows, timeout=_WAIT_S))):
                pace.heed(rows)
                yield rows


class PostgresTarget(PostgresSource):
    """A database that is written."""

    async def last_key(self, table: Table) -> Row | None:
        order = ", ".join(f"{name} DESC" for name in table.key)
        row = await self._connection.fetchrow(
            f"SELECT {', '.join(table.key)} FROM {table.name} ORDER BY {order} LIMIT 1"
        )
        return None if row is None else tuple(row)

    async def add(self, table: Table, rows: list[Row]) -> None:
        # COPY would be the other way, which PostgreSQL refuses under row level security.
        columns = [list(column) for column in zip(*rows, strict=True)]
        try:
            await self._connection.execute(_insert(table), *columns, timeout=_WAIT_S)
        except (asyncpg.DataError, asyncpg.PostgresError) as error:
            for row in rows:
                if fault := table.fault_in(row):
                    key = shown(table.key_of(row))
                    raise Unusable(f"{table.name}: in the row {key}, {fault}") from error
            if isinstance(error, asyncpg.IntegrityConstraintViolationError):
                raise Unusable(f"{table.name} cannot be moved as it is: {error}") from error
            raise

    async def mark(self) -> str | None:
        return await preflight.unfinished(self._connection)

    async def set_mark(self, fingerprint: str) -> None:
        await self._comment(preflight.UNFINISHED + fingerprint)
        try:
            # From here on nobody begins to serve it; somebody may have just before.
            await _check_unused(self._connection)
        except Unusable:
            await self._comment(None)
            raise

    async def clear(self, wanted: tuple[Table, ...]) -> None:
        # What is made again from the others refers to them.
        names = (*(table.name for table in wanted), *REMADE)
        async with self._connection.transaction():
            await self._connection.execute(f"TRUNCATE {', '.join(names)}")
            await self._comment(None)

    async def finish(self) -> None:
        await self._connection.execute("ANALYZE", timeout=_WAIT_S)
        # This commit is waited for, and with it all before it.
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
async def opened_source(url: str) -> AsyncIterator[tuple[PostgresSource, tuple[Table, ...]]]:
    """A database that nobody changes meanwhile, and its tables. Raises Unusable."""
    async with _opened(url) as connection:
        if await preflight.unfinished(connection) is not None:
            raise Unusable(
                f"{preflight.shown(url)} holds an unfinished move, which is not a source"
            )
        tables = await describe(connection)
        async with connection.transaction(isolation="repeatable_read"):
            # Before anything is read: what is seen is what there is once everybody else waits.
            await connection.execute(
                f"LOCK TABLE {', '.join(table.name for table in tables)} IN SHARE MODE"
            )
            yield PostgresSource(connection), tables


@asynccontextmanager
async def opened_target(url: str) -> AsyncIterator[tuple[PostgresTarget, tuple[Table, ...]]]:
    """A migrated database to write, and its tables. Raises Unusable."""
    async with _opened(url) as connection:
        # Of a page that a crash of the server takes back, the next attempt sees that it is missing.
        await connection.execute("SET synchronous_commit = off")
        yield PostgresTarget(connection), await describe(connection)


async def check_target(url: str) -> None:
    """Raises Unusable unless this can be migrated and moved to: it is empty, or Sealdesk's."""
    connection = await preflight.connected(url, name=_NAME)
    where = preflight.shown(url)
    try:
        faults = await preflight.server_faults(connection)
        if faults:
            raise Unusable(f"{where} {faults[0]}")
        others = await connection.fetch(_OTHERS)
        if others and await preflight.schema_version(connection) is None:
            names = ", ".join(row["name"] for row in others)
            raise Unusable(f"{where} holds something else ({names}); name an empty database")
    finally:
        await connection.close(timeout=1)


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[Connection]:
    connection = await preflight.connected(url, name=_NAME)
    try:
        await connection.execute(_SETTINGS)
        await _check(connection, preflight.shown(url))
        yield connection
    except Exception as error:
        why = _why_away(error)
        if why is None:
            raise
        raise Unusable(
            f"{preflight.shown(url)}: {why}; when that is mended, the same command goes on"
        ) from error
    finally:
        # Cut: it may be in the middle of something, and what is not committed must not stay.
        connection.terminate()


def _why_away(error: Exception) -> str | None:
    # asyncpg's word for a connection whose end was announced, but has not been read yet.
    if isinstance(error, asyncpg.InternalClientError):
        return "the server ended the connection"
    return str(error) or "no answer in time" if errors.is_away(error) else None


async def _check(connection: Connection, where: str) -> None:
    found = await preflight.schema_version(connection)
    if found != KNOWN[-1]:
        raise Unusable(f"{where} has schema {found} and not {KNOWN[-1]}; run `sealdesk migrate`")
    if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", _LOCK):
        raise Unusable(f"another `sealdesk move` works on {where}; let it end")
    if hidden := await connection.fetch(_HIDDEN):
        names = ", ".join(row["name"] for row in hidden)
        raise Unusable(
            f"{where}: the role is not the owner of all tables, and row level security may hide"
            f" rows of {names} from it; name the role that ran `sealdesk migrate`"
        )
    await _check_unused(connection)


async def _check_unused(connection: Connection) -> None:
    users = await connection.fetch(_USERS)
    if users:
        names = ", ".join(f"{row['who']} ({row['sessions']})" for row in users)
        raise Unusable(
            f"the database is in use by {names}; stop `sealdesk serve`, `sealdesk worker` and any"
            " pooler in between on all hosts, and move again"
        )
