"""Bounds the write-ahead log of SQLite, and finds the processes that keep it from being reset."""

import os
import sqlite3
from pathlib import Path

# The locks of readers in the -shm file: WAL_READ_LOCK(0) to (4) at UNIX_SHM_BASE + 3
# (sqlite.org/walformat.html, section 2.3.1).
_READ_LOCKS = range(123, 128)
_LOCKS = Path("/proc/locks")


def truncate_log(connection: sqlite3.Connection, wait_ms: int) -> bool:
    """Move the log into the database and empty it; False when a reader is in the way for so long.

    Writes wait meanwhile. connection: the one that checkpoints.
    """
    (former,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {wait_ms}")
    try:
        (is_busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {former}")
    return not is_busy


def find_readers(path: Path) -> list[int]:
    """The ids of the other processes that read a database now. Empty where it cannot be known."""
    try:
        shared_memory = path.with_name(f"{path.name}-shm").stat()
        locks = _LOCKS.read_text().splitlines()
    except OSError:
        return []
    inode = f":{shared_memory.st_ino}"
    pids = {_reader_of(fields, inode) for fields in map(str.split, locks)}
    return sorted(pids - {0, os.getpid()})


def _reader_of(fields: list[str], inode: str) -> int:
    """The process of a line such as `7: POSIX ADVISORY READ 4711 08:01:1234 124 124`, or 0."""
    if len(fields) != 8 or not fields[5].endswith(inode) or not fields[6].isdigit():
        return 0
    return max(0, int(fields[4])) if int(fields[6]) in _READ_LOCKS else 0
