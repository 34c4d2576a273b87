"""The `Database` interface on SQLite: one writer with group commit, and readers.

On SQLite the coroutines of rooms never suspend, so each runs in one step on the event loop's
thread. What blocks has threads of its own: the fsync of a commit, and reads that no index serves.
"""

import asyncio
import sqlite3
from pathlib import Path
from typing import TypeVar

from sealdesk.db.engine import Work
from sealdesk.db.sqlite import errors
from sealdesk.db.sqlite.connection import connect
from sealdesk.db.sqlite.files import DatabaseFiles
from sealdesk.db.sqlite.slow_reads import SlowReads
from sealdesk.db.sqlite.snapshot import ReadTx
from sealdesk.db.sqlite.watch import StorageWatch
from sealdesk.db.sqlite.writer import Writer
from sealdesk.errors import ServiceUnavailable
from sealdesk.telemetry.storage import StorageHealth

T = TypeVar("T")


class SqliteDatabase:
    """The embedded database of one serving process."""

    def __init__(self, path: Path) -> None:
        self.health = StorageHealth()
        self._reading = ReadTx(connect(path))
        self._slow_reads = SlowReads(path)
        self._files = DatabaseFiles(path, self.health)
        self._writer = Writer(path, self._files, self.health)
        self.listeners = self._writer.listeners
        self._watch = StorageWatch(path, self._files, self.health, self._writer.run_alone)

    async def watch(self) -> None:
        await self._watch.run()

    async def read(self, work: Work[T], tenant_id: str | None = None) -> T:
        if self.health.files_fault:
            raise ServiceUnavailable
        try:
            self._reading.open_snapshot()
            return await work(self._reading)
        except sqlite3.Error as error:
            raise errors.unavailable(error) from error

    async def read_key_stamp(self) -> int | None:
        if self.health.files_fault:
            raise ServiceUnavailable
        try:
            return self._reading.read_key_stamp()
        except sqlite3.Error as error:
            raise errors.unavailable(error) from error

    async def read_ticket_stamp(self, tenant_id: str) -> int | None:
        if self.health.files_fault:
            raise ServiceUnavailable
        try:
            return self._reading.read_ticket_stamp(tenant_id)
        except sqlite3.Error as error:
            raise errors.unavailable(error) from error

    async def read_unindexed(self, work: Work[T], tenant_id: str | None = None) -> T:
        if self.health.files_fault:
            raise ServiceUnavailable
        return await self._slow_reads.run(work, tenant_id)

    async def write(self, work: Work[T], tenant_id: str | None = None) -> T:
        if self.health.files_fault:
            raise ServiceUnavailable
        return await self._writer.submit(work, tenant_id)

    async def write_in_background(self, work: Work[T]) -> T:
        if self.health.files_fault:
            raise ServiceUnavailable
        return await self._writer.submit_in_background(work)

    async def close(self) -> None:
        await asyncio.sleep(0)  # closes the last snapshot
        self._watch.close()
        self._slow_reads.close()
        self._reading.close()
        # Last, because the last connection to close checkpoints the log.
        await self._writer.close()
        self._files.close()
