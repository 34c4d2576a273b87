"""The child process that migrates: `python -m sealdesk.db.migrate PATH`."""

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import DBAPIError

from sealdesk.db.connection import connect


def migrate(path: Path) -> None:
    """Bring the database to the newest schema; of two at once, one waits for the other."""
    with path.with_name(path.name + ".migrate-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with one_transaction(path) as connection:
            command.upgrade(config_for(connection), "head")


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


def config_for(connection: Connection) -> Config:
    """Alembic's configuration for one open connection."""
    config = Config()
    config.set_main_option("script_location", "sealdesk:db/migrations")
    config.attributes["connection"] = connection
    return config


def main(path: Path) -> None:
    """Migrate, or end with one line on stderr."""
    os.umask(0o077)
    try:
        migrate(path)
    except (DBAPIError, OSError) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        sys.exit(f"{path} could not be migrated, nothing was changed: {cause}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
