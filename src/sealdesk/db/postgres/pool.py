"""The pool of PostgreSQL connections of one process.

asyncpg's own pool resets a connection on the server at each release and wraps it in a proxy: 2.4
times the time of a key lookup (decision 0008). Here nothing has to be reset, because every setting
lasts for one transaction.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable

from asyncpg import Connection, PostgresError

from sealdesk.db import deadline
from sealdesk.errors import ServiceUnavailable
from sealdesk.errors.general import NO_FREE_CONNECTION

_CLOSE_S = 2.0


class Pool:
    """At most `size` connections, opened on demand; the most recently used is reused first."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]], size: int) -> None:
        self._connect = connect
        self._size = size
        self._count = 0
        self._idle: list[Connection] = []
        self._borrowed: set[Connection] = set()
        # A future resolves to a connection, or to None when a new one may be opened.
        self._waiting: deque[asyncio.Future[Connection | None]] = deque()

    async def acquire(self) -> Connection:
        """A connection for the caller alone until `release`. Raises ServiceUnavailable."""
        connection = self._take_idle()
        if connection is None and self._count >= self._size:
            connection = await self._wait()
        elif connection is None:
            self._count += 1
        if connection is None:
            connection = await self._open()
        self._borrowed.add(connection)
        return connection

    def release(self, connection: Connection) -> None:
        """Return a connection; a closed one frees its slot."""
        self._borrowed.discard(connection)
        if connection.is_closed():
            self._free_slot()
            return
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(connection)
                return
        self._idle.append(connection)

    async def close(self) -> None:
        """Close idle connections and terminate those still in use."""
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
            self._count -= 1
        return None

    async def _wait(self) -> Connection | None:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Connection | None] = loop.create_future()
        self._waiting.append(future)
        remaining, began_at = deadline.current(), loop.time()
        timer = loop.call_later(max(0.0, remaining.connection_wait_s), _time_out, future)
        try:
            return await future
        except asyncio.CancelledError:
            self._pass_on(future)
            raise
        finally:
            timer.cancel()
            remaining.connection_wait_s -= loop.time() - began_at

    def _pass_on(self, future: "asyncio.Future[Connection | None]") -> None:
        """Give the connection of a cancelled waiter to the next waiter."""
        if future.cancelled() or not future.done() or future.exception() is not None:
            return
        connection = future.result()
        if connection is None:
            self._free_slot()
        else:
            self.release(connection)

    async def _open(self) -> Connection:
        try:
            return await self._connect()
        except BaseException:
            self._free_slot()
            raise

    def _free_slot(self) -> None:
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
                return
        self._count -= 1


def _time_out(future: "asyncio.Future[Connection | None]") -> None:
    if not future.done():
        future.set_exception(ServiceUnavailable(NO_FREE_CONNECTION))
