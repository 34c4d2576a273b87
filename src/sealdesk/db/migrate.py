"""The child process that migrates: `python -m sealdesk.db.migrate`, with its input on stdin.

stdin: JSON, {"path": …} of an SQLite file, or {"owner", "runtime", "worker"}: PostgreSQL URLs; the
last two may be empty. They hold passwords, so they are not command-line arguments. With
{"shards": N}, the tables are also distributed over the nodes of Citus. stdout: JSON, the names of
the tables that were distributed.
"""

import asyncio
import fcntl
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, create_engine, event, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from sealdesk.db.postgres import preflight, roles
from sealdesk.db.schema_version import KNOWN_VERSIONS, Unusable, describe_unknown
from sealdesk.db.sqlite.connection import connect
from sealdesk.errors import ConfigurationError
from sealdesk_citus import distribute

_MIGRATION_LOCK = 0x5EA1DE5C  # an advisory lock
_CONNECT_S = 5.0
# A migration that waits longer for a table in use would block the requests queued behind it.
_SET_LOCK_TIMEOUT = "SET LOCAL lock_timeout = '4s'"


def migrate(path: Path) -> None:
    """Migrate an SQLite database to the newest schema; concurrent calls wait for each other."""
    with path.with_name(path.name + ".migrate-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with sqlite_transaction(path) as connection:
            _upgrade(connection)
            # A migration may have rebuilt the tables, which no trigger notices.
            connection.exec_driver_sql("UPDATE key_stamp SET stamp = random()")
            connection.exec_driver_sql("UPDATE ticket_stamps SET stamp = random()")


async def migrate_postgres(
    owner_url: str, *, runtime_url: str = "", worker_url: str = "", shard_count: int = 0
) -> list[str]:
    """Migrate a PostgreSQL database and set up its roles. Raises ConfigurationError.

    shard_count: if not 0, also distributes what is not distributed yet, and returns its tables.
    """
    wanted_roles = [roles.read_role(url) if url else None for url in (runtime_url, worker_url)]

    def migrate_all(connection: Connection) -> list[str]:
        # Also without --distribute: the new tables of a distributed database belong on the nodes.
        is_distributed = bool(shard_count or roles.distributed_tables(connection))
        if is_distributed:
            distribute.begin(connection)
        _upgrade(connection)
        roles.set_up_roles(connection, *wanted_roles)
        return distribute.distribute(connection, shard_count) if is_distributed else []

    async with postgres_transaction(owner_url) as connection:
        await connection.execute(
            text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK}
        )
        await connection.execute(text(_SET_LOCK_TIMEOUT))
        return await connection.run_sync(migrate_all)


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


def _upgrade(connection: Connection) -> None:
    version = MigrationContext.configure(connection).get_current_revision()
    if version is not None and version not in KNOWN_VERSIONS:
        raise Unusable(f"it {describe_unknown(version)}")
    config = Config()
    config.set_main_option("script_location", "sealdesk:db/migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def main(request: dict[str, Any]) -> None:
    """Migrate, or exit with one line on stderr."""
    os.umask(0o077)
    target = request.get("path") or preflight.redacted(request["owner"])
    try:
        if "path" in request:
            migrate(Path(request["path"]))
        else:
            distributed = asyncio.run(
                migrate_postgres(
                    request["owner"],
                    runtime_url=request["runtime"],
                    worker_url=request["worker"],
                    shard_count=request.get("shards", 0),
                )
            )
            json.dump(distributed, sys.stdout)
    except (DBAPIError, OSError, asyncpg.PostgresError) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        sys.exit(f"{target} could not be migrated, nothing was changed: {cause}")
    except ConfigurationError as error:
        sys.exit(f"{target} could not be migrated, nothing was changed: {error}")


if __name__ == "__main__":
    main(json.load(sys.stdin))
