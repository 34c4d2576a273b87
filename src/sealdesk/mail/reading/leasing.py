"""Reads the folders of all mailboxes; one process at a time reads each."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.mail.mailboxes.store import directory
from sealdesk.mail.mailboxes.store.directory import Lease, Place, Readable
from sealdesk.mail.reading.connections import Connections
from sealdesk.mail.reading.reader import Limits, MailboxReader
from sealdesk.rate_limits.byte_budget import ByteBudget
from sealdesk.state import AppState

LOOK_EVERY_S = 2.0  # for new, changed, paused and deleted mailboxes
MAX_CONNECTIONS = 500  # of a process
MAX_MAILBOXES = 5_000  # of a process; others wait for another process
_MAX_NEW = 100  # that are leased at once
_LEASE_US = 15_000_000
_RENEW_EVERY_S = 4.0
# Of messages that are being fetched and taken. A tenant may have an eighth, which is one message
# of the largest size.
_BUDGET_BYTES = 256 * 1024 * 1024
_END_S = 8.0

log = logging.getLogger("sealdesk.mail")


class FolderReading:
    """The folders that this process reads."""

    def __init__(self, state: AppState, max_connections: int = MAX_CONNECTIONS) -> None:
        self._state = state
        self._name = ids.mint(state.clock.now_us())
        self._limits = Limits(Connections(max_connections), ByteBudget(_BUDGET_BYTES))
        self._tasks: dict[Place, asyncio.Task[None]] = {}
        self._renewed_at_s = 0.0
        # On SQLite one process reads: a lease that exists at its start is of a killed process.
        self._has_old_leases = not state.settings.has_worker_process

    async def run(self) -> None:
        """Read until cancelled; the failure of a step ends nothing."""
        try:
            while True:
                await _attempt(self.look())
                await asyncio.sleep(LOOK_EVERY_S)
        finally:
            await self._stop(list(self._tasks))
            await _attempt(self._state.database.write(self._end_leases))

    async def look(self) -> None:
        """Stop and begin as the mailboxes are now. Raises ServiceUnavailable."""
        if self._has_old_leases:
            await self._state.database.write(directory.end_all_leases)
            self._has_old_leases = False
        found = await self._state.database.read(self._list_readable)
        leased = {each.place for each in found if each.is_leased}
        await self._stop([place for place in self._tasks if place not in leased])
        free = [each for each in found if not each.is_leased][:_MAX_NEW]
        room = MAX_MAILBOXES - len(leased)
        if free[:room]:
            leased |= await self._state.database.write(lambda tx: self._lease(tx, free[:room]))
        elif leased:
            await self._renew()
        for place in leased - self._tasks.keys():
            reader = MailboxReader(self._state, place, self._limits)
            self._tasks[place] = asyncio.create_task(reader.run())

    async def _renew(self) -> None:
        now_s = self._state.clock.monotonic_s()
        if now_s < self._renewed_at_s + _RENEW_EVERY_S:
            return
        await self._state.database.write(lambda tx: directory.renew_leases(tx, self._wanted()))
        self._renewed_at_s = now_s

    async def _list_readable(self, tx: Tx) -> list[Readable]:
        now_us = self._state.clock.now_us()
        return await directory.list_readable(tx, self._name, now_us, MAX_MAILBOXES + _MAX_NEW)

    async def _lease(self, tx: Tx, free: list[Readable]) -> set[Place]:
        now_us, wanted = self._state.clock.now_us(), self._wanted()
        return {each.place for each in free if await directory.lease(tx, each, wanted, now_us)}

    def _wanted(self) -> Lease:
        return Lease(self._name, self._state.clock.now_us() + _LEASE_US)

    async def _end_leases(self, tx: Tx) -> None:
        await directory.end_leases(tx, self._name)

    async def _stop(self, places: list[Place]) -> None:
        """End readers, which finish the message that they are taking."""
        tasks = [self._tasks.pop(place) for place in places]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_END_S)


async def _attempt(step: Awaitable[None]) -> None:
    try:
        await step
    except ServiceUnavailable as error:
        log.warning("folders wait for the database", extra={"cause": repr(error.__cause__)})
    except Exception:
        log.exception("looking for mailboxes failed")


@asynccontextmanager
async def reading_folders(state: AppState) -> AsyncIterator[None]:
    """Read folders meanwhile."""
    task = asyncio.create_task(FolderReading(state).run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
