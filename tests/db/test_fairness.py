"""Tenants that wait for the same slots get them in turn."""

import asyncio
import os
import sys
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor

import pytest

from sealdesk.db.fairness import TenantSlots, lower_thread_priority
from sealdesk.errors import QueryTooSlow

LONG_S = 60.0


def slots(count: int, per_tenant: int = 2, max_waiting: int | None = None) -> TenantSlots:
    return TenantSlots(count, per_tenant=per_tenant, max_waiting=max_waiting, refusal=QueryTooSlow)


class Queue:
    """Tasks that wait for slots, and the order in which they got them."""

    def __init__(self, waited_for: TenantSlots) -> None:
        self.slots = waited_for
        self.served: list[str] = []

    async def join(self, *names: str, timeout_s: float = LONG_S) -> list[asyncio.Task[None]]:
        """One task for each name, whose first letter is the tenant; all wait afterwards."""
        tasks = [asyncio.ensure_future(self._acquire(name, timeout_s)) for name in names]
        await asyncio.sleep(0)
        return tasks

    async def _acquire(self, name: str, timeout_s: float) -> None:
        await self.slots.acquire(name[0], timeout_s)
        self.served.append(name)

    async def release(self, *tenants: str) -> None:
        for tenant in tenants:
            self.slots.release(tenant)
            await asyncio.sleep(0)
            await asyncio.sleep(0)


def run(test: Coroutine[None, None, None]) -> None:
    asyncio.run(test)


def test_tenants_are_served_in_turn() -> None:
    async def test() -> None:
        queue = Queue(slots(1))
        await queue.join("a1", "a2", "a3", "a4", "b1", "b2", "c1")
        await queue.release("a", "a", "b", "c", "a", "b")
        assert queue.served == ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]

    run(test())


def test_a_tenant_leaves_slots_to_others() -> None:
    async def test() -> None:
        queue = Queue(slots(3, per_tenant=2))
        await queue.join("a1", "a2", "a3", "b1")
        assert queue.served == ["a1", "a2", "b1"]
        await queue.release("b")
        assert queue.served == ["a1", "a2", "b1"]
        await queue.release("a")
        assert queue.served[3:] == ["a3"]

    run(test())


def test_work_without_a_tenant_may_have_all_slots() -> None:
    async def test() -> None:
        waited_for = slots(3, per_tenant=1)
        for _ in range(3):
            await waited_for.acquire(None, 0)
        with pytest.raises(QueryTooSlow):
            await waited_for.acquire(None, 0)

    run(test())


def test_only_the_tenant_that_waits_too_often_is_refused() -> None:
    async def test() -> None:
        queue = Queue(slots(1, max_waiting=2))
        await queue.join("a1", "a2", "a3")
        with pytest.raises(QueryTooSlow):
            await queue.slots.acquire("a", LONG_S)
        await queue.join("b1")
        await queue.release("a", "a")
        assert queue.served == ["a1", "a2", "b1"]

    run(test())


def test_who_waits_too_long_is_refused_and_takes_no_slot() -> None:
    async def test() -> None:
        queue = Queue(slots(1))
        await queue.join("a1")
        (late,) = await queue.join("a2", timeout_s=0.01)
        await queue.join("a3")
        with pytest.raises(QueryTooSlow):
            await late
        await queue.release("a")
        assert queue.served == ["a1", "a3"]

    run(test())


def test_cancelled_tasks_leave_the_queue() -> None:
    async def test() -> None:
        queue = Queue(slots(1, max_waiting=2))
        await queue.join("a1")
        cancelled = await queue.join("a2", "a3")
        for task in cancelled:
            task.cancel()
        await asyncio.wait(cancelled)
        await queue.join("a4")  # there is room again
        await queue.release("a")
        assert queue.served == ["a1", "a4"]

    run(test())


def test_a_task_cancelled_in_the_iteration_of_its_turn_gives_its_slot_to_the_next() -> None:
    async def test(*, cancels_first: bool) -> None:
        queue = Queue(slots(1))
        await queue.join("a1")
        second, third = await queue.join("a2", "a3")
        if cancels_first:
            second.cancel()
        queue.slots.release("a")
        second.cancel()
        await asyncio.wait([third], timeout=LONG_S)
        assert queue.served == ["a1", "a3"]

    run(test(cancels_first=True))
    run(test(cancels_first=False))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere threads have no priority")
def test_a_thread_of_a_service_with_a_low_priority_has_a_lower_one() -> None:
    def lowered() -> int:
        thread_id = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread_id, 10)
        lower_thread_priority()
        return os.getpriority(os.PRIO_PROCESS, thread_id)

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(lowered).result() > 10
