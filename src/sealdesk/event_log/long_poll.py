"""Long polling: requests wait for a position to increase.

They are woken by commits of this process. One task polls for all of them what other processes do.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import Context

import msgspec

from sealdesk.errors import ServiceUnavailable

POLL_EVERY_S = 0.25
MAX_WAITERS = 20  # per caller
MAX_WAITERS_OF_TENANT = 40

Read = Callable[[], Awaitable[int]]


class _Waiter(msgspec.Struct, eq=False):
    """A request that waits until a position is above `seen`."""

    seen: int
    read: Read
    increased: asyncio.Future[None]

    def wake(self) -> None:
        if not self.increased.done():
            self.increased.set_result(None)


class LongPoll:
    """The waiting requests of this process. Positions are read one at a time.

    is_over: whether requests must stop waiting.
    """

    def __init__(self, is_over: Callable[[], bool]) -> None:
        self._is_over = is_over
        self._waiting: dict[str, set[_Waiter]] = {}
        self._polling: asyncio.Task[None] | None = None
        self._counts: Counter[str] = Counter()

    @contextmanager
    def count_waiter(self, name: str, at_most: int) -> Iterator[bool]:
        """Counts a request of a caller or tenant while it waits; whether one more may wait."""
        self._counts[name] += 1
        try:
            yield self._counts[name] <= at_most
        finally:
            self._counts[name] -= 1
            if not self._counts[name]:
                del self._counts[name]

    async def wait(
        self, name: str, seen: int, read: Read, *, unless: asyncio.Future[None], within_s: float
    ) -> bool:
        """Whether the position of this name exceeds `seen` in time, before `unless` is done.

        Also true when requests must stop waiting. read: returns the position, or raises
        ServiceUnavailable.
        """
        increased = asyncio.get_running_loop().create_future()
        waiter = _Waiter(seen, read, increased)
        self._waiting.setdefault(name, set()).add(waiter)
        self._start_polling()
        try:
            first = asyncio.FIRST_COMPLETED
            await asyncio.wait((increased, unless), timeout=within_s, return_when=first)
            return increased.done()
        finally:
            self._waiting[name].discard(waiter)
            if not self._waiting[name]:
                del self._waiting[name]

    def wake(self, names: Collection[str]) -> None:
        """Tell the requests that wait for these names that their position has increased."""
        for name in names:
            for waiter in self._waiting.get(name, ()):
                waiter.wake()

    def _start_polling(self) -> None:
        if self._polling is None or self._polling.done():
            # In an empty context: it must not inherit the deadline of the request that starts it.
            self._polling = asyncio.create_task(self._poll(), context=Context())

    async def _poll(self) -> None:
        while self._waiting:
            await asyncio.sleep(POLL_EVERY_S)
            for name in list(self._waiting):
                await self._read(name)
                await asyncio.sleep(0)  # yields to requests between two reads

    async def _read(self, name: str) -> None:
        waiters = self._waiting.get(name, set())
        position: int | None = None
        if waiters and not self._is_over():
            try:
                position = await next(iter(waiters)).read()
            except ServiceUnavailable:
                return  # each waiting request gets this error from its own reads
        for waiter in waiters:
            if position is None or waiter.seen < position:
                waiter.wake()
