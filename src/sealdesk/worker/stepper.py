"""Long work of tenants in steps, with rests in which requests write, such as erasing a customer."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from sealdesk.automation.steps import actions as automation
from sealdesk.automation.steps import store as automation_store
from sealdesk.db.engine import Tx
from sealdesk.mail.weekly_reports.steps import actions as weekly
from sealdesk.mail.weekly_reports.steps import store as weekly_store
from sealdesk.reports.steps import actions as reports
from sealdesk.reports.steps import store as report_store
from sealdesk.state import AppState
from sealdesk.tickets.erasing.steps import actions as erasing
from sealdesk.tickets.erasing.steps import store as erasures
from sealdesk.tickets.promises.steps import actions as promises
from sealdesk.tickets.promises.steps import store as promise_store
from sealdesk.tickets.tags.steps import actions as renaming
from sealdesk.tickets.tags.steps import store as renamings
from sealdesk.worker.steps import attempt, rest_s
from sealdesk.worker.turns import LeastServed

LOOK_EVERY_S = 0.5
_MAX_TENANTS = 100


class Stepper:
    """Takes the steps of one kind of work, those of tenants in turns by measured time.

    name: for the log. list_tenants: that have work; at most so many. run_step: takes a tenant's
    next step; 0 when nothing can be done. postpone: puts what would be next behind the rest.
    """

    def __init__(
        self,
        name: str,
        list_tenants: Callable[[Tx, int, int], Awaitable[list[str]]],
        run_step: Callable[[Tx, str, int], Awaitable[int]],
        postpone: Callable[[Tx, str, int], Awaitable[None]],
    ) -> None:
        self._name = name
        self._list_tenants = list_tenants
        self._run_step = run_step
        self._postpone = postpone
        self._served = LeastServed()

    async def run(self, state: AppState, wakeup: asyncio.Event) -> None:
        """Take steps until cancelled. wakeup: set when there may be work."""
        while True:
            await wakeup.wait()
            wakeup.clear()
            while await attempt(self._step_and_rest, state, self._name):
                pass

    async def has_work(self, tx: Tx, now_us: int) -> bool:
        return bool(await self._list_tenants(tx, now_us, 1))

    async def _step_and_rest(self, state: AppState) -> int:
        began_s = time.perf_counter()
        done = await self.step(state)
        await asyncio.sleep(rest_s(state, time.perf_counter() - began_s) if done else 0)
        return done

    async def step(self, state: AppState) -> int:
        """Take one step; 0 when there is none. What fails goes behind the others."""
        database, now_us = state.database, state.clock.now_us()
        tenant_ids = await database.read(lambda tx: self._list_tenants(tx, now_us, _MAX_TENANTS))
        if not tenant_ids:
            return 0
        tenant_id, began_s, done = self._served.choose(tenant_ids), time.perf_counter(), 0
        try:
            done = await database.write_in_background(
                lambda tx: self._run_step(tx, tenant_id, now_us)
            )
        except Exception:
            await database.write_in_background(lambda tx: self._put_behind(tx, tenant_id, now_us))
            raise
        finally:
            took_s = time.perf_counter() - began_s
            # Who can do nothing now must not be chosen at each look.
            self._served.charge(tenant_id, took_s if done else max(took_s, LOOK_EVERY_S))
        return done

    async def _put_behind(self, tx: Tx, tenant_id: str, now_us: int) -> None:
        await tx.set_tenant(tenant_id)
        await self._postpone(tx, tenant_id, now_us)


RENAMINGS = Stepper(
    "rename tags", renamings.list_due_tenants, renaming.run_step, renamings.postpone
)
ERASURES = Stepper(
    "erase customers", erasures.list_due_tenants, erasing.run_step, erasures.postpone
)
AUTOMATION = Stepper(
    "automation rules",
    automation_store.list_due_tenants,
    automation.run_step,
    automation.postpone,
)
PROMISES = Stepper(
    "due times", promise_store.list_due_tenants, promises.run_step, promise_store.postpone
)
REPORTS = Stepper(
    "rebuild reports", report_store.list_due_tenants, reports.run_step, report_store.postpone
)
WEEKLY_REPORTS = Stepper(
    "weekly reports", weekly_store.list_due_tenants, weekly.run_step, weekly_store.postpone
)
_STEPPERS = (RENAMINGS, ERASURES, AUTOMATION, PROMISES, REPORTS, WEEKLY_REPORTS)


async def take_all_steps(state: AppState) -> None:
    """Take the steps of all kinds of work until cancelled; one transaction looks for all kinds."""
    wakeups = [asyncio.Event() for _ in _STEPPERS]
    async with asyncio.TaskGroup() as group:
        for stepper, wakeup in zip(_STEPPERS, wakeups, strict=True):
            group.create_task(stepper.run(state, wakeup))
        while True:
            await attempt(partial(_look, wakeups=wakeups), state, "look for long work")
            await asyncio.sleep(LOOK_EVERY_S)


async def _look(state: AppState, wakeups: Sequence[asyncio.Event]) -> int:
    now_us = state.clock.now_us()
    found = await state.database.read(lambda tx: _find_work(tx, now_us))
    for has_work, wakeup in zip(found, wakeups, strict=True):
        if has_work:
            wakeup.set()
    return sum(found)


async def _find_work(tx: Tx, now_us: int) -> list[bool]:
    return [await stepper.has_work(tx, now_us) for stepper in _STEPPERS]
