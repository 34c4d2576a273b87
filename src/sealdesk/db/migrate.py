"""The child process that migrates: `python -m sealdesk.db.migrate`, with its input on stdin.

stdin: JSON, {"path": …} of an SQLite file, or {"owner", "runtime", "worker"}: PostgreSQL URLs; the
last two may be empty. They hold passwords, so they are not command-line arguments. With
{"shards": N}, the tables are also distributed over the nodes of Citus. stdout: lines of JSON, the
schema after each migration that is committed, then a list of the tables that were distributed.

Each migration is one transaction (decision 0101). An empty database gets its tables in one.
"""

import asyncio
import fcntl
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, create_engine, event, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from sealdesk.clock import Clock
from sealdesk.db.migrations.pause import HOLD
from sealdesk.db.migrations.schema_version import (
    KNOWN_VERSIONS,
    Report,
    Unusable,
    describe_unknown,
    oldest_reader_of,
    pending_after,
)
from sealdesk.db.postgres import preflight, roles
from sealdesk.db.sqlite.connection import connect
from sealdesk.errors import ConfigurationError
from sealdesk_citus import distribute

_CONNECT_S = 5.0
# A migration that waits longer for a table in use would block the requests queued behind it, which
# give up after 3 s.
_SET_LOCK_TIMEOUT = "SET LOCAL lock_timeout = '1s'"
_RETRYABLE = (asyncpg.LockNotAvailableError.sqlstate, asyncpg.DeadlockDetectedError.sqlstate)
_MAX_ATTEMPTS = 20
_LONGEST_REST_S = 3.0
_NOTE_OLDEST_READER = text(
    "INSERT INTO installation_notes (name, note, noted_at) VALUES (:name, :note, :now_us)"
    " ON CONFLICT (name) DO UPDATE SET note = excluded.note, noted_at = excluded.noted_at"
)
# A trigger does not notice that a migration has rebuilt a table.
_STAMPS = ("key_stamp", "ticket_stamps")

T = TypeVar("T")


def migrate(path: Path, report: Report = str) -> None:
    """Migrate an SQLite database to the newest schema; concurrent calls wait for each other."""
    with path.with_name(path.name + ".migrate-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with sqlite_transaction(path) as connection:
            steps = _steps(connection)
        for step in steps:
            with sqlite_transaction(path) as connection:
                _upgrade(connection, step)
                for stamp in _STAMPS:
                    connection.exec_driver_sql(f"UPDATE {stamp} SET stamp = random()")
            report(step)


async def migrate_postgres(
    owner_url: str,
    *,
    runtime_url: str = "",
    worker_url: str = "",
    shard_count: int = 0,
    report: Report = str,
) -> list[str]:
    """Migrate a PostgreSQL database and set up its roles. Raises ConfigurationError.

    shard_count: if not 0, also distributes what is not distributed yet, and returns its tables.
    """
    wanted_roles = [roles.read_role(url) if url else None for url in (runtime_url, worker_url)]

    def finish(connection: Connection) -> list[str]:
        # Also without --distribute: the new tables of a distributed database belong on the nodes.
        is_distributed = bool(shard_count or roles.distributed_tables(connection))
        if is_distributed:
            distribute.begin(connection)
        _upgrade(connection, KNOWN_VERSIONS[-1])
        roles.set_up_roles(connection, *wanted_roles)
        return distribute.distribute(connection, shard_count) if is_distributed else []

    async with postgres_transaction(owner_url) as locked:
        for statement in HOLD:
            await locked.execute(text(statement))
        # On Citus all is one transaction, because new tables belong on the nodes at once.
        steps = await locked.run_sync(
            lambda c: [] if shard_count or roles.distributed_tables(c) else _steps(c)
        )
        for step in steps[:-1]:
            await _attempt(owner_url, lambda c, step=step: _upgrade(c, step))  # type: ignore[misc]
            report(step)
        distributed = await _attempt(owner_url, finish)
        report(KNOWN_VERSIONS[-1])
        return distributed


async def _attempt(owner_url: str, work: Callable[[Connection], T]) -> T:
    """Do the work in a transaction, and again if a table was in use."""
    attempts = 0
    while True:
        try:
            async with postgres_transaction(owner_url) as connection:
                await connection.execute(text(_SET_LOCK_TIMEOUT))
                return await connection.run_sync(work)
        except DBAPIError as error:
            attempts += 1
            if attempts == _MAX_ATTEMPTS or _sqlstate(error) not in _RETRYABLE:
                raise
        # Requests that have waited are served meanwhile.
        await asyncio.sleep(min(0.1 * 2**attempts, _LONGEST_REST_S))


def _sqlstate(error: DBAPIError) -> str | None:
    return getattr(error.orig, "sqlstate", None)


@contextmanager
def sqlite_transaction(path: Path) -> Iterator[Connection]:
    """A connection in one transaction, which is rolled back when a migration fails."""
    engine = create_engine("sqlite://", creator=lambda: connect(path))
    # The driver is in autocommit mode and would commit each schema change separately.
    event.listen(engine, "begin", lambda c: c.exec_driver_sql("BEGIN IMMEDIATE"))
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


@asynccontextmanager
async def postgres_transaction(owner_url: str) -> AsyncIterator[AsyncConnection]:
    """A PostgreSQL connection as the owner, in one transaction."""
    engine = create_async_engine(
        "postgresql+asyncpg://",
        async_creator=lambda: asyncpg.connect(owner_url, timeout=_CONNECT_S),
    )
    try:
        async with engine.begin() as connection:
            yield connection
    finally:
        await engine.dispose()


def _steps(connection: Connection) -> list[str]:
    """The schemas to migrate to, one after the other; at least the newest."""
    version = MigrationContext.configure(connection).get_current_revision()
    if version is not None and version not in KNOWN_VERSIONS:
        raise Unusable(f"it {describe_unknown(version)}")
    pending = pending_after(version) if version else ()
    return [*pending] or [KNOWN_VERSIONS[-1]]


def _upgrade(connection: Connection, schema: str) -> None:
    config = Config()
    config.set_main_option("script_location", "sealdesk:db/migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, schema)
    values = {"name": "oldest_reader", "note": f"{oldest_reader_of(schema)} of {schema}"}
    connection.execute(_NOTE_OLDEST_READER, {**values, "now_us": Clock().now_us()})


def main(request: dict[str, Any]) -> None:
    """Migrate, or exit with one line on stderr."""
    os.umask(0o077)
    target = request.get("path") or preflight.redacted(request["owner"])
    done: list[str] = []

    def report(schema: str) -> None:
        done.append(schema)
        _tell(schema)

    try:
        distributed: list[str] = []
        if "path" in request:
            migrate(Path(request["path"]), report)
        else:
            distributed = asyncio.run(
                migrate_postgres(
                    request["owner"],
                    runtime_url=request["runtime"],
                    worker_url=request["worker"],
                    shard_count=request.get("shards", 0),
                    report=report,
                )
            )
        _tell(distributed)
    except (DBAPIError, OSError, asyncpg.PostgresError, ConfigurationError) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        changed = f"it has schema {done[-1]} now" if done else "nothing was changed"
        sys.exit(f"{target} could not be migrated, {changed}: {cause}")


def _tell(value: object) -> None:
    sys.stdout.write(f"{json.dumps(value)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(json.load(sys.stdin))
