"""The child process that migrates: `python -m sealdesk.db.migrate PATH`."""

import fcntl
import os
import sys
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, create_engine, event

from sealdesk.db.sqlite import connect


def config_for(connection: Connection) -> Config:
    """Alembic's configuration for one open connection."""
    config = Config()
    config.set_main_option("script_location", "sealdesk:db/migrations")
    config.attributes["connection"] = connection
    return config


def migrate(path: Path) -> None:
    """Bring the database to the newest schema; of two at once, one waits for the other."""
    os.umask(0o077)
    with path.with_name(path.name + ".migrate-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        engine = create_engine("sqlite://", creator=lambda: connect(path))
        # The driver is in autocommit mode; this makes all steps one transaction.
        event.listen(engine, "begin", lambda c: c.exec_driver_sql("BEGIN IMMEDIATE"))
        with engine.begin() as connection:
            command.upgrade(config_for(connection), "head")
        engine.dispose()


if __name__ == "__main__":
    migrate(Path(sys.argv[1]))
