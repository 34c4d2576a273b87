"""Wakes tickets whose snooze has ended: each in a transaction of its own, once."""

from functools import partial

from sealdesk.caller import Actor
from sealdesk.db.engine import Tx
from sealdesk.event_log import events
from sealdesk.records import test_tenants
from sealdesk.state import AppState
from sealdesk.tickets import actions
from sealdesk.tickets.notifications import notify
from sealdesk.tickets.snoozing import store
from sealdesk.tickets.snoozing.store import DueTicket
from sealdesk.tickets.ticket import rules as ticket_rules
from sealdesk.tickets.ticket import snoozing as rules
from sealdesk.tickets.ticket.store import history
from sealdesk.tickets.ticket.store import tickets as ticket_store

MAX_STEP = 50
_TENANTS_AT_ONCE = 50
_NOBODY = Actor("system", "", "")


async def list_due(state: AppState) -> list[DueTicket]:
    """The next tickets to wake, at most MAX_STEP."""
    now_us = state.clock.now_us()
    return list(await state.database.read(lambda tx: store.list_ended(tx, now_us, MAX_STEP)))


class TestClocks:
    """Goes through the test tenants whose clock is ahead, some at each step."""

    def __init__(self) -> None:
        self._after = ""

    async def list_due(self, state: AppState) -> list[DueTicket]:
        """The next tickets of these tenants to wake, at most MAX_STEP of each tenant."""
        now_us, after = state.clock.now_us(), self._after

        async def work(tx: Tx) -> tuple[str, list[DueTicket]]:
            ahead = await test_tenants.list_ahead(tx, after, _TENANTS_AT_ONCE)
            due: list[DueTicket] = []
            for each in ahead:
                tenant_us = now_us + each.clock_offset_us
                due += await store.list_ended_of(tx, each.tenant_id, tenant_us, MAX_STEP)
            return ahead[-1].tenant_id if len(ahead) == _TENANTS_AT_ONCE else "", due

        self._after, found = await state.database.read(work)
        return found


async def wake_due(due: DueTicket, state: AppState) -> int:
    """Wake a ticket unless somebody has done so; how many tickets."""
    now_us = state.clock.now_us()
    return await state.database.write(partial(wake, due=due, real_us=now_us))


async def wake(tx: Tx, due: DueTicket, real_us: int) -> int:
    """The work of one transaction; how many tickets."""
    now_us = real_us + await test_tenants.find_offset_us(tx, due.tenant_id)
    stored = await ticket_store.find(tx, due.tenant_id, due.id)
    if stored is None or not rules.is_over(stored.ticket.snoozed_until, now_us):
        return 0
    update = ticket_rules.wake(stored.ticket, now_us)
    document = await store.wake(tx, update.before, update.after)
    view = actions.view_of(stored._replace(ticket=update.after), document)
    await history.add(tx, update.after, _NOBODY, update.changes, now_us)
    await events.record(tx, due.tenant_id, "ticket.updated", view.json, update.changes, now_us)
    await notify.reminded(tx, update.after, "woken", now_us)
    return 1
