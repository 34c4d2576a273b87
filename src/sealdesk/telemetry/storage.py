"""What a process knows about the state of its storage, for readiness, metrics and refusals."""

import time

FAILURE_COUNTS_S = 10.0  # readiness reports a failed write for so long
MIN_FREE_BYTES = 1024 * 1024  # less than one group of large writes


class StorageHealth:
    """The state of the storage, as far as its own process has noticed.

    files_fault: why the database file must not be used, empty while it is as it was opened.
    damaged_pages, table_faults: what the page checker has found.
    pages_checked, rounds_checked: the work of the page checker since the start.
    log_bytes: the size of SQLite's write-ahead log. free_bytes: of the file system, None on
    PostgreSQL.
    """

    def __init__(self) -> None:
        self.files_fault = ""
        self.damaged_pages: frozenset[int] = frozenset()
        self.table_faults: tuple[str, ...] = ()
        self.pages_checked = 0
        self.rounds_checked = 0
        self.log_bytes = 0
        self.free_bytes: int | None = None
        self._write_failed_at = -FAILURE_COUNTS_S

    @property
    def is_damaged(self) -> bool:
        return bool(self.damaged_pages or self.table_faults)

    @property
    def reason(self) -> str:
        """Why the storage cannot be used as it should, for anybody to read; empty if it can."""
        if self.files_fault:
            return "the database file was removed, replaced or truncated"
        if self.is_damaged:
            return "the database is damaged"
        return "" if self.may_write() else "the storage takes no writes, for example on a full disk"

    def note_failed_write(self) -> None:
        """The storage could not store a change, though the change was valid."""
        self._write_failed_at = time.monotonic()

    def may_write(self) -> bool:
        """False while the disk is full, and shortly after a write has failed."""
        is_full = self.free_bytes is not None and self.free_bytes < MIN_FREE_BYTES
        return not is_full and time.monotonic() - self._write_failed_at >= FAILURE_COUNTS_S
