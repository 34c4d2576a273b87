"""Tries whether the storage takes writes, for readiness."""

import time

from sealdesk import ids
from sealdesk.db.engine import Database, Tx
from sealdesk.errors import ServiceUnavailable

_TRY_EVERY_S = 1.0  # anybody may ask, and each try waits for the disk


class WriteProbe:
    """Commits a small write at most once a second, when asked."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tried_at = -_TRY_EVERY_S
        self._has_succeeded = True

    async def can_write(self) -> bool:
        """Whether the last try succeeded, and no write of a request has failed lately."""
        now = time.monotonic()
        if now - self._tried_at >= _TRY_EVERY_S:
            self._tried_at = now
            self._has_succeeded = await self._try()
        return self._has_succeeded and self._database.health.may_write()

    async def _try(self) -> bool:
        try:
            await self._database.write(_write)
        except ServiceUnavailable:
            return False
        return True


async def _write(tx: Tx) -> None:
    if tx.dialect == "sqlite":
        # An integer in the header that SQLite leaves to applications. A row that is updated to its
        # own value would write nothing.
        await tx.fetch_all(f"PRAGMA user_version = {ids.random_bits(31)}", {})
    else:
        # Assigns a transaction number, which a standby cannot and which the commit records.
        await tx.fetch_one("SELECT pg_current_xact_id()::text", {})
