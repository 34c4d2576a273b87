"""Checks the structure of a whole SQLite database with `PRAGMA quick_check`."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

_MAX_FAULTS = 20
_GOOD = ("ok",)


class CheckResult(NamedTuple):
    """faults: what SQLite found, in its words. is_complete: False when the time ran out."""

    faults: tuple[str, ...] = ()
    is_complete: bool = True


def quick_check(
    connection: sqlite3.Connection, *, table: str = "", limit_s: float | None = None
) -> CheckResult:
    """Check all pages as this connection sees them, or those of a table and its indexes.

    Finds pages that are not a valid part of a table or an index. It compares no index with its
    table and finds no changed byte inside a value: pages of SQLite have no checksums. It blocks the
    calling thread for `limit_s` at most, and until it ends the write-ahead log cannot be reset.
    """
    subject = f'"{table}"' if table else _MAX_FAULTS
    try:
        with _interrupted_after(connection, limit_s):
            rows = connection.execute(f"PRAGMA quick_check({subject})").fetchall()
    except sqlite3.DatabaseError as error:
        if "interrupted" in str(error):
            return CheckResult(is_complete=False)
        return CheckResult((str(error),))
    faults = tuple(str(row[0]) for row in rows)
    return CheckResult() if faults == _GOOD else CheckResult(faults)


@contextmanager
def _interrupted_after(connection: sqlite3.Connection, limit_s: float | None) -> Iterator[None]:
    if limit_s is None:
        yield
        return
    # A thread, because SQLite before 3.43 calls no progress handler while it checks a b-tree.
    timer = threading.Timer(limit_s, connection.interrupt)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
