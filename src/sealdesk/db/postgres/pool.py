"""The pool of PostgreSQL connections of one process.

asyncpg's own pool resets a connection on the server at each release and wraps it in a proxy: 2.4
times the time of a key lookup (decision 0008). Here nothing has to be reset, because every setting
lasts for one transaction.
"""

import contextlib
import time
from collections.abc import Awaitable, Callable

from asyncpg import Connection, PostgresError

from sealdesk.db import deadline
from sealdesk.db.fairness import TenantSlots
from sealdesk.errors import ServiceUnavailable
from sealdesk.errors.general import NO_FREE_CONNECTION

_CLOSE_S = 2.0


class Pool:
    """At most `size` connections, opened on demand; the most recently used is reused first.

    One tenant has at most three quarters of them, so that its transactions, which may wait for
    locks, leave some to the others.
    """

    def __init__(self, connect: Callable[[], Awaitable[Connection]], size: int) -> None:
        self._connect = connect
        self._idle: list[Connection] = []
        self._borrowed: set[Connection] = set()
        self._is_closed = False
        self._slots = TenantSlots(
            size,
            per_tenant=max(1, size * 3 // 4),
            refusal=lambda: ServiceUnavailable(NO_FREE_CONNECTION),
        )

    async def acquire(self, tenant_id: str | None) -> Connection:
        """A connection for the caller alone until `release`. Raises ServiceUnavailable."""
        await self._wait(tenant_id)
        try:
            if self._is_closed:
                raise ServiceUnavailable
            connection = self._take_idle() or await self._connect()
        except BaseException:
            self._slots.release(tenant_id)
            raise
        self._borrowed.add(connection)
        return connection

    def release(self, connection: Connection, tenant_id: str | None) -> None:
        """Return a connection, which the tenant had acquired."""
        self._borrowed.discard(connection)
        if not connection.is_closed():
            self._idle.append(connection)
        self._slots.release(tenant_id)

    async def close(self) -> None:
        """Close idle connections and terminate those still in use. No others are opened."""
        self._is_closed = True
        for connection in self._borrowed:
            connection.terminate()
        while self._idle:
            with contextlib.suppress(OSError, TimeoutError, PostgresError):
                await self._idle.pop().close(timeout=_CLOSE_S)

    def _take_idle(self) -> Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
        return None

    async def _wait(self, tenant_id: str | None) -> None:
        remaining, began_at = deadline.current(), time.monotonic()
        try:
            await self._slots.acquire(tenant_id, remaining.connection_wait_s)
        finally:
            remaining.connection_wait_s -= time.monotonic() - began_at
