"""Watches the storage of a serving process: its files every second, and its pages in rounds."""

import asyncio
import logging
import os
import sqlite3
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sealdesk.db.sqlite import log as write_ahead_log
from sealdesk.db.sqlite.files import DatabaseFiles, FilesLost
from sealdesk.db.sqlite.page_checker import PageChecker
from sealdesk.telemetry.storage import StorageHealth

WATCH_EVERY_S = 1.0
# Four times the size at which a checkpoint begins: reached only while a reader is in the way.
MAX_LOG_BYTES = 256 * 1024 * 1024
_WARN_EVERY_S = 60.0
_SHORT_WAIT_MS = 100
# Longer than the longest read of the service itself (SLOW_READ_LIMIT_S), for a log of twice the
# size: writes wait so long rather than fill the disk.
_LONG_WAIT_MS = 2500

log = logging.getLogger("sealdesk.storage")
RunAlone = Callable[[Callable[[sqlite3.Connection], Any]], Awaitable[Any]]


class StorageWatch:
    """run_alone: runs a function between two transactions, with the connection that writes."""

    def __init__(
        self, path: Path, files: DatabaseFiles, health: StorageHealth, run_alone: RunAlone
    ) -> None:
        self._path = path
        self._files = files
        self._health = health
        self._run_alone = run_alone
        self._logged_fault = ""
        self._warned_at = -_WARN_EVERY_S
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="storage-watch")
        self._checker = PageChecker(path, files.descriptor, health, run_alone, self._threads)

    async def run(self) -> None:
        """Watch until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch_files())
            group.create_task(self._checker.run())

    def close(self) -> None:
        self._checker.interrupt()
        self._threads.shutdown()

    async def _watch_files(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await loop.run_in_executor(self._threads, self._look)
            self._log_change(self._health.files_fault)
            if self._health.log_bytes > MAX_LOG_BYTES and not self._health.files_fault:
                await self._truncate_log()
            await asyncio.sleep(WATCH_EVERY_S)

    def _look(self) -> None:
        try:
            self._files.verify()
            disk = os.statvfs(self._path)
        except (FilesLost, OSError):
            return
        self._health.free_bytes = disk.f_bavail * disk.f_frsize

    def _log_change(self, fault: str) -> None:
        # Not compared with what was known before this look: a commit may have noticed it first.
        former, self._logged_fault = self._logged_fault, fault
        if fault and fault != former:
            log.error(
                "the database files are lost: every request is refused",
                extra={"fault": fault, "advice": "stop the server, and restore a backup"},
            )
        elif former and not fault:
            log.warning("the database files are back", extra={"fault": former})

    async def _truncate_log(self) -> None:
        is_huge = self._health.log_bytes > 2 * MAX_LOG_BYTES
        wait_ms = _LONG_WAIT_MS if is_huge else _SHORT_WAIT_MS
        try:
            is_done = await self._run_alone(
                lambda connection: write_ahead_log.truncate_log(connection, wait_ms)
            )
        except sqlite3.Error as error:
            log.warning("the write-ahead log cannot be moved", extra={"cause": repr(error)})
            return
        if not is_done and time.monotonic() - self._warned_at >= _WARN_EVERY_S:
            self._warned_at = time.monotonic()
            log.warning(
                "a reader keeps the write-ahead log from being emptied",
                extra={
                    "log_bytes": self._health.log_bytes,
                    "other_processes": write_ahead_log.find_readers(self._path),
                },
            )
