"""The event log where tables are distributed over nodes: each tenant's feed is a log of its own.

There a commit on two nodes is not seen at one moment, so events of several tenants have no order. A
look finds tenants with new events; a turn gives those of one tenant their positions and runs the
consumers, each step on the node of the tenant.
"""

import asyncio
from collections.abc import Callable
from functools import partial

from sealdesk import ids
from sealdesk.automation.steps.queueing import RuleQueue
from sealdesk.db.engine import Tx
from sealdesk.event_log import consumers
from sealdesk.event_log.consumers import Consumer
from sealdesk.mail.ratings import asking
from sealdesk.mail.sending.queueing import MailQueue
from sealdesk.reports.steps.counting import ReportCounter
from sealdesk.search import indexing
from sealdesk.search.indexing import BESIDE_REQUESTS, INDEXES, Budget, Indexer
from sealdesk.search.store import documents, rebuilds
from sealdesk.search.store.documents import SearchIndex
from sealdesk.state import AppState
from sealdesk.webhooks.delivery import fan_out
from sealdesk.webhooks.delivery.fan_out import FanOut
from sealdesk.webhooks.store.fan_out import Backlog, find_backlog_of
from sealdesk.worker.log_tasks import SHORTEST_REST_S, next_rest_s
from sealdesk.worker.steps import attempt
from sealdesk.worker.turns import Turns
from sealdesk_citus import store
from sealdesk_citus.transaction import DistributedTx

_BATCH_EVENTS = 200
_MAX_FOUND = 200  # tenants of one look
_PLACED_AT_ONCE = 6
_INDEXED_AT_ONCE = 2  # so that the search delays no webhooks
# For what a killed process has left: it compares the positions of all tenants.
FIND_BEHIND_EVERY_S = 5.0
_CONSUMERS = 4 + len(INDEXES)
_TELL_EVERY_S = 0.1


class TenantLogs:
    """Sequences the events of all tenants, and runs their consumers.

    on_deliveries, on_messages: called after a step that handled events of webhooks, of e-mail.
    """

    def __init__(
        self, state: AppState, on_deliveries: Callable[[], None], on_messages: Callable[[], None]
    ) -> None:
        self._state = state
        self._on_deliveries = on_deliveries
        self._on_messages = on_messages
        self._placing = Turns(self._place, _PLACED_AT_ONCE)
        self._indexing = Turns(self._index, _INDEXED_AT_ONCE)
        # Set at first: another process may have ended before it told.
        self._has_grown = asyncio.Event()
        self._has_grown.set()
        # Behind which tenant the next look goes on, when one found as many as it may.
        self._pending_after = self._behind_after = ""

    async def run(self) -> None:
        """Run until cancelled; the failure of a step ends nothing."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._placing.run())
            group.create_task(self._indexing.run())
            group.create_task(self._keep_looking())
            group.create_task(self._keep_finding_behind())
            group.create_task(self._keep_telling())

    async def continue_backlogs(self, state: AppState) -> int:
        """Make the next deliveries of the backlogs whose turn it is; how many backlogs."""
        now_us = state.clock.now_us()
        return await state.database.write(lambda tx: _continue_backlogs(tx, now_us))

    async def update_indexes(self, state: AppState, budget: Budget) -> int:
        """Continue the rebuilds; turns handle the events."""
        done = 0
        for index in INDEXES:
            step = partial(_rebuild_next, index, budget)
            done += await attempt(step, state, index.name)
        return done

    async def _keep_looking(self) -> None:
        rest_s = SHORTEST_REST_S
        while True:
            found = await attempt(self._find_pending, self._state, "sequencer")
            rest_s = next_rest_s(rest_s, found)
            await asyncio.sleep(rest_s)

    async def _keep_finding_behind(self) -> None:
        while True:
            await attempt(self._find_behind, self._state, "event log")
            await asyncio.sleep(FIND_BEHIND_EVERY_S)

    async def _keep_telling(self) -> None:
        """Tell serving processes, for the pages that are open, that some feeds have grown."""
        while True:
            await self._has_grown.wait()
            self._has_grown.clear()
            if not await attempt(_tell, self._state, "live pages"):
                self._has_grown.set()
            await asyncio.sleep(_TELL_EVERY_S)

    async def _find_pending(self, state: AppState) -> int:
        after = self._pending_after
        tenants = await state.database.read(
            lambda tx: store.list_pending_tenants(tx, after, _MAX_FOUND)
        )
        self._pending_after = tenants[-1] if len(tenants) == _MAX_FOUND else ""
        self._placing.add(tenants)
        return len(tenants)

    async def _find_behind(self, state: AppState) -> int:
        after = self._behind_after
        tenants = await state.database.read(
            lambda tx: store.list_behind(tx, after, _CONSUMERS, _MAX_FOUND)
        )
        self._behind_after = tenants[-1] if len(tenants) == _MAX_FOUND else ""
        self._placing.add(tenants)
        self._indexing.add(tenants)
        oldest = await state.database.read(store.find_oldest_pending)
        now_us = state.clock.now_us()
        oldest_at = ids.instant_of(oldest) if oldest else now_us
        state.metrics.set_waiting(max(0, now_us - oldest_at) / 1_000_000)
        return len(tenants)

    async def _place(self, tenant_id: str) -> bool:
        """Give events their positions, and let webhooks and e-mail have them."""
        placed = await attempt(partial(place_of, tenant_id=tenant_id), self._state, "sequencer")
        if placed:
            self._has_grown.set()
            self._indexing.add([tenant_id])
        has_more = [
            await self._attempt_step(FanOut(tenant_id), self._on_deliveries),
            await self._attempt_step(
                MailQueue(asking.list_questions, tenant_id), self._on_messages
            ),
            await self._attempt_step(RuleQueue(tenant_id), _ignore),
        ]
        return placed >= _BATCH_EVENTS or any(has_more)

    async def _index(self, tenant_id: str) -> bool:
        """Keep the indexes of the search and the sums of reports, which nobody waits for."""
        indexers = [Indexer(index, BESIDE_REQUESTS, tenant_id) for index in INDEXES]
        late: list[Consumer] = [*indexers, ReportCounter(tenant_id)]
        return any([await self._attempt_step(each, _ignore) for each in late])

    async def _attempt_step(self, consumer: Consumer, on_progress: Callable[[], None]) -> bool:
        """Let a consumer handle its next events; whether there may be more."""

        async def run_step(state: AppState) -> int:
            now_us = state.clock.now_us()
            step = await state.database.write(lambda tx: consumers.run_step(tx, consumer, now_us))
            if step.event_count:
                on_progress()
            return step.has_more

        return bool(await attempt(run_step, self._state, consumer.name))


async def place_of(state: AppState, tenant_id: str) -> int:
    """Give the oldest events of a tenant that have none their positions; how many."""
    return await state.database.write(
        lambda tx: store.place_pending_of(tx, tenant_id, _BATCH_EVENTS)
    )


async def _tell(state: AppState) -> int:
    await state.database.write(store.note_growth)
    return 1


async def _continue_backlogs(tx: Tx, now_us: int) -> int:
    backlogs = await fan_out.hold_next_backlogs(tx)
    held = [await _hold_backlog(tx, backlog.tenant_id) for backlog in backlogs]
    return await fan_out.continue_each(tx, [each for each in held if each is not None], now_us)


async def _hold_backlog(tx: Tx, tenant_id: str) -> Backlog | None:
    """The backlog of a tenant, which nobody extends meanwhile."""
    if not await consumers.hold(tx, FanOut(tenant_id)):
        return None
    return await find_backlog_of(tx, tenant_id)


async def has_tenant_logs(state: AppState) -> bool:
    """Whether tables are distributed over nodes, once the database answers."""

    async def look(state: AppState) -> int:
        return 1 + await state.database.read(_is_distributed)

    while True:
        found = await attempt(look, state, "event log")
        if found:
            return found > 1


async def _is_distributed(tx: Tx) -> bool:
    return isinstance(tx, DistributedTx)


def _ignore() -> None:
    """The search and the rules wake nobody."""


async def _rebuild_next(index: SearchIndex, budget: Budget, state: AppState) -> int:
    """Index the next objects of a rebuild, of one tenant; how many."""
    if not await state.database.read(lambda tx: indexing.needs_rebuild(tx, index)):
        return 0
    return await state.database.write(lambda tx: _rebuild(tx, index, budget))


async def _rebuild(tx: Tx, index: SearchIndex, budget: Budget) -> int:
    if not await consumers.hold(tx, Indexer(index, budget)):
        return 0
    rebuilt = await rebuilds.find_rebuild(tx, index.name)
    if rebuilt is None:
        return 0
    keys = await documents.list_after(tx, index, rebuilt, budget.documents)
    if not keys:
        await rebuilds.store_rebuild(tx, index.name, None)
        return 0
    # Of the first tenant, without its events meanwhile.
    of_tenant = [key for key in keys if key.tenant_id == keys[0].tenant_id]
    if not await consumers.hold(tx, Indexer(index, budget, keys[0].tenant_id)):
        return 0
    written = await documents.update(tx, index, of_tenant, budget.chars)
    await rebuilds.store_rebuild(tx, index.name, of_tenant[written.documents - 1])
    return written.documents
