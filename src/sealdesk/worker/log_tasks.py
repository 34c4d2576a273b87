"""The tasks of the event log: the sequencer, one task for each consumer, and a watch over both."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.event_log import consumers, sequencer
from sealdesk.event_log.consumers import Consumer
from sealdesk.state import AppState
from sealdesk.worker.steps import attempt

# Between two looks for work that another process may have made. Without any the rest grows slowly
# to the longest, so that work in a steady stream is found soon.
SHORTEST_REST_S = 0.05
_LONGEST_REST_S = 0.5
_GROWTH = 1.2
WATCH_EVERY_S = 0.5
_BATCH_EVENTS = 200
# Between two steps of a consumer that is not behind: at most 40 commits a second.
_REST_S = 0.025


class ConsumerTask:
    """Runs one consumer whenever it has events to handle, independently of the others.

    wakeup: set when there are new events. on_progress: called after each step that handled events.
    """

    def __init__(self, consumer: Consumer, on_progress: Callable[[], None]) -> None:
        self.consumer = consumer
        self.wakeup = asyncio.Event()
        self._on_progress = on_progress

    async def run(self, state: AppState) -> None:
        state.database.listeners.append(lambda _: self.wakeup.set())
        while True:
            await self.wakeup.wait()
            self.wakeup.clear()
            while await attempt(self._run_step, state, self.consumer.name):
                pass
            await asyncio.sleep(_REST_S)

    async def _run_step(self, state: AppState) -> int:
        now_us = state.clock.now_us()
        step = await state.database.write(lambda tx: consumers.run_step(tx, self.consumer, now_us))
        if step.event_count:
            self._on_progress()
        return step.has_more


async def watch(state: AppState, tasks: Sequence[ConsumerTask]) -> None:
    """Wake consumers that have events of other processes to handle, and measure the delay."""
    while True:
        await attempt(partial(_watch_once, tasks=tasks), state, "event log")
        await asyncio.sleep(WATCH_EVERY_S)


async def _watch_once(state: AppState, tasks: Sequence[ConsumerTask]) -> int:
    names = [task.consumer.name for task in tasks]
    lags = await state.database.read(lambda tx: consumers.find_lags(tx, names))
    for task in tasks:
        if task.consumer.name in lags:
            task.wakeup.set()
    oldest = await state.database.read(lambda tx: _find_oldest_waiting(tx, names))
    now_us = state.clock.now_us()
    oldest_at = ids.instant_of(oldest) if oldest else now_us
    state.metrics.set_waiting(max(0, now_us - oldest_at) / 1_000_000)
    return len(lags)


async def _find_oldest_waiting(tx: Tx, names: Sequence[str]) -> str | None:
    found = (
        await consumers.find_oldest_unhandled(tx, names),
        await sequencer.find_oldest_pending(tx),
    )
    return min((one for one in found if one), default=None)


async def run_sequencer(state: AppState, tasks: Sequence[ConsumerTask]) -> None:
    """Give positions to new events, and wake the consumers."""
    rest_s = SHORTEST_REST_S
    while True:
        placed = await attempt(sequence, state, "sequencer")
        for task in tasks if placed else ():
            task.wakeup.set()
        rest_s = next_rest_s(rest_s, placed)
        if placed < _BATCH_EVENTS:
            await asyncio.sleep(rest_s)


def next_rest_s(rest_s: float, done: int) -> float:
    """How long to rest, after a rest of `rest_s` and a look that found so much work."""
    return SHORTEST_REST_S if done else min(rest_s * _GROWTH, _LONGEST_REST_S)


async def sequence(state: AppState) -> int:
    """Give positions to the oldest events that have none; how many."""
    return await state.database.write(lambda tx: sequencer.place_pending(tx, _BATCH_EVENTS))


async def wait_for(wakeup: asyncio.Event, at_most_s: float) -> None:
    """Wait until the event is set or the time is over, and clear the event."""
    with suppress(TimeoutError):
        async with asyncio.timeout(at_most_s):
            await wakeup.wait()
    wakeup.clear()
