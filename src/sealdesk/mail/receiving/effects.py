"""Tickets, replies and notes of received messages; the work is part of a transaction."""

from typing import NamedTuple

import msgspec

from sealdesk import clock, ids
from sealdesk.caller import Actor, Caller, by_mail
from sealdesk.customers import actions as customers
from sealdesk.customers.types import NewCustomer
from sealdesk.db.engine import Tx
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.mail.receiving import contents, rules, texts
from sealdesk.mail.receiving.attaching import attach
from sealdesk.mail.receiving.types import (
    Agent,
    Case,
    Copy,
    Decision,
    Effect,
    FromAddress,
    Incoming,
    Thread,
)
from sealdesk.mail.sending import queueing, results
from sealdesk.mail.sending import rules as sending
from sealdesk.mail.sending.types import OutgoingMessage
from sealdesk.mail.threads import actions as threads
from sealdesk.mail.threads import store as thread_store
from sealdesk.mail.threads.types import Participant
from sealdesk.tickets import actions as tickets
from sealdesk.tickets import checks
from sealdesk.tickets.ticket.store import teams
from sealdesk.tickets.ticket.types import (
    NewReply,
    NewReplyAuthor,
    NewTicket,
    Ticket,
    TicketCustomer,
)

STRANGER = "no participant"
ADDED = "no participant, added later"
MOVED = "no participant, opened as a ticket"
IMPORTED = "imported"
BY_DESK = "imported, written by the desk"
COPY = "another mailbox has got the same message"
KNOWN_BOUNCE = "it was known that the message was not delivered"
FORWARDED = "forwarded by an agent"
COMPLAINT = "its recipient calls a message spam"
UNCONFIRMED = "the message asks to confirm a form"


class Writer(NamedTuple):
    """Who of the desk has written an old message. author: None for the desk itself."""

    caller: Caller
    author: NewReplyAuthor | None


async def apply(tx: Tx, case: Case, decision: Decision, now_us: int) -> Effect:
    """Do what was decided about a message."""
    if isinstance(decision, Effect):
        return decision
    if case.bounced is not None and decision == "record_bounce":
        return await _record_bounce(tx, case, case.bounced, now_us)
    if case.copy is not None and decision == "note_copy":
        return await _note_copy(tx, case, case.copy, now_us)
    thread = case.thread
    if case.agent is not None and decision == "open_ticket_for_customer":
        return await _open_for_customer(tx, case, case.agent, now_us)
    if thread is None or decision == "open_ticket":
        return await open_ticket(tx, case, now_us)
    if decision == "follow_up":
        return await _follow_up(tx, case, thread.ticket, now_us)
    if decision == "add_strangers_note":
        return await add_strangers_note(tx, case, thread, now_us)
    if case.agent is not None and decision in ("add_agents_reply", "add_agents_note"):
        by, is_internal = _agent_writer(case, case.agent), decision == "add_agents_note"
        return await add_reply(tx, case, thread, now_us, is_internal=is_internal, by=by)
    return await add_reply(tx, case, thread, now_us, is_internal=decision == "add_note")


async def _record_bounce(tx: Tx, case: Case, message: OutgoingMessage, now_us: int) -> Effect:
    """Store that a message came back, with its reply and as a note; or who calls it spam."""
    report = case.incoming.message.delivery_status
    reason = sending.reason_of_report(report) if report else ""
    if report is not None and report.action == "complained":
        if not message.ticket_id:
            return Effect("ignored", COMPLAINT, reason_code="complaint")
        complaint_id = await results.complain(tx, message, now_us)
        return Effect("note", COMPLAINT, message.ticket_id, complaint_id, "complaint")
    note_id = await results.bounce(tx, message, reason, now_us)
    if not message.ticket_id:
        return Effect("ignored", UNCONFIRMED)
    if note_id is None:
        return Effect("ignored", KNOWN_BOUNCE, message.ticket_id)
    return Effect("bounce", report.status if report else None, message.ticket_id, note_id)


async def _note_copy(tx: Tx, case: Case, copy: Copy, now_us: int) -> Effect:
    """Tell the ticket of a message that it came by another way too, with the files of that."""
    incoming, caller = case.incoming, results.system_caller(case.incoming.mailbox.tenant_id)
    stored = await checks.get_ongoing_ticket(tx, caller.tenant_id, copy.message.ticket_id or "")
    files = msgspec.structs.replace(incoming, files=copy.lacks)
    attached = await attach(tx, files, caller.actor, now_us)
    is_other = copy.message.mailbox_id != incoming.mailbox.id
    text = texts.also_sent_to(incoming.mailbox.address) if is_other else texts.LACKED
    new = NewReply(
        body=text + texts.left_out(attached.left_out),
        is_internal=True,
        attachment_ids=attached.ids,
    )
    note = await tickets.reply(tx, caller, stored.ticket.id, new, now_us=now_us)
    return Effect("note", COPY if is_other else rules.COPY, stored.ticket.id, note.id)


async def open_ticket(
    tx: Tx, case: Case, now_us: int, *, customer: FromAddress | None = None
) -> Effect:
    """A new ticket of the sender. customer: whom the desk has written to instead."""
    incoming, sender = case.incoming, case.sender
    attached = await attach(tx, incoming, Actor("customer", "", sender.identity), now_us)
    before = texts.by_desk(sender) if customer else ""
    of = customer or sender
    new = NewTicket(
        subject=contents.subject_of(incoming.message),
        description=contents.text_of(incoming.message, before, texts.left_out(attached.left_out)),
        customer=TicketCustomer(of.address, of.name),
        status=incoming.history.status if incoming.history else "open",
        team_id=await _find_team(tx, incoming.mailbox),
        attachment_ids=attached.ids,
        created_at=_written_at(incoming, 0),
    )
    caller = results.system_caller(incoming.mailbox.tenant_id)
    opened = await tickets.open_ticket(
        tx, caller, new, source="email", now_us=now_us, arrived_at=incoming.arrived_at
    )
    await _remember(tx, incoming, opened.id)
    await _add_people(tx, case, opened.id, _joined_at(incoming, opened.id, now_us), is_new=True)
    await _warn(tx, case, opened.id, now_us)
    reason = contents.automatic_reason(incoming)
    if incoming.history is not None:  # it gets no acknowledgement either
        reason = BY_DESK if customer else IMPORTED
    return Effect("ticket", reason, opened.id, reason_code="by_desk" if customer else None)


async def _open_for_customer(tx: Tx, case: Case, agent: Agent, now_us: int) -> Effect:
    """A new ticket of the customer whose message an agent forwards; a note says who did."""
    forward = rules.forward_in(case)
    if forward is None:
        return await open_ticket(tx, case, now_us)
    effect = await open_ticket(tx, rules.as_of_customer(case, forward), now_us)
    note = NewReply(body=texts.forwarded(agent.name, forward), is_internal=True)
    caller = _agent_writer(case, agent).caller
    await tickets.reply(tx, caller, effect.ticket_id or "", note, now_us=now_us)
    return effect._replace(reason=FORWARDED, reason_code="forwarded")


async def _follow_up(tx: Tx, case: Case, closed: Ticket, now_us: int) -> Effect:
    """A new ticket for a message to a closed one; a note in each names the other."""
    effect = await open_ticket(tx, case, now_us)
    tenant_id, ticket_id = closed.tenant_id, effect.ticket_id or ""
    number = (await tickets.get_ticket(tx, tenant_id, ticket_id)).ticket.number
    await add_note(tx, tenant_id, ticket_id, texts.follows(closed.number), now_us)
    await add_note(tx, tenant_id, closed.id, texts.is_followed(number), now_us)
    return effect


async def add_reply(
    tx: Tx,
    case: Case,
    thread: Thread,
    now_us: int,
    *,
    is_internal: bool,
    by: Writer | None = None,
) -> Effect:
    """What a participant writes: public, or internal for an automatic answer.

    by: who of the desk has written it instead.
    """
    incoming, tenant_id, ticket_id = case.incoming, thread.ticket.tenant_id, thread.ticket.id
    caller = by.caller if by else await _customer_caller(tx, tenant_id, case.sender, now_us)
    attached = await attach(tx, incoming, caller.actor, now_us)
    new = NewReply(
        body=contents.text_of(incoming.message, after=texts.left_out(attached.left_out)),
        is_internal=is_internal,
        author=by.author if by else None,
        attachment_ids=attached.ids,
        created_at=_written_at(incoming, _newest_us(thread)),
    )
    reply = await tickets.reply(
        tx, caller, ticket_id, new, now_us=now_us, arrived_at=incoming.arrived_at
    )
    await _remember(tx, incoming, ticket_id)
    joined_at = _joined_at(incoming, reply.id, now_us)
    people = [] if is_internal else await _add_people(tx, case, ticket_id, joined_at)
    reason = contents.automatic_reason(incoming)
    if by is None and rules.may_be_shared(case):
        readers = rules.readers_besides(case, people)
        await queueing.share(tx, tenant_id, reply, readers, now_us)
    return Effect("note" if is_internal else "reply", reason, ticket_id, reply.id)


async def add_strangers_note(tx: Tx, case: Case, thread: Thread, now_us: int) -> Effect:
    """A note with what somebody writes who is no participant."""
    incoming, ticket = case.incoming, thread.ticket
    caller = results.system_caller(ticket.tenant_id)
    attached = await attach(tx, incoming, caller.actor, now_us)
    before = texts.stranger(case.sender, has_failed_dmarc=rules.has_failed_dmarc(case))
    new = NewReply(
        body=contents.text_of(incoming.message, before, texts.left_out(attached.left_out)),
        is_internal=True,
        attachment_ids=attached.ids,
        created_at=_written_at(incoming, _newest_us(thread)),
    )
    reply = await tickets.reply(
        tx, caller, ticket.id, new, now_us=now_us, arrived_at=incoming.arrived_at
    )
    await _remember(tx, incoming, ticket.id)
    return Effect("note", STRANGER, ticket.id, reply.id, "stranger")


async def add_note(tx: Tx, tenant_id: str, ticket_id: str, text: str, now_us: int) -> str:
    """An internal note by the receiver; its id."""
    new = NewReply(body=text, is_internal=True)
    return (
        await tickets.reply(tx, results.system_caller(tenant_id), ticket_id, new, now_us=now_us)
    ).id


def _agent_writer(case: Case, agent: Agent) -> Writer:
    actor = Actor("user", agent.id, agent.name)
    return Writer(by_mail(case.incoming.mailbox.tenant_id, actor), None)


async def _customer_caller(tx: Tx, tenant_id: str, sender: FromAddress, now_us: int) -> Caller:
    """The customer with the address of the sender, who is added if there is none."""
    new = NewCustomer(sender.address, sender.name)
    customer = await customers.find_or_add(tx, tenant_id, new, now_us=now_us)
    return by_mail(tenant_id, Actor("customer", customer.id, customer.name or ""))


async def _find_team(tx: Tx, mailbox: Mailbox) -> str | None:
    team_id = mailbox.team_id
    if team_id is None or not await teams.is_team(tx, mailbox.tenant_id, team_id):
        return None
    return team_id


async def _remember(tx: Tx, incoming: Incoming, ticket_id: str) -> None:
    if incoming.message.message_id:
        await thread_store.remember_message(
            tx, incoming.mailbox.tenant_id, incoming.message.message_id, ticket_id
        )


async def _add_people(
    tx: Tx, case: Case, ticket_id: str, joined_at: int, *, is_new: bool = False
) -> list[Participant]:
    """All participants, after those in a message were added."""
    mailbox, people = case.incoming.mailbox, rules.new_participants(case)
    return await threads.add_people(
        tx, mailbox.tenant_id, ticket_id, mailbox.id, people, joined_at, is_new=is_new
    )


def _joined_at(incoming: Incoming, about_id: str, now_us: int) -> int:
    """Since when the people of a message read on their page: this message and what follows.

    about_id: of the ticket or reply that it became.
    """
    return now_us if incoming.history else ids.instant_of(about_id)


async def _warn(tx: Tx, case: Case, ticket_id: str, now_us: int) -> None:
    """Write into a ticket that somebody else may have written its message, or has used a form."""
    tenant_id = case.incoming.mailbox.tenant_id
    if rules.has_failed_dmarc(case):
        await add_note(tx, tenant_id, ticket_id, texts.failed_dmarc(), now_us)
    if typed := rules.typed_address(case):
        await add_note(tx, tenant_id, ticket_id, texts.typed(typed), now_us)


def _written_at(incoming: Incoming, newest_us: int) -> str | None:
    """The time of an old message, which is not before what its ticket has; None for a new one."""
    if incoming.history is None:
        return None
    return clock.iso(max(incoming.history.written_at, newest_us))


def _newest_us(thread: Thread) -> int:
    """The time of the newest message of a ticket, which old messages come after."""
    return thread.ticket.last_message_at or thread.ticket.created_at
