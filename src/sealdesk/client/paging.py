"""Lists that are read page by page while they are iterated."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Generic, TypeVar

from sealdesk.client.operation import ListOperation, Operation
from sealdesk.client.results import Page

T = TypeVar("T")


class Pages(Generic[T]):
    """All rows of a list. Each iteration begins with the first page, and reads it when needed."""

    def __init__(
        self, send: Callable[[Operation[Page[T]]], Page[T]], operation: ListOperation[T]
    ) -> None:
        self._send = send
        self._operation = operation

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page.data

    def pages(self) -> Iterator[Page[T]]:
        """Yield one page after the other. `cursor=page.next_cursor` continues a list later."""
        cursor: str | None = None
        while True:
            page = self._send(self._operation.page(cursor))
            yield page
            cursor = page.next_cursor
            if not page.has_more or cursor is None:
                return

    def first(self) -> T | None:
        """Return the first row, or None if there is none."""
        return next(iter(self), None)


class AsyncPages(Generic[T]):
    """All rows of a list, for `async for`."""

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
