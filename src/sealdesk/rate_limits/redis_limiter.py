"""Rate limits shared through Redis; while it is unavailable, each process allows its share."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from itertools import islice

from sealdesk.rate_limits.limiter import (
    PERIOD_S,
    Budget,
    Mode,
    RateLimiter,
    RateState,
    accepted_state,
    is_exhausted,
    refused_state,
)
from sealdesk.rate_limits.redis_connection import Redis, RedisConnection, Spend, Spent

# No request waits longer than WAIT_S for Redis, from its own arrival; but Redis has at least
# _MIN_WAIT_S to respond, even when this process was late to send.
WAIT_S = 0.25
_MIN_WAIT_S = 0.05
# No request waits for connecting.
_CONNECT_S = 1.0
# Between attempts to connect; and how long a connection is idle before it is probed.
_RETRY_S = 0.25
# The share of a minute's budget that is deducted when Redis fails, because other processes have
# used some of it meanwhile. Without it, 1.023 times the limit were accepted when Redis was killed
# during a burst (2026-11).
_RESERVED_PART = 0.05
_BATCH = 200  # debts in one pipeline: about 2 ms of the event loop

# Waiting requests in their order.
Pending = dict[Budget, list[asyncio.Future[RateState]]]

log = logging.getLogger("sealdesk.rate_limits.limiter")


class SharedLimiter:
    """Limits the requests of keys and tenants over all processes.

    Requests that arrive during a round trip to Redis are sent together in the next one, with the
    units that were charged meanwhile. Units that no request follows are sent within _RETRY_S.

    The process remembers the last debt of each budget. It refuses a request at once when that debt
    forbids it, because other processes can only increase a debt. It sends the debt along as a lower
    bound, so that a Redis that lost its data grants nothing twice. While Redis is unavailable, the
    process continues from there with its share of the limit.
    """

    def __init__(self, url: str, processes: int, monotonic_s: Callable[[], float]) -> None:
        """processes: how many share the limits. Raises ConfigurationError."""
        self._redis = Redis(url)
        self._processes = processes
        self._monotonic_s = monotonic_s
        self._local = RateLimiter(monotonic_s)
        self._waiting: Pending = {}
        self._waiting_since = 0.0
        self._sent: Pending = {}
        self._units: dict[Budget, int] = {}
        self._sent_units: dict[Budget, int] = {}
        self._wake: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._has_started = asyncio.Event()
        self._reserve_again_at = 0.0
        self.mode: Mode = "local"
        self.fallbacks = 0

    async def start(self) -> None:
        """Connect to Redis, waiting one second at most; later attempts run in the background."""
        self._task = asyncio.create_task(self._run())
        await self._has_started.wait()

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def take(self, budget: Budget) -> RateState:
        """Spend one request of the budget, if there is one. Never raises."""
        if self.mode == "local":
            return self._local.take_now(budget, self._processes)
        return self._find_refusal(budget) or await self._enqueue(budget)

    async def take_both(self, tenant: Budget, key: Budget) -> tuple[RateState, RateState]:
        """Spend one request of both budgets, in one round trip. Never raises."""
        if self.mode == "local":
            return self._local.take_both_now(tenant, key, self._processes)
        refusal = self._find_refusal(tenant)
        if refusal is not None:
            return refusal, self._local.state_of(key)
        refusal = self._find_refusal(key)
        if refusal is not None:
            self.charge(tenant, 1)
            return self._local.state_of(tenant), refusal
        tenant_future, key_future = self._enqueue(tenant), self._enqueue(key)
        return await tenant_future, await key_future

    def charge(self, tenant: Budget, units: int) -> None:
        """Charge work that was done; the debt may exceed the budget."""
        if self.mode == "local":
            self._local.charge(tenant, units, self._processes)
        else:
            self._units[tenant] = self._units.get(tenant, 0) + units

    def _find_refusal(self, budget: Budget) -> RateState | None:
        """The refusal of a budget that is exhausted as far as this process knows."""
        step_s = PERIOD_S / budget.limit
        debt_s = self._local.debt_s(budget.id) + self._units.get(budget, 0) * step_s
        return (
            refused_state(budget, step_s, debt_s) if is_exhausted(budget, step_s, debt_s) else None
        )

    def _enqueue(self, budget: Budget) -> asyncio.Future[RateState]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[RateState] = loop.create_future()
        if not self._waiting:
            self._waiting_since = loop.time()
        self._waiting.setdefault(budget, []).append(future)
        _wake_up(self._wake)
        return future

    async def _run(self) -> None:
        """Use Redis, or try to connect to it, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            began_at = loop.time()
            try:
                await self._use_redis()
            except Exception as error:  # a server that is not Redis can cause any exception
                self._become_local(error)
            finally:
                self._resolve_locally()
            await asyncio.sleep(max(0.0, began_at + _RETRY_S - loop.time()))

    async def _use_redis(self) -> None:
        async with contextlib.AsyncExitStack() as stack:
            async with asyncio.timeout(_CONNECT_S):
                connection = await stack.enter_async_context(self._redis.connect())
            await self._send_debts(connection)
            self._become_shared()
            while True:
                await self._send_batch(connection)

    async def _send_debts(self, connection: RedisConnection) -> None:
        """Send the known debts, because Redis may have lost its data."""
        known = iter(self._local.debts_s().items())
        while batch := list(islice(known, _BATCH)):
            async with asyncio.timeout(WAIT_S):
                await connection.spend(
                    [Spend(Budget(budget_id, 1), 0, debt_s) for budget_id, debt_s in batch]
                )

    async def _send_batch(self, connection: RedisConnection) -> None:
        """Send the waiting requests; probe the connection when there are none for a while."""
        await self._wait_for_requests()
        since = self._waiting_since if self._waiting else asyncio.get_running_loop().time()
        self._sent, self._waiting = self._waiting, {}
        self._sent_units, self._units = self._units, {}
        for budget in self._sent_units:
            self._sent.setdefault(budget, [])
        if not self._sent:
            async with asyncio.timeout(WAIT_S):
                return await connection.probe()
        # The time before sending, so that a debt is never overestimated.
        now = self._monotonic_s()
        # When this event loop was too busy to send, Redis still gets _MIN_WAIT_S.
        deadline = max(since + WAIT_S, asyncio.get_running_loop().time() + _MIN_WAIT_S)
        async with asyncio.timeout_at(deadline):
            spent = await connection.spend(
                [self._make_spend(budget, len(waiting)) for budget, waiting in self._sent.items()]
            )
        for (budget, futures), result in zip(self._sent.items(), spent, strict=True):
            self._local.raise_debt(budget.id, now + result.debt_s)
            _resolve(futures, budget, result)
        self._sent, self._sent_units = {}, {}
        return None

    def _make_spend(self, budget: Budget, requests: int) -> Spend:
        min_debt_s = _min_debt_s(self._local.debt_s(budget.id))
        return Spend(budget, requests, min_debt_s, self._sent_units.get(budget, 0))

    async def _wait_for_requests(self) -> None:
        if self._waiting:
            return
        loop = asyncio.get_running_loop()
        self._wake = loop.create_future()
        timer = loop.call_later(_RETRY_S, _wake_up, self._wake)
        try:
            await self._wake
        finally:
            timer.cancel()

    def _become_shared(self) -> None:
        self.mode = "shared"
        self._has_started.set()
        log.info("the rate limits are shared")

    def _become_local(self, cause: Exception) -> None:
        if self.mode == "local" and self._has_started.is_set():
            return
        if self.mode == "shared":
            self._reserve()
        self.mode = "local"
        self.fallbacks += 1
        self._has_started.set()
        log.warning(
            "Redis is unavailable: this process allows its share of the rate limits",
            extra={
                "share": f"1/{self._processes}",
                "cause": f"{type(cause).__name__}: {str(cause) or 'no answer in time'}",
            },
        )

    def _reserve(self) -> None:
        """At most once a minute, so that an unstable connection does not use up the budgets."""
        now = self._monotonic_s()
        if now >= self._reserve_again_at:
            self._reserve_again_at = now + PERIOD_S
            self._local.reserve(_RESERVED_PART)

    def _resolve_locally(self) -> None:
        """Charge all units, and decide all waiting requests, by this process's share."""
        self.mode = "local"
        for units in (self._sent_units, self._units):
            for budget, count in units.items():
                self._local.charge(budget, count, self._processes)
        for waiting in (self._sent, self._waiting):
            for budget, futures in waiting.items():
                for future in futures:
                    if not future.done():
                        future.set_result(self._local.take_now(budget, self._processes))
        self._sent, self._waiting, self._sent_units, self._units = {}, {}, {}, {}


def _wake_up(sleeper: asyncio.Future[None] | None) -> None:
    if sleeper is not None and not sleeper.done():
        sleeper.set_result(None)


def _min_debt_s(debt_s: float) -> float:
    """A lower bound of the debt when Redis receives it, up to WAIT_S later."""
    return max(0.0, debt_s - WAIT_S)


def _resolve(futures: list[asyncio.Future[RateState]], budget: Budget, spent: Spent) -> None:
    """Resolve the requests in their order: the first ones are accepted."""
    step_s = PERIOD_S / budget.limit
    for number, future in enumerate(futures, start=1):
        if future.done():
            continue  # the request was cancelled
        left = spent.accepted - number
        if left >= 0:
            future.set_result(accepted_state(budget, step_s, spent.debt_s - left * step_s))
        else:
            future.set_result(refused_state(budget, step_s, spent.debt_s))
