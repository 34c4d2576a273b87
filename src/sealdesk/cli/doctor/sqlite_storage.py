"""The checks of `sealdesk doctor` of the pages and the write-ahead log of an SQLite database."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from sealdesk.cli.doctor.finding import Finding
from sealdesk.cli.output import make_console
from sealdesk.db.sqlite import log
from sealdesk.db.sqlite.pages import count_pages, find_implausible
from sealdesk.db.sqlite.quick_check import CheckResult, quick_check

CHECK_LIMIT_S = 60.0  # 50 GB from the cache, some GB from a slow disk (decision 0034)
MAX_LOG_BYTES = 256 * 1024 * 1024  # above it the server empties the log (db/sqlite/watch.py)
_PAGES_AT_ONCE = 20_000  # about 0.1 s
_MAX_SHOWN = 5
_REMEDY = (
    "stop the server, keep a copy of the files, and restore the last good backup with"
    " `sealdesk restore`"
)


def check(path: Path) -> Iterator[Finding]:
    """Check the pages and the log. No connection may be open in this process.

    Closing the file would drop the locks of the connection (sqlite.org/howtocorrupt.html, 2.2).
    """
    page_count, suspects = _scan_pages(path)
    yield judge_pages(page_count, suspects, _check_tables(path), _log_bytes(path))
    yield check_log(path)


def _scan_pages(path: Path) -> tuple[int, frozenset[int]]:
    """The number of pages, and those that cannot be pages of a database."""
    found: set[int] = set()
    with (
        path.open("rb", buffering=0) as file,
        make_console(to_stderr=True).status("Reading pages") as status,
    ):
        descriptor = file.fileno()
        page_count = count_pages(descriptor)
        for first in range(1, page_count + 1, _PAGES_AT_ONCE):
            status.update(f"Reading pages: {100 * first // page_count} %")
            numbers = range(first, min(first + _PAGES_AT_ONCE, page_count + 1))
            found |= find_implausible(descriptor, numbers)
        # Again, because the server may just have been writing them.
        suspects = find_implausible(descriptor, found) if found else frozenset()
    return page_count, suspects


def _check_tables(path: Path) -> CheckResult:
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with (
        closing(sqlite3.connect(uri, uri=True, check_same_thread=False)) as connection,
        make_console(to_stderr=True).status(f"Checking tables: {CHECK_LIMIT_S:g} s at most"),
    ):
        return quick_check(connection, limit_s=CHECK_LIMIT_S)


def judge_pages(
    page_count: int, suspects: frozenset[int], tables: CheckResult, log_bytes: int
) -> Finding:
    """suspects: pages that cannot be pages of a database. tables: the result of quick_check."""
    shown = ", ".join(map(str, sorted(suspects)[:_MAX_SHOWN]))
    pages = f"{len(suspects)} of {page_count} are damaged, such as {shown}"
    if tables.faults:
        faults = "\n".join(tables.faults[:_MAX_SHOWN])
        text = f"{pages}: {_REMEDY}" if suspects else f"tables are damaged: {_REMEDY}"
        return Finding("bad", "pages", f"{text}\n{faults}")
    if suspects and log_bytes:
        # After a power failure, a page may be torn in the file and whole in the log.
        text = f"{pages}, or are still in the log. Start the server: it says so within a day if not"
        return Finding("note", "pages", text)
    if suspects:
        return Finding("bad", "pages", f"{pages}: {_REMEDY}")
    if not tables.is_complete:
        text = f"{page_count} read; the check of the tables was cut after {CHECK_LIMIT_S:g} s"
        return Finding("note", "pages", f"{text}: `sealdesk backup` checks them without a limit")
    return Finding("good", "pages", f"{page_count} read and no damage found, nor by quick_check")


def check_log(path: Path) -> Finding:
    """Check the size of the write-ahead log."""
    size = _log_bytes(path)
    text = f"the write-ahead log has {size / 1024**2:.0f} MiB"
    if size <= MAX_LOG_BYTES:
        return Finding("good", "log", text)
    readers = ", ".join(map(str, log.find_readers(path)))
    held = f" and these processes read the database now: {readers}" if readers else ""
    advice = "end programs that keep a transaction open, such as a shell of sqlite3; the server"
    return Finding("bad", "log", f"{text}{held}; {advice} empties it then")


def _log_bytes(path: Path) -> int:
    log_path = path.with_name(f"{path.name}-wal")
    return log_path.stat().st_size if log_path.exists() else 0
