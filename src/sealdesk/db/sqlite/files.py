"""Notices that the files of an open database were removed, replaced or truncated.

SQLite goes on writing to a file that has lost its name, and every commit succeeds.
"""

import os
import sqlite3
import struct
import threading
from pathlib import Path

from sealdesk.telemetry.storage import StorageHealth

_HEADER_BYTES = 100
_PAGE_SIZE_AT, _PAGE_COUNT_AT = 16, 28  # sqlite.org/fileformat2.html, 1.3
# mxFrame and nBackfill in the -shm file (sqlite.org/walformat.html, 2.3).
_LOG_FRAMES = struct.Struct("=16xI76xI")


class FilesLost(sqlite3.OperationalError):
    """What was committed is not in the files that the next start will open."""


class DatabaseFiles:
    """The database file and its write-ahead log, as they were when the database was opened.

    descriptor: of the database file, to read pages past SQLite. It and that of the -shm file stay
    open as long as any connection, because closing them drops the locks of this process on the
    files (sqlite.org/howtocorrupt.html, section 2.2).
    """

    def __init__(self, path: Path, health: StorageHealth) -> None:
        self._file = path.open("rb", buffering=0)
        self.descriptor = self._file.fileno()
        self._shared_memory = path.with_name(f"{path.name}-shm").open("rb", buffering=0)
        self._path = path
        self._log_path = path.with_name(f"{path.name}-wal")
        self._health = health
        self._identity = _identify(os.fstat(self.descriptor))
        self._log_identity: tuple[int, int] | None = None
        self._size = 0
        # The order of the sizes matters, and two threads look.
        self._lock = threading.Lock()

    def verify(self) -> None:
        """Raises FilesLost when a commit went to files that the next start will not open."""
        with self._lock:
            fault = self._find_fault()
            self._health.files_fault = fault
        if fault:
            raise FilesLost(fault)

    def count_log_frames(self) -> int:
        """The frames of the log that no checkpoint has moved into the database file yet."""
        index = os.pread(self._shared_memory.fileno(), _LOG_FRAMES.size, 0)
        frame_count, moved_count = _LOG_FRAMES.unpack(index)
        return int(frame_count - moved_count)

    def close(self) -> None:
        self._file.close()
        self._shared_memory.close()

    def _find_fault(self) -> str:
        try:
            found = self._path.stat()
            if _identify(found) != self._identity:
                return f"{self._path} was replaced by another file"
            if found.st_size < self._size and self._is_cut():
                return f"{self._path} was truncated from {self._size} to {found.st_size} bytes"
            self._size = found.st_size
            return self._find_log_fault()
        except FileNotFoundError as error:
            return f"{error.filename} was removed"
        except OSError as error:
            return f"{error.filename} cannot be reached: {error.strerror}"

    def _find_log_fault(self) -> str:
        if self._log_identity is None and not self._log_path.exists():
            return ""  # nothing has been written yet
        found = self._log_path.stat()
        self._health.log_bytes = found.st_size
        if self._log_identity is None:
            self._log_identity = _identify(found)
        if _identify(found) != self._log_identity:
            return f"{self._log_path} was replaced by another file"
        return ""

    def _is_cut(self) -> bool:
        """Whether pages are missing; VACUUM also makes a file smaller, and its header says so."""
        header = os.pread(self.descriptor, _HEADER_BYTES, 0)
        if len(header) < _HEADER_BYTES:
            return True
        page_size = int.from_bytes(header[_PAGE_SIZE_AT : _PAGE_SIZE_AT + 2], "big")
        page_count = int.from_bytes(header[_PAGE_COUNT_AT : _PAGE_COUNT_AT + 4], "big")
        # 1 stands for 65,536, which does not fit.
        expected = page_count * (65_536 if page_size == 1 else page_size)
        return os.fstat(self.descriptor).st_size < expected


def _identify(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
