"""Rates that all processes share: in Redis, and each on its own part while that is away."""

import asyncio
import contextlib
from collections.abc import Callable
from itertools import islice

import structlog

from sealdesk.rate_limits.limiter import (
    PERIOD_S,
    Mode,
    RateLimiter,
    RateState,
    is_spent,
    passed,
    refused,
)
from sealdesk.rate_limits.redis_connection import Link, Redis, Spend, Told

# No request waits longer than this for Redis, from its own arrival on; but Redis has at least so
# long to answer, however late this process itself was to send.
WAIT_S = 0.25
_ANSWER_S = 0.05
# Connecting may take longer: no request waits for it.
_CONNECT_S = 1.0
# After an attempt to find Redis, until the next one; and how long a link is quiet before it is
# tried.
_LOOK_S = 0.25
# Of what is left to a key when Redis goes away: others have taken some of it unheard. Without it,
# 1.023 times the limit were accepted when Redis was killed in the midst of a burst (2026-11).
_UNHEARD = 0.05
_AT_ONCE = 200  # debts that are told in one go: some 2 ms of the loop

# What waits for an answer: the requests of a key, under a limit, in their order.
InboxQuery = dict[tuple[str, int], list[asyncio.Future[RateState]]]

log = structlog.get_logger("sealdesk.rate_limits.limiter")


class SharedLimiter:
    """The limits of keys over all processes.

    Requests that come while others are being asked for go out together after them.

    Of each key this process remembers the last debt that Redis told. A request that this alone
    forbids is refused at once, for a debt only grows by others. With each question the debt goes
    along as the least that it can be, so that a Redis that has lost everything grants nothing
    twice. While Redis is away, the process goes on from there with its part of the limit.
    """

    def __init__(self, url: str, processes: int, monotonic_s: Callable[[], float]) -> None:
        """processes: how many share the limits. Raises Unfit."""
        self._redis = Redis(url)
        self._processes = processes
        self._monotonic_s = monotonic_s
        self._own = RateLimiter(monotonic_s)
        self._asked: InboxQuery = {}
        self._asked_at = 0.0
        self._under_way: InboxQuery = {}
        self._wake: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_settled = asyncio.Event()
        self._hold_back_at = 0.0
        self.mode: Mode = "local"
        self.fallbacks = 0

    async def start(self) -> None:
        """Look for Redis, for one second at the most; then go on without, and look on."""
        self._task = asyncio.create_task(self._run())
        await self._is_settled.wait()

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def take(self, key_id: str, limit: int) -> RateState:
        """Spend one request of the key's budget, if there is one. Never raises."""
        if self.mode == "local":
            return self._own.take_now(key_id, limit, self._processes)
        step_s, debt_s = PERIOD_S / limit, self._own.debt_s(key_id)
        if is_spent(step_s, debt_s):
            return refused(limit, step_s, debt_s)
        loop = asyncio.get_running_loop()
        response: asyncio.Future[RateState] = loop.create_future()
        if not self._asked:
            self._asked_at = loop.time()
        self._asked.setdefault((key_id, limit), []).append(response)
        _wake(self._wake)
        return await response

    async def _run(self) -> None:
        """Be with Redis, or look for it, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            began_at = loop.time()
            try:
                await self._share()
            except Exception as error:  # a server that is no Redis can make its client raise any
                self._become_local(error)
            finally:
                self._answer_alone()
            await asyncio.sleep(max(0.0, began_at + _LOOK_S - loop.time()))

    async def _share(self) -> None:
        async with contextlib.AsyncExitStack() as stack:
            async with asyncio.timeout(_CONNECT_S):
                link = await stack.enter_async_context(self._redis.link())
            await self._tell_debts(link)
            self._become_shared()
            while True:
                await self._ask(link)

    async def _tell_debts(self, link: Link) -> None:
        """Tell Redis what is known: it may have lost it, and other processes rely on it."""
        known = iter(self._own.debts_s().items())
        while some := list(islice(known, _AT_ONCE)):
            async with asyncio.timeout(WAIT_S):
                await link.spend([Spend(key_id, 1, 0, debt_s) for key_id, debt_s in some])

    async def _ask(self, link: Link) -> None:
        """Put the questions that have come, or when none come for a while, see to the link."""
        await self._some_or_a_while()
        self._under_way, self._asked = self._asked, {}
        if not self._under_way:
            async with asyncio.timeout(WAIT_S):
                return await link.probe()
        # The time before it was sent: so a debt is never taken for longer than it is.
        now = self._monotonic_s()
        # If this loop itself was too busy to send, that is not Redis' fault.
        until = max(self._asked_at + WAIT_S, asyncio.get_running_loop().time() + _ANSWER_S)
        async with asyncio.timeout_at(until):
            told = await link.spend([self._spend(*asked) for asked in self._under_way.items()])
        for (asked, answers), response in zip(self._under_way.items(), told, strict=True):
            key_id, limit = asked
            self._own.raise_debt(key_id, now + response.debt_s)
            _settle(answers, limit, response)
        self._under_way = {}
        return None

    def _spend(self, asked: tuple[str, int], answers: list[asyncio.Future[RateState]]) -> Spend:
        key_id, limit = asked
        return Spend(key_id, limit, len(answers), _floor_s(self._own.debt_s(key_id)))

    async def _some_or_a_while(self) -> None:
        if self._asked:
            return
        loop = asyncio.get_running_loop()
        self._wake = loop.create_future()
        timer = loop.call_later(_LOOK_S, _wake, self._wake)
        try:
            await self._wake
        finally:
            timer.cancel()

    def _become_shared(self) -> None:
        self.mode = "shared"
        self._is_settled.set()
        log.info("the rate limits are shared")

    def _become_local(self, cause: Exception) -> None:
        if self.mode == "local" and self._is_settled.is_set():
            return
        if self.mode == "shared":
            self._hold_back()
        self.mode = "local"
        self.fallbacks += 1
        self._is_settled.set()
        log.warning(
            "Redis is away: this process keeps to its part of the rate limits",
            part=f"1/{self._processes}",
            cause=f"{type(cause).__name__}: {str(cause) or 'no answer in time'}",
        )

    def _hold_back(self) -> None:
        """Once a minute at the most, so that a link that comes and goes does not starve keys."""
        now = self._monotonic_s()
        if now >= self._hold_back_at:
            self._hold_back_at = now + PERIOD_S
            self._own.hold_back(_UNHEARD)

    def _answer_alone(self) -> None:
        """Answer all that wait from this process's own part."""
        self.mode = "local"
        for waiting in (self._under_way, self._asked):
            for (key_id, limit), answers in waiting.items():
                for response in answers:
                    if not response.done():
                        response.set_result(self._own.take_now(key_id, limit, self._processes))
        self._under_way, self._asked = {}, {}


def _wake(sleeper: asyncio.Future[None] | None) -> None:
    if sleeper is not None and not sleeper.done():
        sleeper.set_result(None)


def _floor_s(debt_s: float) -> float:
    """What is surely owed when it arrives, which may be one wait later than it was looked up."""
    return max(0.0, debt_s - WAIT_S)


def _settle(answers: list[asyncio.Future[RateState]], limit: int, told: Told) -> None:
    """Answer the requests in their order: the first ones passed."""
    step_s = PERIOD_S / limit
    for place, response in enumerate(answers, start=1):
        if response.done():
            continue  # whoever asked has gone
        after = told.accepted - place
        if after >= 0:
            response.set_result(passed(limit, step_s, told.debt_s - after * step_s))
        else:
            response.set_result(refused(limit, step_s, told.debt_s))
