"""The application state: what one process has once and hands to every request and task."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from sealdesk.clock import Clock
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db import epochs
from sealdesk.db.engine import Database
from sealdesk.db.fairness import TenantSlots
from sealdesk.db.sqlite.snapshot import KnownRows
from sealdesk.db.write_probe import WriteProbe
from sealdesk.errors import ServiceUnavailable
from sealdesk.errors.general import TOO_MANY_LOG_INS
from sealdesk.event_log.long_poll import LongPoll
from sealdesk.event_log.seen_users import SeenUsers
from sealdesk.event_log.streams import Streams
from sealdesk.http_client import HttpClient
from sealdesk.http_client.resolver import Resolver
from sealdesk.rate_limits.byte_budget import ByteBudget
from sealdesk.rate_limits.failures import FailureCounter
from sealdesk.rate_limits.limiter import RateLimiter, TenantBudgets, TenantPace
from sealdesk.rate_limits.protocol import Limiter
from sealdesk.settings import Settings
from sealdesk.telemetry.counters import RequestBuffer, Usage
from sealdesk.telemetry.metrics import Metrics

MAX_FAILURES_PER_MINUTE = 300  # decisions 3: above it an address gets a bare 401
MAX_KNOWN_KEYS = 4096  # 2.5 KiB each (decision 0039)
MAX_UPLOADING_BYTES = 1024**3  # of unfinished files on the disk; a tenant has an eighth of it
MAX_PASSWORD_CHECKS = 4  # decisions 1: passwords hashed at the same time
_FINISH_TIMEOUT_S = 3.0


class Lifetime:
    """Whether the process is draining: readiness turns false before the socket closes.

    on_drain: called when the server stops accepting connections, to end what would last.
    """

    def __init__(self) -> None:
        self.is_draining = False
        self.on_drain: list[Callable[[], None]] = []


class BackgroundTasks:
    """Work that no response waits for; the process waits for it before it exits."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_FINISH_TIMEOUT_S)


class AppState(msgspec.Struct, frozen=True):
    """The process's settings, database, keys, clock and counters.

    received, sending: limit the bytes of requests and of responses that are on their way.
    failure_counter: counts failed authentications per address.
    password_checks: limits how many passwords are hashed at the same time; networks of clients take
        turns, as the tenant is not known yet.
    http_client: reaches the addresses that tenants choose. mail_resolver: finds those of their
        mail servers.
    long_poll: requests that wait for new events of a feed. streams: open pages that do.
    seen_users: who uses pages of this process.
    known_keys: API keys that were looked up, made by their guard.
    key_usage, request_log: use of API keys that is not written to the database yet.
    background_tasks: work that starts after a response is sent.
    write_probe: tries whether the storage takes writes.
    uploading: limits the bytes of attachments that are being received.
    exports: how many CSV files of each tenant are being sent.
    epoch: see db/epochs.py; settings.jwt_secret is that of the epoch.
    """

    settings: Settings
    database: Database
    key_ring: KeyRing
    clock: Clock
    limiter: Limiter
    received: ByteBudget
    sending: ByteBudget
    tenant_budgets: TenantBudgets
    tenant_pace: TenantPace
    failure_counter: FailureCounter
    lifetime: Lifetime
    metrics: Metrics
    password_checks: TenantSlots
    http_client: HttpClient
    mail_resolver: Resolver
    long_poll: LongPoll
    streams: Streams
    seen_users: SeenUsers
    known_keys: KnownRows[Any]
    key_usage: Usage
    request_log: RequestBuffer
    background_tasks: BackgroundTasks
    write_probe: WriteProbe
    uploading: ByteBudget
    exports: Counter[str]
    epoch: int


def make_state(settings: Settings, database: Database, clock: Clock, *, epoch: int = 0) -> AppState:
    """The state of one process. Raises ConfigurationError when the Redis URL is invalid."""
    jwt_secret = epochs.derive_secret(settings.jwt_secret, epoch)
    settings = msgspec.structs.replace(settings, jwt_secret=jwt_secret)
    limiter = _make_limiter(settings, clock)
    received, sending = (ByteBudget(settings.budget_mib * 1024 * 1024) for _ in range(2))
    lifetime = Lifetime()
    return AppState(
        settings,
        database,
        KeyRing(settings.master_keys),
        clock,
        limiter,
        received,
        sending,
        TenantBudgets(settings.tenant_limit),
        TenantPace(settings.tenant_limit, clock.monotonic_s),
        FailureCounter(clock.monotonic_s, MAX_FAILURES_PER_MINUTE),
        lifetime,
        Metrics(limiter, database.health, received, sending),
        TenantSlots(
            MAX_PASSWORD_CHECKS,
            per_tenant=MAX_PASSWORD_CHECKS // 2,
            refusal=lambda: ServiceUnavailable(TOO_MANY_LOG_INS),
        ),
        HttpClient(settings.webhook_allowed_cidrs, allow_http=settings.webhook_allow_http),
        Resolver(settings.mail_allowed_cidrs),
        LongPoll(lambda: lifetime.is_draining),
        Streams(database, clock, is_told=not settings.has_worker_process),
        SeenUsers(),
        KnownRows(MAX_KNOWN_KEYS),
        Usage(),
        RequestBuffer(),
        BackgroundTasks(),
        WriteProbe(database),
        ByteBudget(MAX_UPLOADING_BYTES),
        Counter(),
        epoch,
    )


def _make_limiter(settings: Settings, clock: Clock) -> Limiter:
    if not settings.redis_url:
        return RateLimiter(clock.monotonic_s)
    # The Redis client takes 55 ms to import (2026-11) and 6 MiB, which other processes save.
    from sealdesk.rate_limits.redis_limiter import SharedLimiter

    return SharedLimiter(settings.redis_url, settings.expected_processes, clock.monotonic_s)
