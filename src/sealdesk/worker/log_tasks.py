"""The tasks of the event log: the sequencer, and one task for each consumer."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.event_log import consumers, sequencer
from sealdesk.event_log.consumers import Consumer
from sealdesk.state import AppState
from sealdesk.worker.attempts import attempt

POLL_EVERY_S = 0.05
_BATCH_EVENTS = 200
# What is placed is handled in order, so a tenant's events wait for those placed before them: some
# 0.1 s for so many. While consumers are so far behind, a tenant with many events gets few placed.
_MAX_LEAD_EVENTS = 400
_FEW_EVENTS = 10


class _Backlog(NamedTuple):
    """The work of the log.

    oldest_pending_id: of the events without a position. behind: by how many events, for each
    consumer that has events to handle.
    """

    oldest_pending_id: str | None
    behind: dict[str, int]


class ConsumerTask:
    """Runs one consumer whenever it has events to handle, independently of the others.

    on_progress: called after each step that handled events.
    """

    def __init__(self, consumer: Consumer, on_progress: Callable[[], None]) -> None:
        self.consumer = consumer
        self.wakeup = asyncio.Event()
        self._on_progress = on_progress

    async def run(self, state: AppState) -> None:
        while True:
            await self.wakeup.wait()
            self.wakeup.clear()
            while await attempt(self._run_step, state, self.consumer.name):
                pass

    async def _run_step(self, state: AppState) -> int:
        now_us = state.clock.now_us()
        step = await state.database.write(lambda tx: consumers.run_step(tx, self.consumer, now_us))
        if step.event_count:
            self._on_progress()
        return step.has_more


async def run_sequencer(state: AppState, tasks: list[ConsumerTask]) -> None:
    """Give positions to new events, and wake the consumers that have events to handle."""
    names = [task.consumer.name for task in tasks]

    async def run_step(state: AppState) -> int:
        backlog = await state.database.read(lambda tx: _find_backlog(tx, names))
        now_us = state.clock.now_us()
        oldest = backlog.oldest_pending_id
        oldest_at = ids.instant_of(oldest) if oldest else now_us
        state.metrics.set_unplaced(max(0, now_us - oldest_at) / 1_000_000)
        joins_commit = oldest and not state.settings.has_worker_process
        for task in tasks:
            # On SQLite the consumers' steps run in the group commit that places the events.
            if joins_commit or task.consumer.name in backlog.behind:
                task.wakeup.set()
        if not oldest:
            return 0
        if max(backlog.behind.values(), default=0) < _MAX_LEAD_EVENTS:
            return await sequence(state)
        await sequence(state, _FEW_EVENTS)
        return 0

    while True:
        if not await attempt(run_step, state, "sequencer"):
            await asyncio.sleep(POLL_EVERY_S)


async def sequence(state: AppState, of_tenant: int = _BATCH_EVENTS) -> int:
    """Give positions to the oldest events that have none; how many. of_tenant: at most."""
    return await state.database.write(
        lambda tx: sequencer.place_pending(tx, _BATCH_EVENTS, of_tenant)
    )


async def _find_backlog(tx: Tx, names: list[str]) -> _Backlog:
    oldest = await sequencer.find_oldest_pending(tx)
    return _Backlog(oldest, await consumers.find_lags(tx, names))


async def wait_for(wakeup: asyncio.Event, at_most_s: float) -> None:
    """Wait until the event is set or the time is over, and clear the event."""
    with suppress(TimeoutError):
        async with asyncio.timeout(at_most_s):
            await wakeup.wait()
    wakeup.clear()
