"""Opens PostgreSQL databases for a move, as the owner of the tables, and checks them before."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
from asyncpg import Connection

from sealdesk.db.migrations.schema_version import KNOWN_VERSIONS, Unusable
from sealdesk.db.postgres import errors, preflight
from sealdesk.db.postgres.maintenance_checks import check_unused, check_visible
from sealdesk_citus import all_nodes
from sealdesk_move.distributed import DistributedSource, DistributedTarget
from sealdesk_move.postgres import PostgresSource, PostgresTarget
from sealdesk_move.tables import Table, read_tables

_NAME = "sealdesk move"
_MOVE_LOCK = 0x5EA1DE5D  # an advisory lock
_SETTINGS = """
SET statement_timeout = '10min'; SET idle_in_transaction_session_timeout = 0;
SET lock_timeout = '4s'; SET plan_cache_mode = 'auto'
"""
# Without those of an extension.
_EXISTING_RELATIONS = """
SELECT c.relname AS name FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
    AND NOT EXISTS (SELECT 1 FROM pg_depend d
        WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
ORDER BY 1 LIMIT 5
"""


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
            tenant_tables = await all_nodes.list_tenant_tables(connection)
            if not tenant_tables:
                yield PostgresSource(connection), tables
                return
            # A transaction that could not end on a node has given its locks back.
            await all_nodes.check_settled(connection, preflight.redacted(url))
            yield DistributedSource(connection, tenant_tables), tables


@asynccontextmanager
async def open_target(url: str) -> AsyncIterator[tuple[PostgresTarget, tuple[Table, ...]]]:
    """Open a migrated database for writing; and its tables. Raises Unusable."""
    async with _open(url) as connection:
        tables = await read_tables(connection)
        tenant_tables = await all_nodes.list_tenant_tables(connection)
        if tenant_tables:
            await all_nodes.check_settled(connection, preflight.redacted(url))
            yield DistributedTarget(connection, tenant_tables), tables
            return
        # If a crash of the server loses a page, the next attempt copies it again. Not on several
        # nodes, of which one would lose its part of a page.
        await connection.execute("SET synchronous_commit = off")
        yield PostgresTarget(connection), tables


async def check_source(url: str) -> None:
    """Raises Unusable unless the database can be moved now."""
    async with _open(url):
        pass


async def check_target(url: str) -> None:
    """Raises Unusable unless the database is empty or holds only Sealdesk's tables."""
    where = preflight.redacted(url)
    async with preflight.opened(url, name=_NAME) as connection:
        faults = await preflight.find_server_faults(connection)
        if faults:
            raise Unusable(f"{where} {faults[0]}")
        if await preflight.schema_version(connection) is not None:
            return
        if others := await connection.fetch(_EXISTING_RELATIONS):
            names = ", ".join(row["name"] for row in others)
            raise Unusable(f"{where} holds something else ({names}); name an empty database")
        if await all_nodes.has_citus(connection):
            raise Unusable(
                f"{where} has Citus and no tables yet: first run `sealdesk migrate --distribute`"
                " to have them on many nodes, or `sealdesk migrate` to have them on one"
            )


@asynccontextmanager
async def open_in_use(url: str) -> AsyncIterator[Connection]:
    """Open an installation that may serve meanwhile, to move a tenant. Raises Unusable."""
    async with _open(url, may_be_used=True) as connection:
        where = preflight.redacted(url)
        if await all_nodes.list_tenant_tables(connection):
            raise Unusable(
                f"{where} is distributed over nodes; there `sealdesk nodes move` moves a tenant,"
                " and `sealdesk move` without --tenant a whole installation"
            )
        if await preflight.find_unfinished_move(connection) is not None:
            raise Unusable(f"{where} holds an unfinished move of a whole installation; finish that")
        yield connection


@asynccontextmanager
async def _open(url: str, *, may_be_used: bool = False) -> AsyncIterator[Connection]:
    connection = await preflight.open_connection(url, name=_NAME)
    try:
        await connection.execute(_SETTINGS)
        await _check(connection, preflight.redacted(url), may_be_used=may_be_used)
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


async def _check(connection: Connection, where: str, *, may_be_used: bool) -> None:
    found = await preflight.schema_version(connection)
    if found is None:
        raise Unusable(f"{where} holds no Sealdesk; name what to move with --from")
    if found != KNOWN_VERSIONS[-1]:
        raise Unusable(
            f"{where} has schema {found} and not {KNOWN_VERSIONS[-1]}; run `sealdesk migrate`"
        )
    try:
        # The session of a command that was killed ends a moment later.
        await connection.execute("SELECT pg_advisory_lock($1)", _MOVE_LOCK)
    except asyncpg.LockNotAvailableError as error:
        raise Unusable(
            f"another `sealdesk move` works on {where}, or the source and the target are the same"
        ) from error
    await check_visible(connection, where)
    if await all_nodes.list_tenant_tables(connection):
        await all_nodes.check_coordinator(connection, where)
    if not may_be_used:
        await check_unused(connection)
