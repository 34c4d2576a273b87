# Made by `python -m tests.client.sync_source` from client/aio/iterators.py: change that file.
"""Lists that are read page by page, and the events feed, which goes on after failures."""

import time
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from sealdesk.client.errors import SealdeskError
from sealdesk.client.feed import FeedPosition, MakeOperation, OnFailure
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
        for row in self:
            return row
        return None


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
                page = self._send(self.next_operation())
            except SealdeskError as error:
                self._sleep(self.pause_s(error))
                continue
            self.succeed()
            if page.data:
                yield page
            self.cursor = page.resume_cursor or self.cursor
            self._sleep(self.idle_s(page, began_s))
