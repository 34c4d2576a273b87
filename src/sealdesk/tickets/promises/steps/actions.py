"""One step of a desk's due times: some announcements, or some tickets by changed policies."""

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.tickets.promises import keeping
from sealdesk.tickets.promises.steps import store
from sealdesk.tickets.ticket import clocks
from sealdesk.tickets.ticket.store import tickets as ticket_store

_STEP_TICKETS = 50


async def run_step(tx: Tx, tenant_id: str, now_us: int) -> int:
    """How many tickets; 0 when nothing is to be done.

    What was announced is committed together with that it was, so each is announced once, whenever
    a process ends.
    """
    await tx.set_tenant(tenant_id)
    if not await tx.try_lock("sla", tenant_id):
        return 0
    return await _announce(tx, tenant_id, now_us) or await _renew(tx, tenant_id, now_us)


async def _announce(tx: Tx, tenant_id: str, now_us: int) -> int:
    ticket_ids = await store.list_alerted(tx, tenant_id, now_us, _STEP_TICKETS)
    for stored in await ticket_store.list_by_ids(tx, tenant_id, ticket_ids):
        ticket = stored.ticket
        if ticket.clocks is not None:
            told, alerts = clocks.told(ticket.clocks, now_us)
            after = msgspec.structs.replace(ticket, clocks=told, alert_at=told.alert_us())
            await store.store_alerted(tx, ticket, after)
            await keeping.announce(tx, ticket, stored.reference, alerts, now_us)
    return len(ticket_ids)


async def _renew(tx: Tx, tenant_id: str, now_us: int) -> int:
    """Give the next tickets the due times of changed policies."""
    reached = await store.find_renewal(tx, tenant_id, now_us)
    if reached is None:
        return 0
    ticket_ids = await store.list_unrenewed(tx, tenant_id, reached, _STEP_TICKETS)
    found = await ticket_store.list_by_ids(tx, tenant_id, ticket_ids)
    await keeping.renew(tx, tenant_id, found, now_us)
    if len(ticket_ids) < _STEP_TICKETS:
        await store.end_renewal(tx, tenant_id, reached)
    else:
        await store.store_step(tx, tenant_id, reached, ticket_ids[-1], now_us)
    return 1
