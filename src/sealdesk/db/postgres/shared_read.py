"""A read whose result is shared by all who ask for it before it is sent."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import Generic, TypeVar

from sealdesk.db import deadline

T = TypeVar("T")


class SharedRead(Generic[T]):
    """Runs `read` once for all who ask within one iteration of the event loop.

    It sees whatever was committed before any of them asked, as if each had read alone.
    """

    def __init__(self, read: Callable[[], Awaitable[T]]) -> None:
        self._read = read
        self._waiting: list[asyncio.Future[T]] = []
        self._running: set[asyncio.Task[None]] = set()

    async def get(self) -> T:
        """The result of a read that begins after this call. Raises what the read raises."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            # Without the context of the first who asks: the read has a deadline of its own.
            loop.call_soon(self._begin, context=Context())
        result: asyncio.Future[T] = loop.create_future()
        self._waiting.append(result)
        remaining, began_at = deadline.current(), time.monotonic()
        try:
            return await result
        finally:
            remaining.total_s -= time.monotonic() - began_at

    def _begin(self) -> None:
        waiting, self._waiting = self._waiting, []
        task = asyncio.get_running_loop().create_task(self._answer(waiting))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _answer(self, waiting: list[asyncio.Future[T]]) -> None:
        try:
            value = await self._read()
        except Exception as error:
            for result in waiting:
                if not result.done():
                    result.set_exception(error)
        else:
            for result in waiting:
                if not result.done():
                    result.set_result(value)
