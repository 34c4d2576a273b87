"""The check of all pages of an SQLite database."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sealdesk.db.sqlite.quick_check import CheckResult, quick_check

ROWS = 400


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database of one table with an index, about 300 pages."""
    path = tmp_path / "checked.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE notes (id TEXT PRIMARY KEY, body BLOB)")
        rows = ((f"{number:05}", bytes(3000)) for number in range(ROWS))
        connection.executemany("INSERT INTO notes VALUES (?, ?)", rows)
    return path


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        yield connection


def test_undamaged_database_has_no_faults(connection: sqlite3.Connection) -> None:
    assert quick_check(connection) == CheckResult()


def test_page_of_noise_is_found(path: Path, connection: sqlite3.Connection) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 4096 // 2 * 4096)
        file.write(os.urandom(4096))
    result = quick_check(connection, limit_s=60)
    assert result.is_complete
    assert result.faults


def test_check_that_takes_too_long_is_incomplete(connection: sqlite3.Connection) -> None:
    def wait_for_the_limit(_: str) -> bool:
        for thread in threading.enumerate():
            # One of another test may be about to start, and cannot be joined then.
            if isinstance(thread, threading.Timer) and thread.is_alive():
                thread.join(20)
        return True

    connection.create_function("waits", 1, wait_for_the_limit, deterministic=True)
    connection.execute("CREATE TABLE slow (id TEXT CHECK (waits(id)))")
    connection.execute("INSERT INTO slow VALUES ('a'), ('b')")
    connection.commit()
    assert quick_check(connection, limit_s=1) == CheckResult(is_complete=False)
    assert quick_check(connection) == CheckResult()
