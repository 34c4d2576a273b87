"""A consumer of the event log that counts the tickets that events tell of."""

from collections import defaultdict
from collections.abc import Sequence

from sealdesk.db.engine import Tx
from sealdesk.event_log.consumers import LogEvent, decode_about
from sealdesk.tickets.reports.steps import actions, store

_OF_TICKETS = ("ticket.created", "ticket.updated", "ticket.status_changed", "ticket.rated")


class ReportCounter:
    """Counts the tickets of new events. tenant_id: of this tenant, else of all tenants.

    A ticket is counted as it is, whatever the event says, so handling events late or again changes
    nothing.
    """

    name = "reports"
    batch_size = 200
    reads_objects = True

    def __init__(self, tenant_id: str = "") -> None:
        self.tenant_id = tenant_id

    async def wants_any(self, tx: Tx, first: int, last: int) -> bool:
        return True

    async def handle(self, tx: Tx, events: Sequence[LogEvent], now_us: int) -> int:
        by_tenant: dict[str, list[LogEvent]] = defaultdict(list)
        for event in events:
            if event.type in _OF_TICKETS or event.type == "reply.created":
                by_tenant[event.tenant_id].append(event)
        for tenant_id, of_tenant in sorted(by_tenant.items()):
            await _count(tx, tenant_id, of_tenant)
        return len(events)

    async def recover(self, tx: Tx) -> None:
        if self.tenant_id:
            await store.begin_rebuild(tx, self.tenant_id)
        else:
            await store.begin_all(tx)


async def _count(tx: Tx, tenant_id: str, events: Sequence[LogEvent]) -> None:
    await store.lock(tx, tenant_id)
    rebuild = await store.find_rebuild(tx, tenant_id)
    if rebuild is not None and rebuild.is_clearing:
        return  # all tickets are counted when the old rows are gone
    ticket_ids: dict[str, None] = {}
    maybe_reopened: set[str] = set()
    for event in events:
        about = decode_about(event.object)
        ticket_id = about.ticket_id if event.type == "reply.created" else about.id
        ticket_ids[ticket_id] = None
        if event.type == "ticket.status_changed":
            maybe_reopened.add(ticket_id)
    await actions.count(tx, tenant_id, [*ticket_ids], maybe_reopened)
