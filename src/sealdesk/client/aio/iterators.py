"""Lists that are read page by page, and the events feed, which goes on after failures."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Generic, TypeVar

from sealdesk.client.errors import SealdeskError
from sealdesk.client.feed import FeedPosition, MakeOperation, OnFailure
from sealdesk.client.operation import ListOperation, Operation
from sealdesk.client.results import Page

T = TypeVar("T")


class AsyncPages(Generic[T]):
    """All rows of a list. Each iteration begins with the first page, and reads it when needed."""

    def __init__(
        self, send: Callable[[Operation[Page[T]]], Awaitable[Page[T]]], operation: ListOperation[T]
    ) -> None:
        self._send = send
        self._operation = operation

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for row in page.data:
                yield row

    async def pages(self) -> AsyncIterator[Page[T]]:
        """Yield one page after the other. `cursor=page.next_cursor` continues a list later."""
        cursor: str | None = None
        while True:
            page = await self._send(self._operation.page(cursor))
            yield page
            cursor = page.next_cursor
            if not page.has_more or cursor is None:
                return

    async def first(self) -> T | None:
        """Return the first row, or None if there is none."""
        async for row in self:
            return row
        return None


class AsyncFeed(FeedPosition[T]):
    """The events of the tenant, oldest first, without end.

    Waits for new events, and goes on after failures of the network or the service. An event that
    was read before a restart comes again if `cursor` was stored before it: compare its `id`.
    """

    def __init__(
        self,
        send: Callable[[Operation[Page[T]]], Awaitable[Page[T]]],
        make: MakeOperation[T],
        *,
        cursor: str | None,
        wait_s: int,
        on_failure: OnFailure | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(make, cursor, wait_s, on_failure)
        self._send = send
        self._sleep = sleep

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for event in page.data:
                yield event

    async def pages(self) -> AsyncIterator[Page[T]]:
        """Yield pages with at least one event. `cursor` moves when the next one is asked for."""
        while True:
            began_s = time.monotonic()
            try:
                page = await self._send(self.next_operation())
            except SealdeskError as error:
                await self._sleep(self.pause_s(error))
                continue
            self.succeed()
            if page.data:
                yield page
            self.cursor = page.resume_cursor or self.cursor
            await self._sleep(self.idle_s(page, began_s))
