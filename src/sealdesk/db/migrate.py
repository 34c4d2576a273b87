"""The child process that migrates: `python -m sealdesk.db.migrate`, told on stdin what.

stdin: JSON, {"path": …} of an SQLite file, or {"owner", "runtime", "worker"}: URLs of PostgreSQL,
which hold passwords and so are no arguments; the last two may be empty.
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
from sqlalchemy import Connection, create_engine, event, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from sealdesk.db.postgres import preflight, roles
from sealdesk.db.sqlite.connection import connect
from sealdesk.errors import ConfigurationError

_LOCK = 0x5EA1DE5C  # of the migrations, among the advisory locks of the database
_CONNECT_S = 5.0
# Of a table that is in use: others would queue behind a migration that waits for it.
_LOCK_WAIT = "SET LOCAL lock_timeout = '4s'"


def migrate(path: Path) -> None:
    """Bring the SQLite database to the newest schema; of two at once, one waits for the other."""
    with path.with_name(path.name + ".migrate-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with one_transaction(path) as connection:
            command.upgrade(config_for(connection), "head")


async def migrate_postgres(owner_url: str, *, runtime_url: str = "", worker_url: str = "") -> None:
    """Bring a database to the newest schema, and its roles to what they need. Raises Unfit."""
    wanted = [roles.role_of(url) if url else None for url in (runtime_url, worker_url)]

    def upgrade(connection: Connection) -> None:
        command.upgrade(config_for(connection), "head")
        roles.set_up(connection, *wanted)

    async with postgres_transaction(owner_url) as connection:
        await connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        await connection.execute(text(_LOCK_WAIT))
        await connection.run_sync(upgrade)


@contextmanager
def one_transaction(path: Path) -> Iterator[Connection]:
    """A connection whose every step is undone when one fails."""
    engine = create_engine("sqlite://", creator=lambda: connect(path))
    # The driver is in autocommit mode, and would commit each change of the schema by itself.
    event.listen(engine, "begin", lambda c: c.exec_driver_sql("BEGIN IMMEDIATE"))
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


@asynccontextmanager
async def postgres_transaction(owner_url: str) -> AsyncIterator[AsyncConnection]:
    """The same on PostgreSQL, as the owner."""
    engine = create_async_engine(
        "postgresql+asyncpg://",
        async_creator=lambda: asyncpg.connect(owner_url, timeout=_CONNECT_S),
    )
    try:
        async with engine.begin() as connection:
            yield connection
    finally:
        await engine.dispose()


def config_for(connection: Connection) -> Config:
    """Alembic's configuration for one open connection."""
    config = Config()
    config.set_main_option("script_location", "sealdesk:db/migrations")
    config.attributes["connection"] = connection
    return config


def main(told: dict[str, Any]) -> None:
    """Migrate, or end with one line on stderr."""
    os.umask(0o077)
    what = told.get("path") or preflight.shown(told["owner"])
    try:
        if "path" in told:
            migrate(Path(told["path"]))
        else:
            asyncio.run(
                migrate_postgres(
                    told["owner"], runtime_url=told["runtime"], worker_url=told["worker"]
                )
            )
    except (DBAPIError, OSError, asyncpg.PostgresError) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        sys.exit(f"{what} could not be migrated, nothing was changed: {cause}")
    except ConfigurationError as error:
        sys.exit(f"{what} could not be migrated, nothing was changed: {error}")


if __name__ == "__main__":
    main(json.load(sys.stdin))
