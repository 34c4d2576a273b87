"""A consumer of the event log that counts the tickets that events tell of."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter

from sealdesk.db.engine import Database, Tx
from sealdesk.event_log import consumers, positions
from sealdesk.event_log.consumers import LogEvent, decode_about
from sealdesk.reports.steps import actions, store

_COUNTED = (
    *("ticket.created", "ticket.updated", "ticket.status_changed", "ticket.rated"),
    "reply.created",
)
_TENANT = attrgetter("tenant_id")
MAX_AHEAD = 1_000  # events
_STEP_EVENTS = 150  # that are counted in one transaction, for which other writes wait


class ReportCounter:
    """Counts the tickets of new events. tenant_id: of this tenant, else of all tenants.

    A ticket is counted as it is, whatever the event says, so handling events late or again changes
    nothing. So those of many events may be counted ahead, desk by desk: the tickets of a desk
    change the same sums.
    """

    name = "reports"
    batch_size = 200
    reads_objects = True

    def __init__(self, tenant_id: str = "") -> None:
        self.tenant_id = tenant_id

    async def count_ahead(self, database: Database) -> int:
        """Count the tickets of many events in short transactions; how many events.

        0 if some were pruned, from which `run_step` recovers.
        """
        position = await database.read(self._find_position)
        events = await self._list_ahead(database, position)
        if not events or events[-1].log_position - position != len(events):
            return 0
        for some in in_steps(events):
            await database.write(partial(_count_all, events=some))
        await database.write(partial(self._pass, reached=events[-1].log_position))
        return len(events)

    async def _list_ahead(self, database: Database, position: int) -> list[LogEvent]:
        events: list[LogEvent] = []
        while len(events) < MAX_AHEAD:
            after = events[-1].log_position if events else position
            found = await database.read(partial(consumers.list_next, consumer=self, position=after))
            events += found
            if len(found) < self.batch_size:
                break
            await asyncio.sleep(0)  # yields to requests between two reads
        return events

    async def _find_position(self, tx: Tx) -> int:
        stored = await positions.list_positions(tx, self.tenant_id)
        return stored.get(self.name, 0)

    async def _pass(self, tx: Tx, reached: int) -> None:
        # Another process may have counted them too, and have gone further.
        if await consumers.hold(tx, self) and await self._find_position(tx) < reached:
            await positions.store_position(tx, self.name, reached, self.tenant_id)

    async def wants_any(self, tx: Tx, first: int, last: int) -> bool:
        return True

    async def handle(self, tx: Tx, events: Sequence[LogEvent], now_us: int) -> int:
        for some in in_steps(events):
            await _count_all(tx, some)
        return len(events)

    async def recover(self, tx: Tx) -> None:
        if self.tenant_id:
            await store.begin_rebuild(tx, self.tenant_id)
        else:
            await store.begin_all(tx)


def in_steps(events: Iterable[LogEvent]) -> Iterator[list[LogEvent]]:
    """The events that count, desk by desk."""
    counting = sorted((event for event in events if event.type in _COUNTED), key=_TENANT)
    for first in range(0, len(counting), _STEP_EVENTS):
        yield counting[first : first + _STEP_EVENTS]


async def _count_all(tx: Tx, events: Iterable[LogEvent]) -> None:
    for tenant_id, of_tenant in groupby(events, key=_TENANT):
        await _count(tx, tenant_id, [*of_tenant])


async def _count(tx: Tx, tenant_id: str, events: Sequence[LogEvent]) -> None:
    await store.lock(tx, tenant_id)
    rebuild = await store.find_rebuild(tx, tenant_id)
    if rebuild is not None and rebuild.is_clearing:
        return  # all tickets are counted when the old rows are gone
    types: dict[str, set[str]] = defaultdict(set)
    for event in events:
        about = decode_about(event.object)
        types[about.ticket_id if event.type == "reply.created" else about.id].add(event.type)
    changed = {each for each, of_ticket in types.items() if "ticket.status_changed" in of_ticket}
    created = {each for each, of_ticket in types.items() if "ticket.created" in of_ticket}
    await actions.count(tx, tenant_id, [*types], changed, created)
