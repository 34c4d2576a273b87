"""Fairness between tenants that wait for the same resource: each tenant in turn."""

import asyncio
import os
import sys
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from sealdesk.errors import ApiError, QueryTooSlow

# Both together are within the deadline of a request.
SLOW_READ_LIMIT_S = 2.0  # spec decision 9
SLOW_READ_WAIT_S = 2.0
MAX_SLOW_READS = 2  # of one tenant at a time
_MAX_WAITING_SLOW_READS = 8  # of one tenant
_NICENESS = 5  # a third of the processor time of another thread


class _Waiter(NamedTuple):
    """Work of a tenant that waits for a slot; the future is done when it has one."""

    tenant_id: str | None
    future: asyncio.Future[None]


class TenantSlots:
    """Slots for the work of tenants; a free one goes to the next tenant in turn.

    per_tenant: the most slots of one tenant; work without a tenant may have all of them.
    max_waiting: of one tenant. refusal: the error of a tenant that waits too often or too long.
    """

    def __init__(
        self,
        count: int,
        *,
        per_tenant: int,
        refusal: Callable[[], ApiError],
        max_waiting: int | None = None,
    ) -> None:
        self._free = count
        self._per_tenant = per_tenant
        self._max_waiting = max_waiting
        self._refusal = refusal
        self._used: Counter[str | None] = Counter()
        self._waiting: OrderedDict[str | None, deque[_Waiter]] = OrderedDict()

    @asynccontextmanager
    async def hold(self, tenant_id: str | None, timeout_s: float) -> AsyncIterator[None]:
        """Hold a slot within the block."""
        await self.acquire(tenant_id, timeout_s)
        try:
            yield
        finally:
            self.release(tenant_id)

    async def acquire(self, tenant_id: str | None, timeout_s: float) -> None:
        """Take a slot; waits for at most `timeout_s`. Raises the refusal."""
        if self._may_take(tenant_id):
            self._take(tenant_id)
        else:
            await self._wait(tenant_id, timeout_s)

    def release(self, tenant_id: str | None) -> None:
        """Give a slot back, to the next tenant that waits and may have it."""
        self._free += 1
        self._used[tenant_id] -= 1
        if not self._used[tenant_id]:
            del self._used[tenant_id]
        while (waiter := self._pop_next()) is not None:
            if not waiter.future.done():
                self._take(waiter.tenant_id)
                waiter.future.set_result(None)
                return

    def _pop_next(self) -> _Waiter | None:
        for tenant_id, waiters in self._waiting.items():
            if self._may_take(tenant_id):
                waiter = waiters[0]
                self._waiting.move_to_end(tenant_id)
                self._leave(waiter)
                return waiter
        return None

    def _may_take(self, tenant_id: str | None) -> bool:
        return self._free > 0 and (tenant_id is None or self._used[tenant_id] < self._per_tenant)

    def _take(self, tenant_id: str | None) -> None:
        self._free -= 1
        self._used[tenant_id] += 1

    async def _wait(self, tenant_id: str | None, timeout_s: float) -> None:
        waiters = self._waiting.get(tenant_id, ())
        if self._max_waiting is not None and len(waiters) >= self._max_waiting:
            raise self._refusal()
        loop = asyncio.get_running_loop()
        waiter = _Waiter(tenant_id, loop.create_future())
        self._waiting.setdefault(tenant_id, deque()).append(waiter)
        timer = loop.call_later(max(0.0, timeout_s), self._time_out, waiter)
        try:
            await waiter.future
        except asyncio.CancelledError:
            if waiter.future.cancelled():
                self._leave(waiter)
            elif waiter.future.exception() is None:
                self.release(tenant_id)  # it had got a slot before it was cancelled
            raise
        finally:
            timer.cancel()

    def _time_out(self, waiter: _Waiter) -> None:
        if not waiter.future.done():
            self._leave(waiter)
            waiter.future.set_exception(self._refusal())

    def _leave(self, waiter: _Waiter) -> None:
        waiters = self._waiting.get(waiter.tenant_id)
        if waiters is not None and waiter in waiters:
            waiters.remove(waiter)
            if not waiters:
                del self._waiting[waiter.tenant_id]


def slow_read_slots(count: int) -> TenantSlots:
    """The slots of a process for reads that no index serves."""
    return TenantSlots(
        count, per_tenant=MAX_SLOW_READS, max_waiting=_MAX_WAITING_SLOW_READS, refusal=QueryTooSlow
    )


def lower_thread_priority() -> None:
    """Let the event loop go before the calling thread, where threads have priorities: on Linux."""
    if sys.platform == "linux":
        thread_id = threading.get_native_id()
        # A service may be started with a low priority, and only root may raise one.
        given = os.getpriority(os.PRIO_PROCESS, thread_id)
        os.setpriority(os.PRIO_PROCESS, thread_id, given + _NICENESS)
