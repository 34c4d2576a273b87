"""The connections to IMAP servers that a process has at once."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any


class Connections:
    """At most so many. While mailboxes wait for one, those without new messages give theirs up."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held_count = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._resting: dict[asyncio.Future[None], None] = {}

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Wait until there is room for a connection, and count it."""
        if self._held_count < self._most:
            self._held_count += 1
        else:
            await self._wait()
        try:
            yield
        finally:
            self._release()

    async def rest(self, waiting: Coroutine[Any, Any, None]) -> bool:
        """Wait for new messages; False if the connection is needed for another mailbox."""
        if self._waiting:
            waiting.close()
            return False
        wanted = asyncio.get_running_loop().create_future()
        self._resting[wanted] = None
        task = asyncio.create_task(waiting)
        try:
            await asyncio.wait({task, wanted}, return_when=asyncio.FIRST_COMPLETED)
            if wanted.done() and not task.done():
                return False
            await task
            return True
        finally:
            self._resting.pop(wanted, None)
            task.cancel()
            await asyncio.wait({task})

    async def _wait(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        if self._resting:
            longest = next(iter(self._resting))
            del self._resting[longest]
            longest.set_result(None)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._release()
            elif turn in self._waiting:
                self._waiting.remove(turn)
            raise

    def _release(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.cancelled():
                turn.set_result(None)
                return
        self._held_count -= 1
