"""Wakes tickets whose snooze has ended: each in a transaction of its own, once."""

from functools import partial

from sealdesk.caller import Actor
from sealdesk.db.engine import Tx
from sealdesk.event_log import events
from sealdesk.state import AppState
from sealdesk.tickets import actions
from sealdesk.tickets.notifications import notify
from sealdesk.tickets.snoozing import changes, rules, store
from sealdesk.tickets.snoozing.store import DueTicket
from sealdesk.tickets.store import history
from sealdesk.tickets.store import tickets as ticket_store

MAX_STEP = 50
_NOBODY = Actor("system", "", "")


async def list_due(state: AppState) -> list[DueTicket]:
    """The next tickets to wake, at most MAX_STEP."""
    now_us = state.clock.now_us()
    return list(await state.database.read(lambda tx: store.list_ended(tx, now_us, MAX_STEP)))


async def wake_due(due: DueTicket, state: AppState) -> int:
    """Wake a ticket unless somebody has done so; how many tickets."""
    now_us = state.clock.now_us()
    return await state.database.write(partial(wake, due=due, now_us=now_us))


async def wake(tx: Tx, due: DueTicket, now_us: int) -> int:
    """The work of one transaction; how many tickets."""
    stored = await ticket_store.find(tx, due.tenant_id, due.id)
    if stored is None or not rules.is_over(stored.ticket.snoozed_until, now_us):
        return 0
    update = changes.wake(stored.ticket, now_us)
    document = await store.wake(tx, update.before, update.after)
    view = actions.view_of(stored._replace(ticket=update.after), document)
    await history.add(tx, update.after, _NOBODY, update.changes, now_us)
    await events.record(tx, due.tenant_id, "ticket.updated", view.json, update.changes, now_us)
    await notify.woken(tx, update.after, now_us)
    return 1
