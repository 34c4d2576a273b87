"""Copies a PostgreSQL database with pg_dump, and restores such a copy into an empty one."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from asyncpg import Connection

from sealdesk.db.backup import programs
from sealdesk.db.engine import Tx
from sealdesk.db.migrations.schema_version import Unusable
from sealdesk.db.postgres import maintenance_checks, preflight
from sealdesk_citus import all_nodes

_NAME = "sealdesk backup"
_SETTINGS = "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0"
_VERSION = "SELECT current_setting('server_version_num')::int / 10000"
_TABLES = """
SELECT relname AS name FROM pg_class
WHERE relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'alembic_version'::regclass)
    AND relkind IN ('r', 'p') ORDER BY 1 LIMIT 1000
"""
_SEALED_COLUMNS = """
SELECT c.relname AS name, a.attname AS column_name
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'alembic_version'::regclass)
    AND c.relkind IN ('r', 'p') AND a.attname LIKE 'sealed\\_%' ORDER BY 1, 2 LIMIT 1000
"""
_RELATIONS = """
SELECT relname AS name FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
ORDER BY 1 LIMIT 5
"""
# Entries that name roles. `migrate` sets them up for the roles of this installation.
_OF_ROLES = re.compile(r"^\d+; \d+ \d+ (POLICY|ROW SECURITY|ACL|DEFAULT ACL) ", re.MULTILINE)
_DUMPED_TABLE = "dumping contents of table"
_RESTORED_TABLE = "processing data for table"


class Reader:
    """Reads the database in the snapshot of the dump, for the manifest."""

    def __init__(self, connection: Connection, url: str, snapshot: str) -> None:
        self._connection = connection
        self._url = url
        self._snapshot = snapshot

    async def rows(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        return [tuple(row) for row in await self._connection.fetch(sql, *values)]

    async def tables(self) -> list[str]:
        return [row["name"] for row in await self._connection.fetch(_TABLES)]

    async def sealed_columns(self) -> list[tuple[str, str]]:
        return [(row[0], row[1]) for row in await self._connection.fetch(_SEALED_COLUMNS)]

    async def dump(self, target: Path, advance: Callable[[], None]) -> None:
        """Write the dump. advance: is called for each table. Raises Unusable."""
        version = await self._connection.fetchval(_VERSION)
        command: list[str | Path] = [
            programs.find("pg_dump", version),
            "--format=custom",
            "--no-owner",
            "--enable-row-security",  # the owner's policy shows it all rows
            f"--snapshot={self._snapshot}",
            "--verbose",
            f"--file={target}",
            f"--dbname={programs.without_password(self._url)}",
        ]
        _run(command, self._url, _DUMPED_TABLE, advance)


@asynccontextmanager
async def opened_snapshot(url: str) -> AsyncIterator[Reader]:
    """Open a database as the owner of its tables, as it is at one moment. Raises Unusable."""
    connection = await preflight.open_connection(url, name=_NAME)
    try:
        await connection.execute(_SETTINGS)
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            if await preflight.schema_version(connection) is None:
                raise Unusable(f"{preflight.redacted(url)} holds no Sealdesk")
            if await all_nodes.list_tenant_tables(connection):
                raise Unusable(
                    f"{preflight.redacted(url)} is distributed over nodes with Citus, which have no"
                    " moment in common for one file; back up each server as PostgreSQL does"
                )
            await maintenance_checks.check_visible(connection, preflight.redacted(url))
            snapshot = await connection.fetchval("SELECT pg_export_snapshot()")
            yield Reader(connection, url, snapshot)
    finally:
        connection.terminate()


async def check_target(url: str) -> None:
    """Raises Unusable unless the database is empty and unused."""
    where = preflight.redacted(url)
    async with preflight.opened(url, name=_NAME) as connection:
        if faults := await preflight.find_server_faults(connection):
            raise Unusable(f"{where} {faults[0]}")
        found = [row["name"] for row in await connection.fetch(_RELATIONS)]
        if preflight.UNFINISHED_RESTORE in found and len(found) > 1:
            raise Unusable(
                f"{where} holds an unfinished restore; drop the database, create it again with"
                " createdb, and restore again"
            )
        if found not in ([], [preflight.UNFINISHED_RESTORE]):
            raise Unusable(
                f"{where} is not empty (it has {', '.join(found)}), and a restore replaces nothing;"
                " rename or drop that database and create an empty one with createdb"
            )
        await maintenance_checks.check_unused(connection)


async def check_unused(url: str) -> None:
    """Raises Unusable when a server or a worker uses the database."""
    async with preflight.opened(url, name=_NAME) as connection:
        await maintenance_checks.check_unused(connection)


async def restore(url: str, dump: Path, scratch: Path, advance: Callable[[], None]) -> None:
    """Fill an empty database, which cannot be served until `finish`. Raises Unusable.

    advance: is called for each table.
    """
    async with preflight.opened(url, name=_NAME) as connection:
        program = programs.find("pg_restore", await connection.fetchval(_VERSION))
        mark = preflight.UNFINISHED_RESTORE
        await connection.execute(f"CREATE TABLE IF NOT EXISTS {mark} (started_at timestamptz)")
        contents = scratch / "contents"
        listed = programs.run([program, "--list", dump], programs.environment(url, _NAME))
        contents.write_text("".join(_without_roles(listed)))
        command: list[str | Path] = [
            program,
            "--single-transaction",
            "--exit-on-error",
            "--no-owner",
            "--no-privileges",
            "--verbose",
            f"--use-list={contents}",
            f"--dbname={programs.without_password(url)}",
            dump,
        ]
        try:
            _run(command, url, _RESTORED_TABLE, advance)
        except BaseException:
            await connection.execute(f"DROP TABLE {mark}")
            raise


def _without_roles(contents: str) -> list[str]:
    lines = contents.splitlines(keepends=True)
    return [line for line in lines if not _OF_ROLES.match(line)]


async def finish(tx: Tx) -> None:
    """Let the restored database be served, when the transaction commits."""
    await tx.fetch_all(f"DROP TABLE {preflight.UNFINISHED_RESTORE}", {})


def _run(command: list[str | Path], url: str, counted: str, advance: Callable[[], None]) -> None:
    def count(line: str) -> None:
        if counted in line:
            advance()

    try:
        programs.run(command, programs.environment(url, _NAME), count)
    except Unusable as error:
        raise Unusable(f"{preflight.redacted(url)}: {error}; nothing was changed") from error
