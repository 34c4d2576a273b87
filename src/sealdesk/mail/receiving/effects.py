"""Tickets, replies and notes of received messages; the work is part of a transaction."""

from typing import NamedTuple

from sealdesk import clock, ids
from sealdesk.caller import Actor, Caller
from sealdesk.customers import actions as customers
from sealdesk.customers import store as customer_store
from sealdesk.customers.types import NewCustomer
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict
from sealdesk.mail.receiving import rules, store, texts
from sealdesk.mail.receiving.rules import FromAddress
from sealdesk.mail.receiving.types import Effect, File, Incoming, Thread
from sealdesk.mail.threads import actions as threads
from sealdesk.mail.threads import merged
from sealdesk.mail.threads import store as thread_store
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.attachments import actions as attachments
from sealdesk.tickets.attachments.types import Attachment
from sealdesk.tickets.new_replies import NewReply, NewReplyAuthor
from sealdesk.tickets.store import teams
from sealdesk.tickets.store.tickets import TicketAndCustomer
from sealdesk.tickets.types import NewTicket, TicketCustomer

STRANGER = "no participant"  # the reason of a note about which nobody has decided
ADDED = "no participant, added later"
MOVED = "no participant, opened as a ticket"
IMPORTED = "imported"  # that of a ticket of an old message
BY_DESK = "imported, written by the desk"


class _Attached(NamedTuple):
    """The ids of the attachments of a message, and the names of the files without room."""

    ids: list[str]
    left_out: tuple[str, ...]


class Writer(NamedTuple):
    """Who of the desk has written an old message. author: None for the desk itself."""

    caller: Caller
    author: NewReplyAuthor | None


async def find_ticket(tx: Tx, tenant_id: str, ticket_id: str) -> TicketAndCustomer:
    """The ticket, or the one that it was merged into. Raises NotFound."""
    return await merged.find_ticket(tx, tenant_id, ticket_id)


async def open_ticket(
    tx: Tx, incoming: Incoming, now_us: int, *, customer: FromAddress | None = None
) -> Effect:
    """A new ticket of the sender. customer: whom the desk has written to instead."""
    sender, tenant_id = rules.sender_of(incoming.message), incoming.mailbox.tenant_id
    attached = await _attach(tx, incoming, Actor("customer", "", sender.identity), now_us)
    before = texts.by_desk(sender) if customer else ""
    of = customer or sender
    new = NewTicket(
        subject=rules.subject_of(incoming.message),
        description=rules.text_of(incoming.message, before, texts.left_out(attached.left_out)),
        customer=TicketCustomer(of.address, of.name),
        status=incoming.history.status if incoming.history else "open",
        team_id=await _find_team(tx, incoming),
        attachment_ids=attached.ids,
        created_at=_written_at(incoming, 0),
    )
    opened = await tickets.open_ticket(
        tx, system_caller(tenant_id), new, source="email", now_us=now_us
    )
    await _remember(tx, incoming, opened.id)
    await _add_people(tx, incoming, opened.id, sender, now_us)
    if _has_failed_dmarc(incoming):
        await add_note(tx, tenant_id, opened.id, texts.failed_dmarc(), now_us)
    reason = rules.automatic_reason(incoming)
    if incoming.history is not None:  # it gets no acknowledgement either
        reason = BY_DESK if customer else IMPORTED
    return Effect("ticket", reason, opened.id)


async def follow_up(tx: Tx, incoming: Incoming, closed: TicketAndCustomer, now_us: int) -> Effect:
    """A new ticket for a message to a closed one; a note in each names the other."""
    effect = await open_ticket(tx, incoming, now_us)
    tenant_id, ticket_id = incoming.mailbox.tenant_id, effect.ticket_id or ""
    number = (await tickets.get_ticket(tx, tenant_id, ticket_id)).ticket.number
    await add_note(tx, tenant_id, ticket_id, texts.follows(closed.ticket.number), now_us)
    await add_note(tx, tenant_id, closed.ticket.id, texts.is_followed(number), now_us)
    return effect


async def add_reply(
    tx: Tx,
    incoming: Incoming,
    thread: Thread,
    now_us: int,
    *,
    is_internal: bool,
    by: Writer | None = None,
) -> Effect:
    """What a participant writes: public, or internal for an automatic answer.

    by: who of the desk has written it instead.
    """
    tenant_id, sender = incoming.mailbox.tenant_id, rules.sender_of(incoming.message)
    caller = by.caller if by else await _customer_caller(tx, tenant_id, sender, now_us)
    attached = await _attach(tx, incoming, caller.actor, now_us)
    text = rules.text_of(incoming.message, after=texts.left_out(attached.left_out))
    new = NewReply(
        body=text,
        is_internal=is_internal,
        author=by.author if by else None,
        attachment_ids=attached.ids,
        created_at=_written_at(incoming, thread.newest_us),
    )
    reply = await tickets.reply(tx, caller, thread.ticket_id, new, now_us=now_us)
    await _remember(tx, incoming, thread.ticket_id)
    if not is_internal:
        await _add_people(tx, incoming, thread.ticket_id, sender, now_us)
    if _has_failed_dmarc(incoming):
        await add_note(tx, tenant_id, thread.ticket_id, texts.failed_dmarc(), now_us)
    reason = rules.automatic_reason(incoming)
    return Effect("note" if is_internal else "reply", reason, thread.ticket_id, reply.id)


async def add_strangers_note(tx: Tx, incoming: Incoming, thread: Thread, now_us: int) -> Effect:
    """A note with what somebody writes who is no participant."""
    tenant_id, sender = incoming.mailbox.tenant_id, rules.sender_of(incoming.message)
    caller = system_caller(tenant_id)
    attached = await _attach(tx, incoming, caller.actor, now_us)
    before = texts.stranger(sender, has_failed_dmarc=_has_failed_dmarc(incoming))
    text = rules.text_of(incoming.message, before, texts.left_out(attached.left_out))
    created_at = _written_at(incoming, thread.newest_us)
    new = NewReply(body=text, is_internal=True, attachment_ids=attached.ids, created_at=created_at)
    reply = await tickets.reply(tx, caller, thread.ticket_id, new, now_us=now_us)
    await _remember(tx, incoming, thread.ticket_id)
    return Effect("note", STRANGER, thread.ticket_id, reply.id)


async def add_note(tx: Tx, tenant_id: str, ticket_id: str, text: str, now_us: int) -> str:
    """An internal note by the receiver; its id."""
    new = NewReply(body=text, is_internal=True)
    return (await tickets.reply(tx, system_caller(tenant_id), ticket_id, new, now_us=now_us)).id


def system_caller(tenant_id: str) -> Caller:
    actor = Actor("system", ids.NONE, "Sealdesk")
    return Caller(tenant_id, actor, frozenset(), "", has_custom_fields=False)


async def _customer_caller(tx: Tx, tenant_id: str, sender: FromAddress, now_us: int) -> Caller:
    """The customer with the address of the sender, who is added if there is none."""
    customer = await customer_store.find_by_email(tx, tenant_id, sender.address)
    if customer is None:
        new = NewCustomer(sender.address, sender.name)
        customer = await customers.add_customer(tx, tenant_id, new, now_us=now_us)
    actor = Actor("customer", customer.id, customer.name or "")
    return Caller(tenant_id, actor, frozenset(), "", has_custom_fields=False)


async def _find_team(tx: Tx, incoming: Incoming) -> str | None:
    team_id, tenant_id = incoming.mailbox.team_id, incoming.mailbox.tenant_id
    if team_id is None or not await teams.is_team(tx, tenant_id, team_id):
        return None
    return team_id


async def _remember(tx: Tx, incoming: Incoming, ticket_id: str) -> None:
    if incoming.message.message_id:
        await thread_store.remember_message(
            tx, incoming.mailbox.tenant_id, incoming.message.message_id, ticket_id
        )


async def _add_people(
    tx: Tx, incoming: Incoming, ticket_id: str, sender: FromAddress, now_us: int
) -> None:
    """Make the sender and those in To and Cc participants, without the tenant's mailboxes."""
    found = [(each.address, rules.name_of(each)) for each in rules.people_of(incoming.message)]
    people = [(sender.address, sender.name), *found] if sender.is_known else found
    identity_of = {address: rules.mailbox_identity(address) for address, _ in people}
    tenant_of = await store.find_mailboxes(tx, [*identity_of.values()])
    mailbox = incoming.mailbox
    agents = incoming.history.agents if incoming.history else {}
    others = [
        each
        for each in people
        if tenant_of.get(identity_of[each[0]]) != mailbox.tenant_id
        and identity_of[each[0]] not in agents
    ]
    await threads.add_people(tx, mailbox.tenant_id, ticket_id, mailbox.id, others, now_us)


async def _attach(tx: Tx, incoming: Incoming, actor: Actor, now_us: int) -> _Attached:
    """Attach the files of a message, as far as there is room."""
    added, left_out = [], list(incoming.left_out)
    for file in incoming.files:
        attachment = _attachment(incoming, file, actor, now_us)
        try:
            await attachments.add(tx, attachment, quota_bytes=incoming.quota_bytes)
        except Conflict:
            left_out.append(file.name)
        else:
            added.append(attachment.id)
    return _Attached(added, tuple(left_out))


def _attachment(incoming: Incoming, file: File, actor: Actor, now_us: int) -> Attachment:
    return Attachment(
        tenant_id=incoming.mailbox.tenant_id,
        id=ids.mint(now_us),
        **file._asdict(),
        uploader_kind=actor.kind,
        uploader_id=actor.id,
        ticket_id=None,
        reply_id=None,
        created_at=now_us,
    )


def _written_at(incoming: Incoming, newest_us: int) -> str | None:
    """The time of an old message, which is not before what its ticket has; None for a new one."""
    if incoming.history is None:
        return None
    return clock.iso(max(incoming.history.written_at, newest_us))


def _has_failed_dmarc(incoming: Incoming) -> bool:
    if incoming.history is not None:
        return False
    results = incoming.message.authentication_results
    return rules.has_failed_dmarc(results, incoming.authserv_ids)
