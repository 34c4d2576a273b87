"""Runs the search consumers at a limited rate, so that requests are not delayed."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from sealdesk.db.engine import Tx
from sealdesk.event_log import consumers
from sealdesk.search import indexing
from sealdesk.search.indexing import ALONE, BESIDE_REQUESTS, INDEXES, Budget, Indexer
from sealdesk.search.store.documents import SearchIndex
from sealdesk.state import AppState
from sealdesk.worker.steps import attempt

POLL_EVERY_S = 0.5
_MERGES = 4
_QUIET_S = 1.0
# On SQLite indexing blocks the writes of requests, so it may use a fifth of the time beside them.
# A worker on PostgreSQL cannot see the requests of other processes, and uses half of the time.
_REST_BESIDE_REQUESTS = 4
_REST_OF_WORKER = 1
Update = Callable[[AppState, Budget], Awaitable[int]]


class IndexerLoop:
    """Indexes in large steps while this process serves no requests, otherwise in small steps.

    update: does a step; how much was done.
    """

    def __init__(self, state: AppState, update: Update) -> None:
        self._state = state
        self._update = update
        self._is_worker = state.settings.has_worker_process
        self._has_segments = not self._is_worker  # segments of an earlier process
        self._request_count = 0
        # Requests may come as soon as the process is ready.
        self._request_at_s = state.clock.monotonic_s()

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            began_at = loop.time()
            is_behind = await self.run_step(self._state)
            took_s = loop.time() - began_at
            await asyncio.sleep(self._rest_s(took_s) if is_behind else POLL_EVERY_S)

    async def run_step(self, state: AppState) -> int:
        """Index some events and unindexed objects, and merge some segments; how much was done."""
        budget = ALONE if self._is_alone() else BESIDE_REQUESTS
        done = await attempt(lambda each: self._update(each, budget), state, "search indexes")
        if done and not self._is_worker:
            self._has_segments = True
        for _ in range(_MERGES):
            if not self._has_segments:
                break
            done += await attempt(partial(self._merge, budget.pages), state, "merge")
        return done

    async def _merge(self, pages: int, state: AppState) -> int:
        self._has_segments = await state.database.write_in_background(
            lambda tx: indexing.merge(tx, pages)
        )
        return int(self._has_segments)

    def _rest_s(self, took_s: float) -> float:
        if self._is_worker:
            return _REST_OF_WORKER * took_s
        return 0.0 if self._is_alone() else _REST_BESIDE_REQUESTS * took_s

    def _is_alone(self) -> bool:
        """Whether this process has served no request for a second."""
        now_s, request_count = self._state.clock.monotonic_s(), self._state.metrics.answered
        if request_count != self._request_count:
            self._request_count, self._request_at_s = request_count, now_s
        return now_s - self._request_at_s > _QUIET_S


async def update_indexes(state: AppState, budget: Budget = BESIDE_REQUESTS) -> int:
    """Let each index handle its next events and continue its rebuild; how much was done."""
    behind, rebuilding = await state.database.read(_find_work)
    done = 0
    for index in behind:
        done += await attempt(partial(_handle_events, index, budget), state, index.name)
    for index in rebuilding:
        done += await attempt(partial(_rebuild, index, budget), state, index.name)
    return done


async def _find_work(tx: Tx) -> tuple[list[SearchIndex], list[SearchIndex]]:
    """The indexes that have events to handle, and those that have a rebuild to continue."""
    lags = await consumers.find_lags(tx, [index.name for index in INDEXES])
    rebuilding = [index for index in INDEXES if await indexing.needs_rebuild(tx, index)]
    return [index for index in INDEXES if index.name in lags], rebuilding


async def _handle_events(index: SearchIndex, budget: Budget, state: AppState) -> int:
    indexer, now_us = Indexer(index, budget), state.clock.now_us()
    step = await state.database.write_in_background(
        lambda tx: consumers.run_step(tx, indexer, now_us)
    )
    return step.event_count


async def _rebuild(index: SearchIndex, budget: Budget, state: AppState) -> int:
    return await state.database.write_in_background(Indexer(index, budget).rebuild)
