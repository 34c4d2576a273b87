"""One stream: lines for a page that stays open until either side ends it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

# Lines that wait because the client does not read; more than it ends the stream. The connection
# itself holds as much again (rate_limits/byte_budget.py).
MAX_PENDING_BYTES = 16 * 1024

Check = Callable[[], Awaitable[object]]


class Batch(NamedTuple):
    """What happened in a tenant behind a position: lines with their positions, in order.

    position: up to where events were read; without a line for those that no page needs.
    """

    lines: Sequence[tuple[int, bytes]]
    position: int
    has_more: bool


class Subscriber(NamedTuple):
    """Whose page a stream belongs to.

    session: the same for all pages of one log-in. check: raises ApiError when it has ended.
    topic: the id of the ticket that the page shows, "" for other pages.
    """

    tenant_id: str
    user_id: str
    user_name: str
    session: str
    check: Check
    topic: str = ""


class Stream:
    """The lines of one page. position: up to where it knows the events of its tenant.

    sent_at: when it was last given a line, in the time of the event loop.
    """

    __slots__ = ("_pending", "_wakeup", "is_over", "position", "sent_at", "subscriber")

    def __init__(self, subscriber: Subscriber, position: int) -> None:
        self.subscriber = subscriber
        self.position = position
        self.is_over = False
        self.sent_at = 0.0
        self._pending = b""
        self._wakeup: asyncio.Future[None] | None = None

    def add(self, lines: bytes, now_s: float) -> None:
        """Give it complete lines. A stream whose client reads too little ends."""
        if self.is_over or not lines:
            return
        if len(self._pending) + len(lines) > MAX_PENDING_BYTES and self._pending:
            self._pending = b""
            self.end()
            return
        self._pending = self._pending + lines if self._pending else lines
        self.sent_at = now_s
        self._wake()

    def add_batch(self, batch: Batch, lines: bytes, after: int, now_s: float) -> None:
        """Give it the lines of a batch that it does not know yet.

        lines: all of the batch, after: the position behind which the batch was read.
        """
        if self.position > after:
            lines = b"".join(line for position, line in batch.lines if position > self.position)
        self.position = max(self.position, batch.position)
        self.add(lines, now_s)

    def end(self) -> None:
        """End it once what is pending has been sent."""
        self.is_over = True
        self._wake()

    async def next(self) -> bytes:
        """Wait for lines; empty when the stream has ended."""
        while not self._pending and not self.is_over:
            self._wakeup = asyncio.get_running_loop().create_future()
            await self._wakeup
        lines, self._pending = self._pending, b""
        return lines

    def _wake(self) -> None:
        if self._wakeup is not None and not self._wakeup.done():
            self._wakeup.set_result(None)
