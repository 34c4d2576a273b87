"""Connections to SQLite with the pragmas that all need."""

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from sealdesk.db.engine import Work
from sealdesk.db.sqlite.transaction import SqliteTx, drive

T = TypeVar("T")

BUSY_TIMEOUT_MS = 5000
_CHECKPOINT_PAGES = 16_384  # 64 MiB of log
# After a checkpoint the file of the log is cut to this, twice the size that one leaves normally.
KEPT_LOG_BYTES = 128 * 1024 * 1024
_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    # The rollback data of savepoints; on disk it was 40 of the 53 writes of a new ticket.
    "PRAGMA temp_store = MEMORY",
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}",
    "PRAGMA cache_size = -16384",
)


def connect(path: Path, *, is_checkpointer: bool = False) -> sqlite3.Connection:
    """Open a connection.

    is_checkpointer: its commits checkpoint the log into the database, for a connection that is the
    only one. Beside others see `Checkpointer`.
    Raises sqlite3.Error.
    """
    # O_EXCL creates new files only: opening and closing an existing one would drop the locks that
    # other connections of this process hold on it, and a command that runs beside the server would
    # delete the log under them (sqlite.org/howtocorrupt.html, section 2.2).
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    for pragma in _PRAGMAS:
        connection.execute(pragma)
    pages = _CHECKPOINT_PAGES if is_checkpointer else 0
    connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")
    connection.execute(f"PRAGMA journal_size_limit = {KEPT_LOG_BYTES}")
    connection.row_factory = sqlite3.Row
    return connection


def run_now(connection: sqlite3.Connection, work: Work[T]) -> T:
    """Run work in one transaction on the calling thread, for commands beside the server."""
    tx = SqliteTx(connection)
    tx.begin()
    try:
        value = drive(work(tx))
        tx.commit()
    except BaseException:
        tx.roll_back()
        raise
    return value
