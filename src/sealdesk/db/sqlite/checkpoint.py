"""Checkpoints: moves the write-ahead log into the database file beside the commits."""

import asyncio
import logging
import os
import sqlite3
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sealdesk.db.fairness import lower_thread_priority
from sealdesk.db.sqlite.connection import connect
from sealdesk.db.sqlite.files import DatabaseFiles

# 64 MiB of log: pages that are written often are moved once, not per group commit.
DUE_FRAMES = 16_384
# Few enough to be moved between two commits, in some 5 ms.
_REST_FRAMES = 1_000
_MAX_PASSES = 4

log = logging.getLogger("sealdesk.storage")
RunBetweenCommits = Callable[[Callable[[sqlite3.Connection], Any]], Awaitable[Any]]


class Checkpointer:
    """Moves the log in passes on a thread and a connection of its own, then the rest.

    In a COMMIT a checkpoint delays all writes by 50 to 100 ms. A commit does not wait for a pass,
    and adds to the log meanwhile. So each pass leaves less, until the rest is moved between two
    commits, and the next commit begins the log again.

    SQLite before 3.51.3 can corrupt the database if a commit begins the log again while a
    checkpoint starts (sqlite.org/wal.html, "WAL-reset bug"). A commit does so only if all frames
    are moved, and only this class moves them, or what holds `lock`. So a pass starts only while
    there are frames to move.
    """

    def __init__(self, path: Path, files: DatabaseFiles) -> None:
        self.lock = asyncio.Lock()
        self._files = files
        self._connection = connect(path)
        self._thread = ThreadPoolExecutor(1, "checkpointer", lower_thread_priority)

    async def run(self, run_between_commits: RunBetweenCommits) -> None:
        """Move the whole log. Failures are logged: the next commits try again."""
        loop = asyncio.get_running_loop()
        try:
            async with self.lock:
                for _ in range(_MAX_PASSES):
                    if self._files.count_log_frames() <= _REST_FRAMES:
                        break
                    await loop.run_in_executor(self._thread, self._move_and_flush)
                await run_between_commits(self._move)
        except (sqlite3.Error, OSError) as error:
            log.warning("the write-ahead log cannot be moved", extra={"cause": repr(error)})

    def close(self) -> None:
        self._thread.shutdown()
        self._connection.close()

    def _move_and_flush(self) -> None:
        self._move(self._connection)
        # SQLite does so only when the whole log is moved: the last pass would wait for the disk.
        os.fsync(self._files.descriptor)

    def _move(self, connection: sqlite3.Connection) -> None:
        if self._files.count_log_frames():
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
