"""Who gets the next free process: payers in turn, and one is kept for those who have none."""

import asyncio
from collections import Counter, OrderedDict, deque


class Crowded(Exception):
    """So many calls wait that another one would not be answered in time."""


class Slots:
    """Slots for calls of payers.

    count: that anybody may have; one more is for payers that have none, so that the long calls of
    one payer delay nobody else's. max_waiting: beyond it, the payer with most waiting calls loses
    the last of them.
    """

    def __init__(self, count: int, max_waiting: int) -> None:
        self._count = count
        self._max_waiting = max_waiting
        self._running = Counter[str]()
        self._waiting = OrderedDict[str, deque[asyncio.Future[None]]]()  # in the order of turns

    async def enter(self, payer: str) -> None:
        """Wait for a slot. Raises Crowded, at once or when others need the place."""
        if payer not in self._waiting and self._is_free_for(payer):
            self._running[payer] += 1
            return
        if sum(map(len, self._waiting.values())) >= self._max_waiting:
            self._make_room(payer)
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(payer, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._remove(payer, turn)
            elif turn.exception() is None:
                self.leave(payer)
            raise

    def leave(self, payer: str) -> None:
        """Give a slot back; whose turn it is gets it."""
        self._running[payer] -= 1
        if not self._running[payer]:
            del self._running[payer]
        for each in list(self._waiting):
            if self._is_free_for(each):
                self._let_in(each)

    def _is_free_for(self, payer: str) -> bool:
        used = self._running.total()
        return used < self._count or (used == self._count and payer not in self._running)

    def _let_in(self, payer: str) -> None:
        turn = self._waiting[payer][0]
        self._remove(payer, turn)
        if payer in self._waiting:
            self._waiting.move_to_end(payer)
        if not turn.done():
            self._running[payer] += 1
            turn.set_result(None)

    def _make_room(self, payer: str) -> None:
        longest = max(self._waiting, key=lambda each: len(self._waiting[each]))
        if len(self._waiting[longest]) <= len(self._waiting.get(payer, ())):
            raise Crowded
        turn = self._waiting[longest][-1]
        self._remove(longest, turn)
        if not turn.done():
            turn.set_exception(Crowded())

    def _remove(self, payer: str, turn: asyncio.Future[None]) -> None:
        turns = self._waiting.get(payer, deque())
        if turn in turns:
            turns.remove(turn)
        if not turns:
            self._waiting.pop(payer, None)
