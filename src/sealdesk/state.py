"""What one process has once, handed to everything that serves."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import msgspec

from sealdesk.clock import Clock
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db.engine import Database
from sealdesk.event_log.long_poll import LongPoll
from sealdesk.http_client import HttpClient
from sealdesk.rate_limits.limiter import FailureCounter, Limiter, RateLimiter
from sealdesk.settings import Settings
from sealdesk.telemetry.key_usage import Usage
from sealdesk.telemetry.metrics import Metrics

FAILURES_PER_MINUTE = 300  # decisions 3: above it an address gets a bare 401
LOG_INS_AT_ONCE = 4  # decisions 1: as many as hash at once
_ENDS_WITHIN_S = 3.0


class Lifetime:
    """Whether the process is on its way out: readiness turns false before the socket closes."""

    def __init__(self) -> None:
        self.is_ending = False


class BackgroundTasks:
    """Work that no answer waits for; the process waits for it when it ends."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def do(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_ENDS_WITHIN_S)


class AppState(msgspec.Struct, frozen=True):
    """The process's database, keys, clock and counters.

    log_ins: entered while a password is tried.
    sender: reaches the addresses that tenants name.
    watch: calls that wait for what comes to a feed.
    usage: how keys are used, until it is written down.
    afterwards: what is done when an answer is gone.
    """

    settings: Settings
    database: Database
    ring: KeyRing
    clock: Clock
    limiter: Limiter
    failures: FailureCounter
    lifetime: Lifetime
    metrics: Metrics
    log_ins: asyncio.Semaphore
    sender: HttpClient
    watch: LongPoll
    usage: Usage
    background_tasks: BackgroundTasks


def share(settings: Settings, database: Database, clock: Clock) -> AppState:
    """Raises Unfit when the address of Redis cannot be read."""
    limiter = _limiter(settings, clock)
    lifetime = Lifetime()
    return AppState(
        settings,
        database,
        KeyRing(settings.master_keys),
        clock,
        limiter,
        FailureCounter(clock.monotonic_s, FAILURES_PER_MINUTE),
        lifetime,
        Metrics(limiter),
        asyncio.Semaphore(LOG_INS_AT_ONCE),
        HttpClient(settings.webhook_allowed_cidrs, allow_http=settings.webhook_allow_http),
        LongPoll(lambda: lifetime.is_ending),
        Usage(),
        BackgroundTasks(),
    )


def _limiter(settings: Settings, clock: Clock) -> Limiter:
    if not settings.redis_url:
        return RateLimiter(clock.monotonic_s)
    # Its library takes 80 ms and 6 MiB, which one process alone need not spend.
    from sealdesk.rate_limits.redis_limiter import SharedLimiter

    return SharedLimiter(settings.redis_url, settings.expected_processes, clock.monotonic_s)
