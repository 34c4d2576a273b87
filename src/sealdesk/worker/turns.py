"""Turns of tenants: each has one at a time, and what it took counts."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence

Turn = Callable[[str], Awaitable[bool]]


class LeastServed:
    """Chooses the tenant that had least of the worker's time.

    One that has work again begins level with whoever had least: nobody saves time up.
    """

    def __init__(self) -> None:
        self._served_s: dict[str, float] = {}

    def choose(self, tenant_ids: Sequence[str]) -> str:
        """Of the tenants that have work now; the first of those who had the same."""
        known = [self._served_s[each] for each in tenant_ids if each in self._served_s]
        level_s = min(known, default=0.0)
        self._served_s = {each: self._served_s.get(each, level_s) for each in tenant_ids}
        return min(tenant_ids, key=self._served_s.__getitem__)

    def charge(self, tenant_id: str, took_s: float) -> None:
        """Count what a turn took."""
        self._served_s[tenant_id] = self._served_s.get(tenant_id, 0.0) + took_s


class Turns:
    """Gives turns in the order in which tenants were added.

    turn: does some work of a tenant and raises nothing; whether there may be more.
    """

    def __init__(self, turn: Turn, at_once: int) -> None:
        self._turn = turn
        self._at_once = at_once
        self._waiting: dict[str, None] = {}
        self._running: set[str] = set()
        self._has_waiting = asyncio.Event()

    def add(self, tenant_ids: Iterable[str]) -> None:
        """Let tenants wait for a turn. One that has its turn now is found again by a later look."""
        self._waiting.update((each, None) for each in tenant_ids if each not in self._running)
        if self._waiting:
            self._has_waiting.set()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(self._at_once):
                group.create_task(self._keep_running())

    async def _keep_running(self) -> None:
        while True:
            while not self._waiting:
                self._has_waiting.clear()
                await self._has_waiting.wait()
            tenant_id = next(iter(self._waiting))
            del self._waiting[tenant_id]
            self._running.add(tenant_id)
            try:
                has_more = await self._turn(tenant_id)
            finally:
                self._running.discard(tenant_id)
            if has_more:
                self.add([tenant_id])
