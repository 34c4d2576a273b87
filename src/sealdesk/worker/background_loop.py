"""The background loop: places what happened in the feed, delivers it, indexes it for the search,
and prunes what is old.
"""

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable

import structlog
import uvloop

from sealdesk import ids
from sealdesk.clock import Clock
from sealdesk.db.factory import open_database
from sealdesk.errors import ServiceUnavailable
from sealdesk.settings import Settings
from sealdesk.state import AppState, make_state
from sealdesk.webhooks.delivery.deliverer import Deliverer
from sealdesk.webhooks.store import deliveries as delivery_store
from sealdesk.worker.indexer import Indexer
from sealdesk.worker.retention import prune
from sealdesk.worker.sequencer import replay, sequence

PRUNE_EVERY_S = 60.0
LOOK_EVERY_S = 0.05
INDEX_EVERY_S = 0.5
AFTER_FAILURE_S = 0.5
TELL_EVERY_S = 60.0
END_WITHIN_S = 10

log = structlog.get_logger("sealdesk.worker.background_loop")


def serve(settings: Settings, on_ready: Callable[[], None]) -> None:
    """Be the process that runs the loop, as the worker's role, until SIGTERM or SIGINT."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_until_told(settings, on_ready))


async def _until_told(settings: Settings, on_ready: Callable[[], None]) -> None:
    url = settings.worker_database_url
    state = make_state(settings, open_database(settings, name="sealdesk worker", url=url), Clock())
    background = asyncio.create_task(run(state))

    def end() -> None:
        signal.alarm(END_WITHIN_S)  # whatever may hang
        background.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end)
    on_ready()
    with contextlib.suppress(asyncio.CancelledError):
        await background
    await state.http_client.close()
    await state.database.close()


async def run(state: AppState) -> None:
    """Do all of it until cancelled, whatever goes wrong."""
    async with asyncio.TaskGroup() as group:
        group.create_task(_deliver_always(state))
        group.create_task(_index_always(state))
        group.create_task(_prune_always(state))
        if state.settings.database_url:
            group.create_task(_tell_always(state))


async def _deliver_always(state: AppState) -> None:
    background = _Delivering(state)
    try:
        while True:
            if not await _tried(background.turn, state):
                await asyncio.sleep(LOOK_EVERY_S)
    finally:
        await background.deliverer.end()


class _Delivering:
    """What happens on its way to the endpoints."""

    def __init__(self, state: AppState) -> None:
        self.deliverer = Deliverer(state)
        # On SQLite nobody else delivers: what is leased was held by a process that was killed.
        self._has_old_leases = not state.settings.database_url

    async def turn(self, state: AppState) -> int:
        """Do a part of what there is to do; how much."""
        if self._has_old_leases:
            await state.database.write(delivery_store.end_leases)
            self._has_old_leases = False
        now_us = state.clock.now_us()
        there = await state.database.read(lambda tx: delivery_store.look(tx, now_us))
        oldest_at = ids.instant_of(there.event_id) if there.event_id else now_us
        state.metrics.note_unplaced(max(0, now_us - oldest_at) / 1_000_000)
        # Each by itself: what cannot be placed does not hold up what is to be sent again.
        done = await _tried(sequence, state) if there.event_id else 0
        done += await _tried(replay, state) if there.replays else 0
        return done + await self.deliverer.take(there)


async def _index_always(state: AppState) -> None:
    loop, indexer = asyncio.get_running_loop(), Indexer(state)
    while True:
        began_at = loop.time()
        is_behind = await _tried(indexer.turn, state)
        took_s = loop.time() - began_at
        await asyncio.sleep(indexer.rest_s(took_s) if is_behind else INDEX_EVERY_S)


async def _prune_always(state: AppState) -> None:
    while True:
        await asyncio.sleep(PRUNE_EVERY_S)
        await _tried(prune, state)


async def _tell_always(state: AppState) -> None:
    while True:
        await asyncio.sleep(TELL_EVERY_S)
        log.info("background work", **state.metrics.background_summary())


async def _tried(step: Callable[[AppState], Awaitable[int]], state: AppState) -> int:
    """What a step did; nothing when it failed."""
    try:
        return await step(state)
    except ServiceUnavailable as error:
        log.warning("background work has to wait", step=step.__name__, cause=repr(error.__cause__))
    except Exception:
        log.exception("background work failed", step=step.__name__)
    await asyncio.sleep(AFTER_FAILURE_S)
    return 0
