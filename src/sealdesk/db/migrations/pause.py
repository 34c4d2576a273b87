"""Background work pauses while another process migrates the database."""

import asyncio
from contextlib import suppress

from sealdesk.db.engine import Database, Tx
from sealdesk.errors import ServiceUnavailable

_LOOK_EVERY_S = 0.5
_LOCK = 0x5EA1DE5C  # an advisory lock
# For the transaction of a migration.
HOLD = (
    "SET LOCAL idle_in_transaction_session_timeout = 0",
    f"SELECT pg_advisory_xact_lock({_LOCK})",
)
# Held for the transaction of the look, which a migration that begins waits for.
_LOOK = f"SELECT pg_try_advisory_xact_lock_shared({_LOCK}) AS is_free LIMIT 1"


class MigrationPause:
    """Whether a migration runs, as the background work of one process knows it.

    On SQLite nobody looks: there a migration and the work wait for the one writer.
    """

    def __init__(self) -> None:
        self._is_over = asyncio.Event()
        self._is_over.set()

    async def end(self) -> None:
        """Return when no migration runs."""
        await self._is_over.wait()

    async def watch(self, database: Database) -> None:
        """Look until cancelled."""
        while True:
            await self.look(database)
            await asyncio.sleep(_LOOK_EVERY_S)

    async def look(self, database: Database) -> None:
        """Look once; what cannot be seen changes nothing."""
        with suppress(ServiceUnavailable):
            if await database.read(_is_migrating):
                self._is_over.clear()
            else:
                self._is_over.set()


async def _is_migrating(tx: Tx) -> bool:
    row = await tx.fetch_one(_LOOK, {})
    return row is not None and not row["is_free"]
