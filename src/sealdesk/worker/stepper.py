"""Long work of tenants in steps, with rests in which requests write: renaming tags, erasing."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar

from sealdesk.db.engine import Tx
from sealdesk.state import AppState
from sealdesk.tickets.erasing.steps import actions as erasing
from sealdesk.tickets.erasing.steps import store as erasures
from sealdesk.tickets.tags.steps import actions as renaming
from sealdesk.tickets.tags.steps import store as renamings
from sealdesk.tickets.tags.types import Renaming
from sealdesk.worker.attempts import attempt

LOOK_EVERY_S = 0.5
# On SQLite a step blocks the writes of requests, so it has a quarter of the time.
_REST_PER_STEP = 3


class _Due(Protocol):
    @property
    def tenant_id(self) -> str: ...


T = TypeVar("T", bound=_Due)


class Stepper(Generic[T]):
    """Takes the steps of one kind of work, those of tenants in turns. name: for the log.

    find_due: the work that had no step for the longest time. run_step: takes its next step; 0 when
    nothing can be done. postpone: puts it behind the others.
    """

    def __init__(
        self,
        name: str,
        find_due: Callable[[Tx, int], Awaitable[T | None]],
        run_step: Callable[[Tx, int], Awaitable[int]],
        postpone: Callable[[Tx, T, int], Awaitable[None]],
    ) -> None:
        self._name = name
        self._find_due = find_due
        self._run_step = run_step
        self._postpone = postpone

    async def run(self, state: AppState) -> None:
        """Take steps until cancelled."""
        while True:
            began_s = time.perf_counter()
            done = await attempt(self.step, state, self._name)
            took_s = time.perf_counter() - began_s
            await asyncio.sleep(_REST_PER_STEP * took_s if done else LOOK_EVERY_S)

    async def step(self, state: AppState) -> int:
        """Take one step; 0 when there is none. What fails goes behind the others."""
        database, now_us = state.database, state.clock.now_us()
        due = await database.read(lambda tx: self._find_due(tx, now_us))
        if due is None:
            return 0
        try:
            return await database.write_in_background(lambda tx: self._run_step(tx, now_us))
        except Exception:
            await database.write_in_background(lambda tx: self._put_behind(tx, due, now_us))
            raise

    async def _put_behind(self, tx: Tx, due: T, now_us: int) -> None:
        await tx.set_tenant(due.tenant_id)
        await self._postpone(tx, due, now_us)


RENAMINGS = Stepper[Renaming](
    "rename tags", lambda tx, _: renamings.find_due(tx), renaming.run_step, renamings.postpone
)
ERASURES = Stepper("erase customers", erasures.find_due, erasing.run_step, erasures.postpone)
