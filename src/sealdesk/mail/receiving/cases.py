"""Reads what the database says about a received message; part of a transaction."""

from sealdesk.db.engine import Tx
from sealdesk.identity import store as users
from sealdesk.mail.blocks import store as blocks
from sealdesk.mail.mailboxes.store import directory
from sealdesk.mail.receiving import authentication, authors, contents, rules, store
from sealdesk.mail.receiving.types import (
    Agent,
    Case,
    Copy,
    FromAddress,
    Incoming,
    Origin,
    ReceivedMessage,
    RecentCounts,
    Thread,
)
from sealdesk.mail.sending import store as sending
from sealdesk.mail.sending.types import OutgoingMessage
from sealdesk.mail.threads import store as threads
from sealdesk.tickets import actions as tickets
from sealdesk.tickets import checks
from sealdesk.tickets.ticket.store import replies

_MAX_RECENT = 20  # messages of a sender with one subject


async def read_origin(tx: Tx, incoming: Incoming) -> Origin:
    """Who has written a message, by the desk's own addresses."""
    message, mailbox = incoming.message, incoming.mailbox
    tenants = await directory.find_tenants(tx, contents.identities_in(message))
    own = {identity for identity, tenant in tenants.items() if tenant == mailbox.tenant_id}
    own_addresses = frozenset({mailbox.address_identity, *own})
    return Origin(
        await _find_complainant(tx, incoming) or authors.author(message, own_addresses),
        authors.answers_to(message, own_addresses),
        tenants,
        own_addresses,
    )


async def _find_complainant(tx: Tx, incoming: Incoming) -> FromAddress | None:
    """Who calls a message of the desk spam, whoever has passed that on."""
    report = incoming.message.delivery_status
    is_complaint = report is not None and report.action == "complained"
    sent = await _find_bounced(tx, incoming) if is_complaint else None
    return FromAddress(sent.address, None, True) if sent else None


async def read_case(tx: Tx, incoming: Incoming, origin: Origin, now_us: int) -> Case:
    """A message with all that the decision about it depends on."""
    tenant_id, identity = incoming.mailbox.tenant_id, origin.author.identity
    thread = await _find_thread(tx, incoming, origin)
    case = Case(
        incoming,
        origin,
        block=await blocks.find_first(tx, tenant_id, contents.block_patterns(identity)),
        thread=thread,
        bounced=await _find_bounced(tx, incoming),
        is_own_copy=await _is_own_copy(tx, incoming, origin),
        agent=await _find_agent(tx, incoming, origin, thread),
        copy=await _find_copy(tx, incoming, origin, now_us),
    )
    return case._replace(counts=await _count_recent(tx, case, now_us))


async def _is_own_copy(tx: Tx, incoming: Incoming, origin: Origin) -> bool:
    """Whether a message of this desk comes back, from a list or an address that forwards to it."""
    message_id = incoming.message.message_id or ""
    if not contents.may_be_own_id(message_id, origin):
        return False
    return await sending.find_sent(tx, incoming.mailbox.tenant_id, f"<{message_id}>") is not None


async def _find_agent(
    tx: Tx, incoming: Incoming, origin: Origin, thread: Thread | None
) -> Agent | None:
    """The user of this desk who has written a message; old messages name theirs otherwise."""
    if incoming.history is not None or not origin.author.is_known:
        return None
    user = await users.find_by_email(tx, origin.author.address)
    if user is None or user.tenant_id != incoming.mailbox.tenant_id or not user.is_active:
        return None
    has_own_token = thread is not None and thread.token_owner == origin.author.identity
    address = origin.author.address
    has_passed = authentication.has_passed(incoming.message, incoming.authserv_ids, address)
    return Agent(user.id, user.name, has_own_token or has_passed)


async def _find_copy(tx: Tx, incoming: Incoming, origin: Origin, now_us: int) -> Copy | None:
    """The same message that came by another way, to this mailbox or to another one."""
    if incoming.history is not None:
        return None
    row = contents.new_row(incoming, origin.author, "", now_us)
    # Both may arrive at the same time (decision 0125).
    await tx.lock(f"message {incoming.message.content_hash}", row.tenant_id)
    recent = await store.list_recent(tx, row, now_us - rules.COPIES_US, _MAX_RECENT)
    for each in recent:
        if contents.is_copy(each, row):
            return Copy(each)
        may_be_by_list = contents.may_be_copy_by_list(each, row, incoming.message)
        if may_be_by_list and (found := await _find_copy_by_list(tx, each, incoming)):
            return found
    return None


async def _find_copy_by_list(tx: Tx, known: ReceivedMessage, incoming: Incoming) -> Copy | None:
    """One of two messages if the other is what a list made of it, with a footer of its own."""
    tenant_id, ticket_id = known.tenant_id, known.ticket_id or ""
    ticket = (await tickets.get_ticket(tx, tenant_id, ticket_id)).ticket
    text, files = ticket.description, ticket.attachments
    if known.reply_id is not None:
        reply = await replies.find(tx, tenant_id, ticket_id, known.reply_id)
        text, files = (reply.body, reply.attachments) if reply else ("", ())
    if not contents.has_same_words(text, incoming.message.text):
        return None
    # Lists leave files out, and make others of them.
    is_of_list = incoming.message.is_of_list
    lacks = () if is_of_list else contents.files_beside(files, incoming.files)
    may_lack = contents.read_envelope(known).is_of_list
    return Copy(known, lacks) if may_lack or not lacks else None


async def _find_thread(tx: Tx, incoming: Incoming, origin: Origin) -> Thread | None:
    """By a token among the recipients, then by the Message-IDs that it answers; this tenant's."""
    tenant_id = incoming.mailbox.tenant_id
    ticket_id, token_owner = await _find_ticket_id(tx, incoming)
    if ticket_id is None:
        return None
    sender = None
    for identity in dict.fromkeys((origin.author.identity, origin.answers_to.identity)):
        sender = sender or await threads.find_participant(tx, tenant_id, ticket_id, identity)
    stored = await checks.get_ongoing_ticket(tx, tenant_id, ticket_id)
    return Thread(stored.ticket, sender, token_owner)


async def _find_ticket_id(tx: Tx, incoming: Incoming) -> tuple[str | None, str]:
    """The ticket, and to whom the reply address belongs by which it was found."""
    tenant_id = incoming.mailbox.tenant_id
    for token in contents.tokens_of(incoming):
        if found := await threads.find_by_token(tx, tenant_id, token):
            return found.ticket_id, found.address_identity
    references = contents.references_of(incoming.message)
    return await threads.find_ticket_id(tx, tenant_id, references), ""


async def _find_bounced(tx: Tx, incoming: Incoming) -> OutgoingMessage | None:
    """The message that a report is about, if this tenant has sent it.

    It is found by its Message-ID alone: servers spell recipients as they like.
    """
    report = incoming.message.delivery_status
    if report is None or not report.message_id:
        return None
    if incoming.envelope_sender and report.action != "complained":
        return None  # a report has no sender in its envelope (RFC 3464, 2)
    return await sending.find_sent(tx, incoming.mailbox.tenant_id, f"<{report.message_id}>")


async def _count_recent(tx: Tx, case: Case, now_us: int) -> RecentCounts:
    """Only what limits this message; old messages have no limit."""
    if case.incoming.history is not None:
        return RecentCounts()
    tenant_id, identity = case.incoming.mailbox.tenant_id, case.sender.identity
    since_us = now_us - rules.LIMITED_US
    if case.thread is None or not rules.joins_ticket(case):
        limit = rules.MAX_NEW_TICKETS
        found = await store.count_new_tickets(tx, tenant_id, identity, since_us, limit)
        return RecentCounts(new_tickets=found)
    ticket_id = case.thread.ticket.id
    replies = await store.count_replies(tx, tenant_id, identity, since_us, rules.MAX_REPLIES)
    limit = rules.MAX_REPLIES_OF_TICKET
    of_ticket = await store.count_replies_to(tx, tenant_id, ticket_id, since_us, limit)
    return RecentCounts(replies=replies, replies_of_ticket=of_ticket)
