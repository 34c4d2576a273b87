"""Keeps the clocks of tickets: in the transaction of whatever changes a ticket."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sealdesk.caller import SYSTEM, Caller
from sealdesk.clock import iso
from sealdesk.db.engine import Tx
from sealdesk.event_log import events
from sealdesk.tickets.notifications import notify
from sealdesk.tickets.notifications.types import Kind
from sealdesk.tickets.promises import rules, store
from sealdesk.tickets.promises.types import Promises
from sealdesk.tickets.ticket import clocks, documents
from sealdesk.tickets.ticket.clocks import Alert, AlertKind
from sealdesk.tickets.ticket.store import history
from sealdesk.tickets.ticket.store.tickets import TicketAndCustomer
from sealdesk.tickets.ticket.types import Ticket

_NOTIFICATIONS: dict[AlertKind, Kind] = {
    "ticket.sla_warning": "due_soon",
    "ticket.sla_breached": "late",
}


async def begin(tx: Tx, ticket: Ticket, email: str, *, is_old: bool) -> Ticket:
    """A new ticket with its clocks. is_old: what is over already is not announced."""
    promises = await store.read(tx, ticket.tenant_id, [ticket.team_id])
    started = rules.clocks_at(ticket, email, promises, ticket.created_at)
    if started is not None and is_old:
        started = rules.silenced(started, ticket.updated_at)
    return rules.with_clocks(ticket, started)


async def go_on(
    tx: Tx, caller: Caller, before: Ticket, after: Ticket, reference: bytes, *, at: int, now_us: int
) -> Ticket:
    """A changed ticket with its clocks. What was over before the change is announced.

    reference: of its customer. at: when the change happened.
    """
    if before.clocks is None and not caller.has_policies:
        return after
    promises = await store.read(tx, caller.tenant_id, [after.team_id])
    return rules.with_clocks(
        after, await _go_on(tx, before, after, reference, promises, at, now_us)
    )


async def _go_on(
    tx: Tx,
    before: Ticket,
    after: Ticket,
    reference: bytes,
    promises: Promises,
    at: int,
    now_us: int,
) -> clocks.Clocks | None:
    if before.clocks is not None:
        told, alerts = clocks.told(before.clocks, at)
        await announce(tx, before, reference, alerts, now_us)
        after = msgspec.structs.replace(after, clocks=told)
    return rules.clocks_at(after, email_of(reference), promises, at)


async def renew(tx: Tx, tenant_id: str, found: Sequence[TicketAndCustomer], now_us: int) -> None:
    """Give tickets what is promised now: their policy, hours or customer is another one.

    What was over before is announced; what is over already by the new promise is not.
    """
    promises = await store.read(tx, tenant_id, [each.ticket.team_id for each in found])
    for stored in found:
        await _renew(tx, stored, promises, now_us)


async def _renew(tx: Tx, stored: TicketAndCustomer, promises: Promises, now_us: int) -> None:
    ticket = before = stored.ticket
    if before.clocks is not None:
        told, alerts = clocks.told(before.clocks, now_us)
        await announce(tx, before, stored.reference, alerts, now_us)
        ticket = msgspec.structs.replace(ticket, clocks=told)
    renewed = rules.clocks_at(ticket, email_of(stored.reference), promises, now_us)
    silent = None if renewed is None else rules.silenced(renewed, now_us)
    after = rules.with_clocks(before, silent)
    if after is not before:
        after = msgspec.structs.replace(after, version=before.version + 1)
        await store.store_renewed(tx, before, after)


async def announce(
    tx: Tx, ticket: Ticket, reference: bytes, alerts: list[Alert], now_us: int
) -> None:
    """Record warnings and breaches of a ticket as events and in its history, and notify its
    assignee."""
    if not alerts:
        return
    document = documents.with_customer(documents.ready_document(ticket), reference)
    in_history = {"sla": (None, [[each.kind, each.target, iso(each.due_us)] for each in alerts])}
    await history.add(tx, ticket, SYSTEM, in_history, now_us)
    for each in alerts:
        changes: dict[str, Any] = {each.target: (iso(each.due_us), None)}
        await events.record(tx, ticket.tenant_id, each.kind, document, changes, now_us)
    for kind in dict.fromkeys(each.kind for each in alerts):
        await notify.reminded(tx, ticket, _NOTIFICATIONS[kind], now_us)


def email_of(reference: bytes) -> str:
    """The e-mail address of a customer as a ticket shows them."""
    return str(msgspec.json.decode(reference)["email"])
