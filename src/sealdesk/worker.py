"""The background loop: deletes, in small steps, what is kept only for a time."""

import asyncio
import contextlib
import signal
from collections.abc import Callable

import structlog
import uvloop

from sealdesk import events, idempotency
from sealdesk.api_keys import store as api_keys
from sealdesk.clock import Clock
from sealdesk.db.engine import Tx, Work
from sealdesk.db.opening import open_database
from sealdesk.errors import Unavailable
from sealdesk.identity import rules as identity_rules
from sealdesk.identity import store as identity
from sealdesk.identity.store import Tenant
from sealdesk.settings import Settings
from sealdesk.shared import Shared, share

EVERY_S = 60.0
EVENTS_KEPT_US = 30 * 24 * 3600 * 1_000_000
END_WITHIN_S = 10
_STEP_ROWS = 200
_STEP_PAUSE_S = 0.05
_TENANTS_AT_ONCE = 100

log = structlog.get_logger("sealdesk.worker")


def serve(settings: Settings, on_ready: Callable[[], None]) -> None:
    """Be the process that runs the loop, as the worker's role, until SIGTERM or SIGINT."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_until_told(settings, on_ready))


async def _until_told(settings: Settings, on_ready: Callable[[], None]) -> None:
    url = settings.worker_database_url
    shared = share(settings, open_database(settings, name="sealdesk worker", url=url), Clock())
    background = asyncio.create_task(run(shared))

    def end() -> None:
        signal.alarm(END_WITHIN_S)  # whatever may hang
        background.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end)
    on_ready()
    with contextlib.suppress(asyncio.CancelledError):
        await background
    await shared.database.close()


async def run(shared: Shared) -> None:
    """Prune once a minute; runs until cancelled, whatever goes wrong."""
    while True:
        await asyncio.sleep(EVERY_S)
        try:
            await prune(shared)
        except Unavailable as error:
            log.warning("pruning has to wait", cause=repr(error.__cause__))
        except Exception:
            log.exception("pruning failed")


async def prune(shared: Shared) -> int:
    """Delete everything whose time has passed; how many rows."""
    now_us = shared.clock.now_us()
    total = await _in_steps(shared, lambda tx: _prune_directories(tx, now_us))
    after = ""
    while True:
        tenants = await shared.database.read(_tenants_after(after))
        for tenant in tenants:
            total += await _prune_events(shared, tenant.id, now_us - EVENTS_KEPT_US)
        if len(tenants) < _TENANTS_AT_ONCE:
            return total
        after = tenants[-1].id


def _tenants_after(after: str) -> Work[list[Tenant]]:
    return lambda tx: identity.list_tenants(tx, after, _TENANTS_AT_ONCE)


async def _prune_events(shared: Shared, tenant_id: str, before_us: int) -> int:
    return await _in_steps(shared, lambda tx: events.prune(tx, tenant_id, before_us, _STEP_ROWS))


async def _prune_directories(tx: Tx, now_us: int) -> int:
    attempts_before = now_us - identity_rules.LONGEST_BOUND_US
    return (
        await idempotency.prune(tx, now_us, _STEP_ROWS)
        + await api_keys.prune_signatures(tx, now_us, _STEP_ROWS)
        + await identity.prune(tx, now_us, attempts_before, _STEP_ROWS)
    )


async def _in_steps(shared: Shared, step: Work[int]) -> int:
    """Repeat a step until it finds nothing; others write in between."""
    total = 0
    while deleted := await shared.database.write(step):
        total += deleted
        await asyncio.sleep(_STEP_PAUSE_S)
    return total
