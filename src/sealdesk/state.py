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
from sealdesk.db.migrations.pause import MigrationPause
from sealdesk.db.sqlite.snapshot import KnownRows
from sealdesk.db.write_probe import WriteProbe
from sealdesk.errors import ServiceUnavailable
from sealdesk.errors.general import TOO_MANY_LOG_INS
from sealdesk.event_log.long_poll import LongPoll
from sealdesk.event_log.presence import SeenUsers
from sealdesk.event_log.streams import Streams
from sealdesk.http_client import HttpClient
from sealdesk.http_client.resolver import Resolver
from sealdesk.oauth.tokens import AccessTokens
from sealdesk.rate_limits.byte_budget import ByteBudget
from sealdesk.rate_limits.failures import FailureCounter
from sealdesk.rate_limits.limiter import RateLimiter, TenantBudgets, TenantPace
from sealdesk.rate_limits.protocol import Limiter
from sealdesk.resources.page_cache import PageCache
from sealdesk.sandbox.pool import Pool
from sealdesk.settings import Settings
from sealdesk.telemetry.counters import RequestBuffer, Usage
from sealdesk.telemetry.issues import Issues
from sealdesk.telemetry.metrics import Metrics

MAX_FAILURES_PER_MINUTE = 300  # spec decision 3: above it an address gets a bare 401
MAX_KNOWN_KEYS = 4096  # 2.5 KiB each (decision 0039)
MAX_UPLOADING_BYTES = 1024**3  # of unfinished files on the disk; a tenant has an eighth of it
MAX_PASSWORD_CHECKS = 4  # spec decision 1: passwords hashed at the same time
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


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What the tenants and clients of this process may use at a time.

    limiter: the requests of keys and tenants. tenant_budgets, tenant_pace: the units of work.
    received, sending: the bytes of requests and of responses that are on their way.
    uploading: the bytes of attachments that are being received.
    exports: how many CSV files of each tenant are being sent.
    failure_counter: failed authentications per address.
    password_checks: how many passwords are hashed at the same time; networks of clients take
        turns, as the tenant is not known yet.
    """

    limiter: Limiter
    tenant_budgets: TenantBudgets
    tenant_pace: TenantPace
    received: ByteBudget
    sending: ByteBudget
    uploading: ByteBudget
    exports: Counter[str]
    failure_counter: FailureCounter
    password_checks: TenantSlots


class AppState(msgspec.Struct, frozen=True, kw_only=True):
    """The process's settings, database, keys, clock and counters.

    epoch: see db/epochs.py; settings.jwt_secret is that of the epoch.
    http_client: reaches the addresses that tenants choose. mail_resolver: finds those of their
        mail servers. access_tokens: of mailboxes that log in with OAuth.
    long_poll: requests that wait for new events of a feed. streams: open pages that do.
    seen_users: who uses pages of this process.
    known_keys: API keys that were looked up, made by their guard.
    ticket_pages: pages of the list of tickets.
    key_usage, request_log: use of API keys that is not written to the database yet.
    background_tasks: work that starts after a response is sent.
    write_probe: tries whether the storage takes writes.
    migration_pause: background work of a worker waits for its end.
    sandbox: child processes that read foreign input.
    issues: what is wrong with the installation.
    """

    settings: Settings
    database: Database
    key_ring: KeyRing
    clock: Clock
    epoch: int
    limits: Limits
    lifetime: Lifetime
    metrics: Metrics
    http_client: HttpClient
    mail_resolver: Resolver
    access_tokens: AccessTokens
    long_poll: LongPoll
    streams: Streams
    seen_users: SeenUsers
    known_keys: KnownRows[Any]
    ticket_pages: PageCache
    key_usage: Usage
    request_log: RequestBuffer
    background_tasks: BackgroundTasks
    write_probe: WriteProbe
    migration_pause: MigrationPause
    sandbox: Pool
    issues: Issues

    async def close(self) -> None:
        """Close what the process has open, the database last."""
        await self.sandbox.close()
        await self.http_client.close()
        self.mail_resolver.close()
        await self.limits.limiter.stop()
        await self.database.close()


def make_state(settings: Settings, database: Database, clock: Clock, *, epoch: int = 0) -> AppState:
    """The state of one process. Raises ConfigurationError when the Redis URL is invalid."""
    jwt_secret = epochs.derive_secret(settings.jwt_secret, epoch)
    limits, lifetime = _make_limits(settings, clock), Lifetime()
    issues = Issues(clock.monotonic_s)
    http_client = HttpClient(settings.webhook_allowed_cidrs, allow_http=settings.webhook_allow_http)
    return AppState(
        settings=msgspec.structs.replace(settings, jwt_secret=jwt_secret),
        database=database,
        key_ring=KeyRing(settings.master_keys),
        clock=clock,
        epoch=epoch,
        limits=limits,
        lifetime=lifetime,
        metrics=Metrics(limits.limiter, database.health, limits.received, limits.sending, issues),
        http_client=http_client,
        mail_resolver=Resolver(settings.mail_allowed_cidrs),
        access_tokens=AccessTokens(http_client, settings.mail.oauth_clients, clock.monotonic_s),
        long_poll=LongPoll(lambda: lifetime.is_draining),
        streams=Streams(database, clock, is_notified=not settings.has_worker_process),
        seen_users=SeenUsers(),
        known_keys=KnownRows(MAX_KNOWN_KEYS),
        ticket_pages=PageCache(),
        key_usage=Usage(),
        request_log=RequestBuffer(),
        background_tasks=BackgroundTasks(),
        write_probe=WriteProbe(database),
        migration_pause=MigrationPause(),
        sandbox=Pool(),
        issues=issues,
    )


def _make_limits(settings: Settings, clock: Clock) -> Limits:
    bytes_in_flight = settings.budget_mib * 1024 * 1024
    return Limits(
        limiter=_make_limiter(settings, clock),
        tenant_budgets=TenantBudgets(settings.tenant_limit),
        tenant_pace=TenantPace(settings.tenant_limit, clock.monotonic_s),
        received=ByteBudget(bytes_in_flight),
        sending=ByteBudget(bytes_in_flight),
        uploading=ByteBudget(MAX_UPLOADING_BYTES),
        exports=Counter(),
        failure_counter=FailureCounter(clock.monotonic_s, MAX_FAILURES_PER_MINUTE),
        password_checks=TenantSlots(
            MAX_PASSWORD_CHECKS,
            per_tenant=MAX_PASSWORD_CHECKS // 2,
            refusal=lambda: ServiceUnavailable(TOO_MANY_LOG_INS),
        ),
    )


def _make_limiter(settings: Settings, clock: Clock) -> Limiter:
    if not settings.redis_url:
        return RateLimiter(clock.monotonic_s)
    # The Redis client takes 55 ms to import (2026-11) and 6 MiB, which other processes save.
    from sealdesk.rate_limits.redis_limiter import SharedLimiter

    return SharedLimiter(settings.redis_url, settings.expected_processes, clock.monotonic_s)
