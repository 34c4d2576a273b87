"""The worker: sequences, delivers and indexes events, and prunes old data.

On SQLite it runs inside `serve`, on PostgreSQL in a process of its own.
"""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import uvloop

from sealdesk.clock import Clock
from sealdesk.db.factory import open_database
from sealdesk.installation.watch import Watch
from sealdesk.search.indexing import Budget
from sealdesk.settings import Settings
from sealdesk.state import AppState, make_state
from sealdesk.telemetry import descriptors
from sealdesk.tickets.held_replies import releasing
from sealdesk.tickets.snoozing import waking
from sealdesk.tickets.snoozing.store import DueTicket
from sealdesk.webhooks.delivery.deliverer import Deliverer
from sealdesk.webhooks.delivery.fan_out import continue_replays
from sealdesk.webhooks.store import deliveries as delivery_store
from sealdesk.worker import log_tasks, mail, stepper
from sealdesk.worker.indexer import IndexerLoop
from sealdesk.worker.one_log import OneLog
from sealdesk.worker.retention import Pruner
from sealdesk.worker.rewriter import keep_rewriting
from sealdesk.worker.steps import attempt

PRUNE_EVERY_S = 60.0
REPORT_EVERY_S = 60.0
WAKE_EVERY_S = 1.0
RELEASE_EVERY_S = 0.5
MAX_SHUTDOWN_S = 10

log = logging.getLogger("sealdesk.worker")


def serve(settings: Settings, on_ready: Callable[[], None]) -> None:
    """Run the worker as its own database role until SIGTERM or SIGINT."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run_until_signal(settings, on_ready))


async def _run_until_signal(settings: Settings, on_ready: Callable[[], None]) -> None:
    url = settings.worker_database_url
    state = make_state(settings, open_database(settings, name="sealdesk worker", url=url), Clock())
    running = asyncio.create_task(run(state))

    def stop() -> None:
        signal.alarm(MAX_SHUTDOWN_S)  # ends the process even if a task hangs
        running.cancel()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    on_ready()
    with contextlib.suppress(asyncio.CancelledError):
        await running
    await state.close()


async def run(state: AppState) -> None:
    """Run all tasks until cancelled; the failure of a step ends none of them."""
    delivery = _Delivery(state)
    mail_wakeup = asyncio.Event()
    wakeups = (delivery.wakeup.set, mail_wakeup.set)
    is_worker = state.settings.has_worker_process
    async with asyncio.TaskGroup() as group:
        event_log = await _open_log(state, *wakeups)
        group.create_task(event_log.run())
        group.create_task(delivery.run(event_log))
        group.create_task(IndexerLoop(state, event_log.update_indexes).run())
        group.create_task(_keep_pruning(state))
        group.create_task(stepper.take_all_steps(state))
        group.create_task(keep_rewriting(state))
        group.create_task(_keep_waking(state))
        group.create_task(_keep_releasing(state))
        group.create_task(mail.keep_sending(state, mail_wakeup))
        if is_worker:
            group.create_task(state.migration_pause.watch(state.database))
            group.create_task(_keep_reporting(state))
            group.create_task(Watch(state, "worker").run())
            group.create_task(descriptors.watch(state.metrics.count_exhausted_descriptors))


class Log(Protocol):
    """The log, or the logs, of the events: gives them positions, and runs the consumers."""

    async def run(self) -> None: ...

    async def continue_backlogs(self, state: AppState) -> int: ...

    async def update_indexes(self, state: AppState, budget: Budget) -> int: ...


async def _open_log(
    state: AppState, on_deliveries: Callable[[], None], on_messages: Callable[[], None]
) -> Log:
    if state.settings.has_worker_process:
        # asyncpg takes 22 ms to import, which SQLite does not need.
        from sealdesk_citus import tenant_logs

        if await tenant_logs.has_tenant_logs(state):
            return tenant_logs.TenantLogs(state, on_deliveries, on_messages)
    return OneLog(state, on_deliveries, on_messages)


class _Delivery:
    """The task that continues replays and backlogs of the fan-out, and sends due deliveries.

    wakeup: set when the fan-out has created deliveries.
    """

    def __init__(self, state: AppState) -> None:
        self.wakeup = asyncio.Event()
        self._state = state
        self._deliverer = Deliverer(state)
        # On SQLite one process delivers: a lease that exists at its start is of a killed process.
        self._has_old_leases = not state.settings.has_worker_process

    async def run(self, event_log: Log) -> None:
        step = partial(self._run_step, event_log)
        rest_s = log_tasks.SHORTEST_REST_S
        try:
            while True:
                done = await attempt(step, self._state, "delivery")
                rest_s = log_tasks.next_rest_s(rest_s, done)
                if not done:
                    await log_tasks.wait_for(self.wakeup, rest_s)
        finally:
            await self._deliverer.end()

    async def _run_step(self, event_log: Log, state: AppState) -> int:
        if self._has_old_leases:
            await state.database.write(delivery_store.end_all_leases)
            self._has_old_leases = False
        now_us = state.clock.now_us()
        backlog = await state.database.read(lambda tx: delivery_store.find_backlog(tx, now_us))
        done = await attempt(event_log.continue_backlogs, state) if backlog.has_late_events else 0
        if backlog.has_replays:
            done += await attempt(continue_replays, state)
        return done + await self._deliverer.lease_endpoints(backlog)


async def _keep_pruning(state: AppState) -> None:
    pruner = Pruner()
    while True:
        await asyncio.sleep(PRUNE_EVERY_S)
        await attempt(pruner.run_round, state, "prune")


async def _keep_waking(state: AppState) -> None:
    test_clocks = waking.TestClocks()
    while True:
        woken = await attempt(wake_snoozed, state)
        woken += await attempt(partial(wake_ahead, test_clocks), state, "wake test tenants")
        if woken < waking.MAX_STEP:
            await asyncio.sleep(WAKE_EVERY_S)


async def wake_snoozed(state: AppState) -> int:
    """Wake some tickets whose snooze has ended; how many."""
    return await _wake(await waking.list_due(state), state)


async def wake_ahead(test_clocks: waking.TestClocks, state: AppState) -> int:
    """The same for tenants whose clock is ahead."""
    return await _wake(await test_clocks.list_due(state), state)


async def _wake(due: Sequence[DueTicket], state: AppState) -> int:
    # The failure of one keeps none of the others asleep.
    return sum([await attempt(partial(waking.wake_due, each), state, "wake") for each in due])


async def _keep_releasing(state: AppState) -> None:
    while True:
        if await attempt(release_replies, state) < releasing.MAX_STEP:
            await asyncio.sleep(RELEASE_EVERY_S)


async def release_replies(state: AppState) -> int:
    """Send some held replies that are due; how many."""
    due = await releasing.list_due(state)
    # The failure of one keeps none of the others.
    return sum(
        [await attempt(partial(releasing.release_due, each), state, "held reply") for each in due]
    )


async def _keep_reporting(state: AppState) -> None:
    while True:
        await asyncio.sleep(REPORT_EVERY_S)
        log.info("background work", extra=state.metrics.background_summary())
