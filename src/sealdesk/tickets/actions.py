"""What happens to tickets; each action is one transaction's worth of work."""

from typing import NamedTuple

import msgspec

from sealdesk import ids
from sealdesk.caller import Caller
from sealdesk.customers import actions as customers
from sealdesk.db.engine import Tx
from sealdesk.errors import Fault, PreconditionFailed, invalid, must_exist
from sealdesk.event_log import events
from sealdesk.event_log.events import Changes
from sealdesk.resources import representation
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets import checks
from sealdesk.tickets.attachments import actions as attachments
from sealdesk.tickets.custom_fields import actions as custom_fields
from sealdesk.tickets.custom_fields.rules import Values
from sealdesk.tickets.followers import store as followers
from sealdesk.tickets.notifications import notify
from sealdesk.tickets.promises import keeping
from sealdesk.tickets.ticket import documents, rules
from sealdesk.tickets.ticket.errors import FIELD_CHANGED, NEWER_REPLY
from sealdesk.tickets.ticket.store import history, reads, replies, replying
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.tickets.ticket.store.tickets import TicketAndCustomer, TicketView
from sealdesk.tickets.ticket.types import (
    AttachmentRef,
    FromMail,
    NewReply,
    NewTicket,
    Reply,
    SeenChange,
    Source,
    Ticket,
    TicketChange,
    TicketUpdate,
)

_CHANGES_SINCE_UNDONE = 50  # an undo is offered for 10 seconds


class OpenedTicket(NamedTuple):
    """The id of a new ticket, and the ticket as the API shows it."""

    id: str
    view: TicketView


async def open_ticket(
    tx: Tx,
    caller: Caller,
    new: NewTicket,
    *,
    source: Source,
    now_us: int,
    arrived_at: int | None = None,
) -> OpenedTicket:
    """A new ticket; its customer is found or added. Raises ValidationFailed.

    arrived_at: when a mail server took it, if that was before now.
    """
    is_history = new.created_at is not None
    created_at = _written_at(new.created_at, arrived_at, now_us, 0)
    await _check_new(tx, caller, new)
    email, name = new.customer.email, new.customer.name
    number, known = await ticket_store.draw_number(tx, caller.tenant_id, email)
    customer = await customers.ensure_customer(
        tx, caller.tenant_id, known, email=email, name=name, now_us=now_us
    )
    attached = await _find_attached(tx, caller.tenant_id, new.attachment_ids, created_at)
    ticket = rules.new_ticket(
        new,
        tenant_id=caller.tenant_id,
        ticket_id=ids.mint(created_at),
        number=number,
        customer_id=customer.id,
        source=source,
        attachments=attached,
        created_at=created_at,
        now_us=now_us,
        key_id=caller.actor.id if caller.actor.kind == "api_key" else None,
    )
    if caller.has_policies:
        ticket = await keeping.begin(tx, ticket, email, is_old=is_history)
    document = await _add(tx, ticket)
    etag = documents.etag(ticket.version, customer.version)
    view = TicketView(documents.with_customer(document, customer.reference), etag)
    event_at = created_at if is_history and source == "email" else now_us
    await events.record_new(tx, ticket.tenant_id, "ticket.created", view.json, event_at, now_us)
    if ticket.assignee_id is not None and not is_history:
        await notify.assigned(tx, caller, ticket, now_us)
    return OpenedTicket(ticket.id, view)


async def _add(tx: Tx, ticket: Ticket) -> bytes:
    """Store a new ticket with its attachments; its document."""
    document = await ticket_store.add(tx, ticket)
    for each in ticket.attachments:
        await attachments.link(tx, ticket.tenant_id, each.id, ticket_id=ticket.id)
    return document


async def _check_new(tx: Tx, caller: Caller, new: NewTicket) -> None:
    if (new.assignee_id, new.team_id) != (None, None):
        await checks.check_new(tx, caller.tenant_id, new)
    if caller.has_custom_fields:
        values = Values({}, new.custom_fields or {}, new.status == "resolved")
        await custom_fields.check_values(tx, caller.tenant_id, values)
    if new.snoozed_until is not None:
        await checks.check_snoozed(tx, caller.tenant_id)


def _written_at(
    imported_at: str | None, arrived_at: int | None, now_us: int, newest_us: int
) -> int:
    if imported_at is not None:
        return rules.written_at(imported_at, now_us, newest_us=newest_us)
    # Behind the newest message, which people have seen: it would count as read, or stand before it.
    return now_us if arrived_at is None else min(now_us, max(arrived_at, newest_us + 1))


async def change_ticket(
    tx: Tx,
    caller: Caller,
    ticket_id: str,
    change: TicketChange,
    *,
    if_match: tuple[str, ...] | None,
    now_us: int,
) -> TicketView:
    """The ticket after the change.

    Raises NotFound, PreconditionFailed, Conflict, ValidationFailed.
    """
    stored = await get_ticket(tx, caller.tenant_id, ticket_id)
    representation.check_match(if_match, stored.etag)
    await checks.check_not_merged(tx, stored.ticket)
    return await apply_change(tx, caller, stored, change, now_us)


async def change_fields(
    tx: Tx, caller: Caller, ticket_id: str, wanted: SeenChange, now_us: int
) -> TicketAndCustomer:
    """The ticket before a change of fields that nobody has changed since they were seen.

    Raises NotFound, PreconditionFailed, Conflict, ValidationFailed.
    """
    stored = await get_ticket(tx, caller.tenant_id, ticket_id)
    rules.check_seen(stored.ticket, wanted)
    if wanted.undone_id:
        await _check_undo(tx, caller.tenant_id, ticket_id, wanted)
    await apply_change(tx, caller, stored, wanted.change, now_us)
    return stored


async def reply(
    tx: Tx,
    caller: Caller,
    ticket_id: str,
    new: NewReply,
    *,
    now_us: int,
    needs_recipient: bool = False,
    about_author_id: str = "",
    arrived_at: int | None = None,
) -> Reply:
    """A new reply, and what it changes of its ticket. Raises NotFound, Conflict.

    needs_recipient: whether it is refused when nobody can get it. about_author_id: the user whose
    reply a note is about, who is notified. arrived_at: see `open_ticket`.
    """
    stored = await get_ticket(tx, caller.tenant_id, ticket_id)
    if needs_recipient:
        await checks.check_recipients(tx, stored.ticket, new)
    written, _ = await _reply(
        tx, caller, stored, new, now_us, about_author_id=about_author_id, arrived_at=arrived_at
    )
    return written


async def send_reply(
    tx: Tx,
    caller: Caller,
    ticket_id: str,
    new: NewReply,
    wanted: SeenChange,
    *,
    last_seen_id: str,
    now_us: int,
) -> Reply:
    """A reply from the ticket's page, and a change of the ticket with it.

    Whoever answers a ticket of nobody follows it, or takes it.
    last_seen_id: of the newest reply that the page showed, "" for none.
    Raises NotFound, PreconditionFailed, Conflict.
    """
    # The ticket is read first: of two who reply at once, the second is stopped by its version.
    stored, newest = await get_ticket(tx, caller.tenant_id, ticket_id), PageRequest(1, None)
    listed = await replies.list_replies(
        tx, caller.tenant_id, ticket_id, newest, is_internal=None, newest_first=True
    )
    if last_seen_id != (listed[0].id if listed else ""):
        if listed and rules.is_same_reply(listed[0], new, caller.actor.id):
            return listed[0]  # sent again, as the response to the first was lost
        raise PreconditionFailed(NEWER_REPLY)
    rules.check_seen(stored.ticket, wanted)
    await checks.check_recipients(tx, stored.ticket, new)
    written, replied = await _reply(tx, caller, stored, new, now_us)
    change, user_id = wanted.change, caller.actor.id
    if stored.ticket.assignee_id is None and not new.is_internal:
        if not wanted.takes:
            await followers.add(tx, caller.tenant_id, ticket_id, user_id)
        elif change.assignee_id is msgspec.UNSET:
            change = msgspec.structs.replace(change, assignee_id=user_id)
    if change != TicketChange():
        await apply_change(tx, caller, replied, change, now_us)
    await replying.clear_replying(tx, caller.tenant_id, ticket_id, caller.actor.id)
    seen_at = replied.ticket.last_message_at or now_us
    await reads.record_read(tx, caller.tenant_id, caller.actor.id, ticket_id, seen_at)
    return written


async def get_view(tx: Tx, tenant_id: str, ticket_id: str) -> TicketView:
    """A ticket as the API shows it. Raises NotFound."""
    return must_exist(await ticket_store.find_view(tx, tenant_id, ticket_id))


async def get_ticket(tx: Tx, tenant_id: str, ticket_id: str) -> TicketAndCustomer:
    """Raises NotFound."""
    return must_exist(await ticket_store.find(tx, tenant_id, ticket_id))


async def _check_undo(tx: Tx, tenant_id: str, ticket_id: str, wanted: SeenChange) -> None:
    """Raises PreconditionFailed when a field was changed again, even back to the value seen."""
    page = PageRequest(_CHANGES_SINCE_UNDONE, None)
    later = []
    for entry in await history.list_changes(tx, tenant_id, ticket_id, page):
        if entry.id == wanted.undone_id:
            break
        later.append(entry)
    else:
        raise PreconditionFailed(FIELD_CHANGED)
    if any(name in entry.changes for entry in later for name in wanted.names()):
        raise PreconditionFailed(FIELD_CHANGED)


async def apply_change(
    tx: Tx,
    caller: Caller,
    stored: TicketAndCustomer,
    change: TicketChange,
    now_us: int,
    *,
    in_history: Changes | None = None,
) -> TicketView:
    """in_history: what the history says beside or instead of the changes."""
    ticket = stored.ticket
    update = rules.apply_change(ticket, change, now_us)
    if not update.changes:
        return view_of(stored, documents.ready_document(ticket))
    changed = update.after
    if representation.check_object(changed.custom_fields):
        raise invalid([Fault("/custom_fields", "too_large", representation.TOGETHER_TOO_LARGE)])
    if caller.has_custom_fields:
        is_resolved = "status" in update.changes and changed.status == "resolved"
        values = Values(ticket.custom_fields, changed.custom_fields, is_resolved)
        await custom_fields.check_values(tx, caller.tenant_id, values)
    await checks.check_changed(tx, ticket, changed)
    if changed.snoozed_until is not None and ticket.snoozed_until is None:
        await checks.check_snoozed(tx, caller.tenant_id)
    changed = await keeping.go_on(
        tx, caller, ticket, changed, stored.reference, at=now_us, now_us=now_us
    )
    update = update._replace(after=changed)
    document = await ticket_store.replace(tx, ticket, changed)
    view = view_of(stored._replace(ticket=changed), document)
    await record_change(tx, caller, update, view, now_us, in_history=in_history)
    if "status" in update.changes:
        await notify.moved(tx, caller, changed, now_us)
    return view


async def _reply(
    tx: Tx,
    caller: Caller,
    stored: TicketAndCustomer,
    new: NewReply,
    now_us: int,
    *,
    about_author_id: str = "",
    arrived_at: int | None = None,
) -> tuple[Reply, TicketAndCustomer]:
    """The reply, and the ticket after it."""
    ticket = stored.ticket
    newest_us = ticket.last_message_at or ticket.created_at
    created_at = _written_at(new.created_at, arrived_at, now_us, newest_us)
    written = await _new_reply(tx, caller, stored, new, created_at)
    from_mail = _from_mail(caller, new)
    await checks.check_not_merged(tx, ticket)
    update = rules.apply_reply(ticket, written, now_us, from_mail)
    await replies.add(tx, written)
    for each in written.attachments:
        await attachments.link(
            tx, caller.tenant_id, each.id, ticket_id=ticket.id, reply_id=written.id
        )
    replied = await keeping.go_on(
        tx, caller, ticket, update.after, stored.reference, at=created_at, now_us=now_us
    )
    update = update._replace(after=replied)
    document = await ticket_store.replace(tx, ticket, replied)
    event_at = created_at if from_mail == "history" else now_us
    data = documents.reply_json(written)
    await events.record_new(tx, ticket.tenant_id, "reply.created", data, event_at, now_us)
    after = stored._replace(ticket=replied)
    if update.changes:
        await record_change(tx, caller, update, view_of(after, document), now_us)
    if new.created_at is None:
        await notify.replied(tx, caller, ticket, written, now_us, author_id=about_author_id)
    return written, after


async def _new_reply(
    tx: Tx, caller: Caller, stored: TicketAndCustomer, new: NewReply, created_at: int
) -> Reply:
    return Reply(
        tenant_id=caller.tenant_id,
        ticket_id=stored.ticket.id,
        id=ids.mint(created_at),
        body=new.body,
        is_internal=new.is_internal,
        author=await checks.get_author(tx, caller, new.author, stored),
        created_at=created_at,
        attachments=await _find_attached(tx, caller.tenant_id, new.attachment_ids, created_at),
    )


def _from_mail(caller: Caller, new: NewReply) -> FromMail | None:
    if caller.actor.kind not in ("customer", "system"):
        return None
    if new.created_at is not None:
        return "history"
    return "note" if new.is_internal else None


async def _find_attached(
    tx: Tx, tenant_id: str, attachment_ids: list[str] | None, now_us: int
) -> tuple[AttachmentRef, ...]:
    if not attachment_ids:
        return ()
    return await attachments.find_attached(tx, tenant_id, attachment_ids, now_us)


def view_of(stored: TicketAndCustomer, document: bytes) -> TicketView:
    """A ticket as the API shows it. document: its ready document."""
    return TicketView(documents.with_customer(document, stored.reference), stored.etag)


async def record_change(
    tx: Tx,
    caller: Caller,
    update: TicketUpdate,
    view: TicketView,
    now_us: int,
    *,
    in_history: Changes | None = None,
) -> None:
    """Record a stored update as events and in the history. in_history: other changes for it."""
    changes = update.changes
    if "assignee_id" in changes:
        await notify.assigned(tx, caller, update.after, now_us)
    tenant_id, document = caller.tenant_id, view.json
    shown = changes if in_history is None else in_history
    if shown:
        await history.add(tx, update.after, caller.actor, shown, now_us)
    await events.record(tx, tenant_id, "ticket.updated", document, changes, now_us)
    if "status" in changes:
        status_change = {"status": changes["status"]}
        await events.record(tx, tenant_id, "ticket.status_changed", document, status_change, now_us)
