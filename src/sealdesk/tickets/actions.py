"""What happens to tickets; each is one transaction's worth of work."""

from typing import NamedTuple

from sealdesk import ids
from sealdesk.caller import Caller
from sealdesk.customers import actions as customers
from sealdesk.db.engine import Tx
from sealdesk.errors import Fault, NotFound, PreconditionFailed, invalid
from sealdesk.event_log import events
from sealdesk.paging import PageRequest
from sealdesk.resources import etags, fields
from sealdesk.tickets import rules
from sealdesk.tickets.store import history
from sealdesk.tickets.store import tickets as ticket_store
from sealdesk.tickets.store.tickets import Shown, TicketAndCustomer
from sealdesk.tickets.types import (
    Author,
    AuthorType,
    NewReply,
    NewTicket,
    Reply,
    Source,
    Ticket,
    TicketChange,
)


class Opened(NamedTuple):
    """A ticket that was just opened."""

    id: str
    shown: Shown


async def open_ticket(
    tx: Tx, caller: Caller, new: NewTicket, *, source: Source, now_us: int
) -> Opened:
    """A new ticket, with its customer found or added. Raises Invalid for an unknown assignee."""
    await _check_assignee(tx, caller.tenant_id, new.assignee_id)
    email, name = new.customer.email, new.customer.name
    number, found = await ticket_store.draw_number(tx, caller.tenant_id, email)
    customer = await customers.add_or_name(
        tx, caller.tenant_id, found, email=email, name=name, now_us=now_us
    )
    ticket = _ticket(new, caller.tenant_id, number, customer.id, source=source, now_us=now_us)
    document = await ticket_store.add(tx, ticket)
    shown = Shown(
        rules.with_customer(document, customer.reference),
        rules.etag(ticket.version, customer.version),
    )
    await events.record(
        tx, ticket.tenant_id, "ticket.created", shown.document, events.NO_CHANGES, now_us
    )
    return Opened(ticket.id, shown)


def _ticket(
    new: NewTicket, tenant_id: str, number: int, customer_id: str, *, source: Source, now_us: int
) -> Ticket:
    return Ticket(
        tenant_id=tenant_id,
        id=ids.mint(now_us),
        number=number,
        subject=new.subject,
        description=new.description,
        status=new.status,
        priority=new.priority,
        source=source,
        customer_id=customer_id,
        assignee_id=new.assignee_id,
        tags=rules.distinct(new.tags),
        custom_fields=new.custom_fields or {},
        external_id=new.external_id,
        reply_count=0,
        created_at=now_us,
        updated_at=now_us,
        first_response_at=None,
        resolved_at=now_us if new.status == "resolved" else None,
        closed_at=None,
        version=1,
    )


async def change_ticket(
    tx: Tx,
    caller: Caller,
    ticket_id: str,
    change: TicketChange,
    *,
    if_match: tuple[str, ...] | None,
    now_us: int,
) -> Shown:
    """The ticket after the change. Raises Missing, Stale, Clash, Invalid."""
    found = await _get(tx, caller.tenant_id, ticket_id)
    ticket = found.ticket
    etags.check_match(if_match, rules.etag(ticket.version, found.customer_version))
    changed = rules.changed(ticket, change, now_us)
    if changed is ticket:
        return _shown(found, ticket, rules.document(ticket))
    if fields.check_object(changed.custom_fields):
        raise invalid(
            [Fault("/custom_fields", "too_large", "Together this is over 16 KiB of JSON.")]
        )
    if changed.assignee_id != ticket.assignee_id:
        await _check_assignee(tx, caller.tenant_id, changed.assignee_id)
    document = await ticket_store.replace(tx, ticket, changed)
    shown = _shown(found, changed, document)
    await _record_change(tx, caller, _Change(ticket, changed, shown), now_us)
    return shown


async def reply(tx: Tx, caller: Caller, ticket_id: str, new: NewReply, *, now_us: int) -> Reply:
    """A new reply and what it does to its ticket. Raises Missing, Clash."""
    return await _reply(tx, caller, await _get(tx, caller.tenant_id, ticket_id), new, now_us)


async def _reply(
    tx: Tx, caller: Caller, found: TicketAndCustomer, new: NewReply, now_us: int
) -> Reply:
    ticket = found.ticket
    written = Reply(
        tenant_id=caller.tenant_id,
        ticket_id=ticket.id,
        id=ids.mint(now_us),
        body=new.body,
        is_internal=new.is_internal,
        author=_author(caller, new, found),
        created_at=now_us,
    )
    replied = rules.replied(ticket, written, now_us)
    await ticket_store.add_reply(tx, written)
    document = await ticket_store.replace(tx, ticket, replied)
    reply_document = rules.reply_document(written)
    await events.record(
        tx, ticket.tenant_id, "reply.created", reply_document, events.NO_CHANGES, now_us
    )
    if replied.status != ticket.status:
        shown = _shown(found, replied, document)
        await _record_change(tx, caller, _Change(ticket, replied, shown), now_us)
    return written


async def send_reply(
    tx: Tx,
    caller: Caller,
    ticket_id: str,
    new: NewReply,
    after: TicketChange,
    *,
    seen: str,
    now_us: int,
) -> Reply:
    """A reply by who has read the conversation up to a reply, and a change of the ticket with it.

    seen: the newest reply's id, "" for none. Raises Missing, Stale, Clash.
    """
    # The ticket first: whoever replies after it was read overtakes this change of it.
    found, newest = await _get(tx, caller.tenant_id, ticket_id), PageRequest(1, None)
    replies = await ticket_store.list_replies(
        tx, caller.tenant_id, ticket_id, newest, is_internal=None, newest_first=True
    )
    if seen != (replies[0].id if replies else ""):
        raise PreconditionFailed(
            "version_mismatch", "There is a newer reply than the one that was seen."
        )
    written = await _reply(tx, caller, found, new, now_us)
    if after != TicketChange():
        await change_ticket(tx, caller, ticket_id, after, if_match=None, now_us=now_us)
    await history.end_answering(tx, caller.tenant_id, ticket_id, caller.actor.id)
    return written


async def get_shown(tx: Tx, tenant_id: str, ticket_id: str) -> Shown:
    """A ticket as ready JSON. Raises Missing."""
    shown = await ticket_store.find_shown(tx, tenant_id, ticket_id)
    if shown is None:
        raise NotFound
    return shown


async def _get(tx: Tx, tenant_id: str, ticket_id: str) -> TicketAndCustomer:
    found = await ticket_store.find(tx, tenant_id, ticket_id)
    if found is None:
        raise NotFound
    return found


async def _check_assignee(tx: Tx, tenant_id: str, user_id: str | None) -> None:
    if user_id is None or await ticket_store.is_assignable(tx, tenant_id, user_id):
        return
    words = "There is no such active agent; GET /api/v1/external/agents lists them."
    raise invalid([Fault("/assignee_id", "unknown_assignee", words)])


def _author(caller: Caller, new: NewReply, found: TicketAndCustomer) -> Author:
    if new.author is not None and new.author.type == "customer":
        return Author("customer", found.ticket.customer_id, found.customer_name)
    kind: AuthorType = "api_key" if caller.actor.kind == "api_key" else "agent"
    return Author(kind, caller.actor.id, caller.actor.name)


def _shown(found: TicketAndCustomer, ticket: Ticket, document: bytes) -> Shown:
    return Shown(
        rules.with_customer(document, found.reference),
        rules.etag(ticket.version, found.customer_version),
    )


class _Change(NamedTuple):
    before: Ticket
    after: Ticket
    shown: Shown


async def _record_change(tx: Tx, caller: Caller, change: _Change, now_us: int) -> None:
    changes = rules.differences(change.before, change.after)
    tenant_id, document = caller.tenant_id, change.shown.document
    await history.add(tx, change.after, caller.actor, changes, now_us)
    await events.record(tx, tenant_id, "ticket.updated", document, changes, now_us)
    if "status" in changes:
        moved = {"status": changes["status"]}
        await events.record(tx, tenant_id, "ticket.status_changed", document, moved, now_us)
