"""Waiting until a number rises: it is asked for once, however many wait for it."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import Context

import msgspec

from sealdesk.errors import ServiceUnavailable

ASK_EVERY_S = 0.25
PLACES = 20  # of one holder

Ask = Callable[[], Awaitable[int]]


class _Waiter(msgspec.Struct, eq=False):
    """One who waits until a number is above what they have seen."""

    seen: int
    ask: Ask
    told: asyncio.Future[None]


class LongPoll:
    """Whoever waits in this process. One question at a time is under way for all of them.

    is_over: whether nobody is to wait any longer.
    """

    def __init__(self, is_over: Callable[[], bool]) -> None:
        self._is_over = is_over
        self._waiting: dict[str, set[_Waiter]] = {}
        self._asking: asyncio.Task[None] | None = None
        self._places: Counter[str] = Counter()

    @contextmanager
    def place(self, holder: str) -> Iterator[bool]:
        """Whether there is still a place for one more of this holder; it is theirs within."""
        self._places[holder] += 1
        try:
            yield self._places[holder] <= PLACES
        finally:
            self._places[holder] -= 1
            if not self._places[holder]:
                del self._places[holder]

    async def wait(
        self, name: str, seen: int, ask: Ask, *, unless: asyncio.Future[None], within_s: float
    ) -> bool:
        """Whether the number of this name rises above `seen` in time, before `unless` is done.

        Also true when nobody is to wait any longer. ask: gives the number, or raises Unavailable.
        """
        told = asyncio.get_running_loop().create_future()
        waiter = _Waiter(seen, ask, told)
        self._waiting.setdefault(name, set()).add(waiter)
        self._begin()
        try:
            first = asyncio.FIRST_COMPLETED
            await asyncio.wait((told, unless), timeout=within_s, return_when=first)
            return told.done()
        finally:
            self._waiting[name].discard(waiter)
            if not self._waiting[name]:
                del self._waiting[name]

    def _begin(self) -> None:
        if self._asking is None or self._asking.done():
            # In a context of its own: it is no part of the request that happens to begin it.
            self._asking = asyncio.create_task(self._ask_always(), context=Context())

    async def _ask_always(self) -> None:
        while self._waiting:
            await asyncio.sleep(ASK_EVERY_S)
            for name in list(self._waiting):
                await self._ask(name)
                await asyncio.sleep(0)  # nobody else waits while many are asked for

    async def _ask(self, name: str) -> None:
        waiters = self._waiting.get(name, set())
        number: int | None = None
        if waiters and not self._is_over():
            try:
                number = await next(iter(waiters)).ask()
            except ServiceUnavailable:
                return  # who waits finds that out for themselves
        for waiter in waiters:
            if (number is None or waiter.seen < number) and not waiter.told.done():
                waiter.told.set_result(None)
