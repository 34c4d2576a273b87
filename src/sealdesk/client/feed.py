"""The events feed as an iterator without end, which goes on after failures and restarts."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Generic, TypeVar

from sealdesk.client.errors import (
    ApiError,
    ConnectionFailed,
    RateLimited,
    SealdeskError,
    ServerFailed,
    UnexpectedResponse,
)
from sealdesk.client.operation import Operation
from sealdesk.client.results import Page

T = TypeVar("T")
MakeOperation = Callable[[str | None, int], Operation[Page[T]]]
OnFailure = Callable[[SealdeskError | None, float], None]
_PAUSES_S = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
# A service that is stopping responds at once, whatever the wait.
_LEAST_INTERVAL_S = 1.0


class FeedPosition(Generic[T]):
    """Where a reader of the feed is, and what it does next: pure.

    cursor: the position after the last page whose events were all processed. Store it, and pass it
    on after a restart; None before the first page.
    """

    def __init__(
        self, make: MakeOperation[T], cursor: str | None, wait_s: int, on_failure: OnFailure | None
    ) -> None:
        self.cursor = cursor
        self._make = make
        self._wait_s = wait_s
        self._on_failure = on_failure
        self._failures = 0
        self._is_first = True

    def _next_operation(self) -> Operation[Page[T]]:
        # Without a wait at first, to fix the position now and not when the first event arrives; and
        # after a failure, to notice at once that the service responds.
        self._is_first = self.cursor is None
        waits = not self._is_first and not self._failures
        return self._make(self.cursor, self._wait_s if waits else 0)

    def _succeed(self) -> None:
        if self._failures and self._on_failure:
            self._on_failure(None, 0.0)
        self._failures = 0

    def _pause_s(self, error: SealdeskError) -> float:
        """Return the pause before the next attempt. Raises the error if none can help."""
        if not is_temporary(error):
            raise error
        pause_s = _PAUSES_S[min(self._failures, len(_PAUSES_S) - 1)]
        if isinstance(error, ApiError) and error.retry_after_s:
            pause_s = error.retry_after_s
        self._failures += 1
        if self._on_failure:
            self._on_failure(error, pause_s)
        return pause_s

    def _idle_s(self, page: Page[T], began_s: float) -> float:
        if page.data or self._is_first:
            return 0.0
        return max(0.0, _LEAST_INTERVAL_S - (time.monotonic() - began_s))


class Feed(FeedPosition[T]):
    """The events of the tenant, oldest first, without end.

    Waits for new events, and goes on after failures of the network or the service. An event that
    was read before a restart comes again if `cursor` was stored before it: compare its `id`.
    """

    def __init__(
        self,
        send: Callable[[Operation[Page[T]]], Page[T]],
        make: MakeOperation[T],
        *,
        cursor: str | None,
        wait_s: int,
        on_failure: OnFailure | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(make, cursor, wait_s, on_failure)
        self._send = send
        self._sleep = sleep

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page.data

    def pages(self) -> Iterator[Page[T]]:
        """Yield pages with at least one event. `cursor` moves when the next one is asked for."""
        while True:
            began_s = time.monotonic()
            try:
                page = self._send(self._next_operation())
            except SealdeskError as error:
                self._sleep(self._pause_s(error))
                continue
            self._succeed()
            if page.data:
                yield page
            self.cursor = page.resume_cursor or self.cursor
            self._sleep(self._idle_s(page, began_s))


class AsyncFeed(FeedPosition[T]):
    """The events of the tenant, oldest first, without end, for `async for`."""

    def __init__(
        self,
        send: Callable[[Operation[Page[T]]], Awaitable[Page[T]]],
        make: MakeOperation[T],
        *,
        cursor: str | None,
        wait_s: int,
        on_failure: OnFailure | None = None,
    ) -> None:
        super().__init__(make, cursor, wait_s, on_failure)
        self._send = send

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for event in page.data:
                yield event

    async def pages(self) -> AsyncIterator[Page[T]]:
        """Yield pages with at least one event. `cursor` moves when the next one is asked for."""
        while True:
            began_s = time.monotonic()
            try:
                page = await self._send(self._next_operation())
            except SealdeskError as error:
                await asyncio.sleep(self._pause_s(error))
                continue
            self._succeed()
            if page.data:
                yield page
            self.cursor = page.resume_cursor or self.cursor
            await asyncio.sleep(self._idle_s(page, began_s))


def is_temporary(error: SealdeskError) -> bool:
    """Whether the same request may succeed later."""
    if isinstance(error, UnexpectedResponse):
        return error.status >= 500
    return isinstance(error, ConnectionFailed | RateLimited | ServerFailed)
