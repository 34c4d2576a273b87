"""What is read from a received message, and what is done with it; no I/O, no clock."""

import hashlib
from collections.abc import Iterable
from itertools import islice

import msgspec

from sealdesk.crypto.reply_codes import find_reply_code
from sealdesk.mail.parsing.types import Address, Fault, ParsedMessage
from sealdesk.mail.receiving import authors
from sealdesk.mail.receiving.authentication import has_failed
from sealdesk.mail.receiving.types import (
    Case,
    Decision,
    Effect,
    Envelope,
    FromAddress,
    Incoming,
    Origin,
    Outcome,
    ReceivedMessage,
    Waiting,
)
from sealdesk.mail.threads import rules as threads
from sealdesk.mail.threads.types import Participant
from sealdesk.resources.addresses import can_receive, is_read
from sealdesk.resources.representation import email_identity
from sealdesk.tickets.attachments import rules as attachments
from sealdesk.tickets.text.forwards import Forward, is_forward, read_forward

RAW_KEPT_US = 30 * 24 * 3600 * 1_000_000
# Within LIMITED_US; further messages are held. The first two are of one sender.
MAX_NEW_TICKETS, MAX_REPLIES, MAX_REPLIES_OF_TICKET = 10, 30, 100
LIMITED_US = 10 * 60 * 1_000_000
# Of those that wait for a person. A sender may have an eighth of the bytes.
MAX_WAITING, MAX_WAITING_OF_SENDER = 20_000, 2_000
_SENDERS_PART = 8
MAX_TEXT = 65_536  # LongText of tickets
_MAX_SUBJECT = 255
_MAX_KEY = 255
_MAX_TOKENS = 10
_MAX_REFERENCES = 50
_MAX_PEOPLE = 50
_MAX_IDENTITIES = 200
_OF_PROGRAMS = ("auto-submitted", "report")  # in ParsedMessage.automatic
_RAW_MESSAGE = ("message.eml", "message/rfc822")  # the name and type of a file
_NOTICES = {
    Fault.ENCRYPTED: "[Encrypted (S/MIME or OpenPGP): only the recipient's key opens it.]",
    Fault.TNEF: "[winmail.dat holds files in a format of Outlook. Ask for the message as plain text"
    " or HTML.]",
}
OWN_COPY = "a message of this desk that came back"


def decide(case: Case) -> Decision:
    """What is done with a message that has just arrived."""
    waiting = _reason_to_wait(case)
    if waiting is None and case.copy is not None:
        return "note_copy"
    return waiting or decide_release(case)


def decide_release(case: Case) -> Decision:
    """What is done with a message that a person wants to have, whatever it would wait for."""
    thread = case.thread
    if case.bounced is not None:
        return "record_bounce"
    if thread is None:
        return "open_ticket" if forward_in(case) is None else "open_ticket_for_customer"
    if case.agent is not None and case.agent.is_proven:
        return "add_agents_note" if is_by_program(case.incoming) else "add_agents_reply"
    if thread.sender is None or case.agent is not None or has_failed_dmarc(case):
        return "open_ticket" if thread.ticket.status == "closed" else "add_strangers_note"
    if not joins_ticket(case):
        return "follow_up"
    return "add_note" if is_by_program(case.incoming) else "add_reply"


def forward_in(case: Case) -> Forward | None:
    """The customer's message that an agent forwards, if more than From says that it is they."""
    agent, message = case.agent, case.incoming.message
    if agent is None or not agent.is_proven or is_by_program(case.incoming):
        return None
    found = read_forward(message.subject, message.text) or _attached_forward(message)
    is_reader = found and is_read(found.address) and not is_of_desk(case, found.address)
    return found if is_reader else None


def _attached_forward(message: ParsedMessage) -> Forward | None:
    """The message that is forwarded as a file, as the subject or the lack of other words says."""
    inner = message.attached
    is_forwarded = is_forward(message.subject) or not message.text.strip()
    if inner is None or inner.sender is None or not is_forwarded:
        return None
    sender = inner.sender
    return Forward(message.text.strip(), sender.name, sender.address, inner.subject, inner.text)


def as_of_customer(case: Case, forward: Forward) -> Case:
    """A forwarded message as if the customer had written it."""
    name = authors.name_of(Address(forward.address, forward.name))
    customer = FromAddress(forward.address, name, True)
    origin = case.origin._replace(author=customer, answers_to=customer)
    message = as_forwarded(case.incoming.message, forward)
    # The whole message has the agent's words too.
    files = [each for each in case.incoming.files if each[:2] != _RAW_MESSAGE]
    incoming = msgspec.structs.replace(case.incoming, message=message, files=tuple(files))
    return case._replace(incoming=incoming, origin=origin)


def as_forwarded(message: ParsedMessage, forward: Forward) -> ParsedMessage:
    """What was forwarded, without what the agent wrote and to whom."""
    return msgspec.structs.replace(
        message, subject=forward.subject, text=forward.text, to=(), cc=()
    )


def joins_ticket(case: Case) -> bool:
    """Whether a message is added to the ticket of its thread, instead of opening one.

    To a closed one only the automatic answers of participants are added.
    """
    thread = case.thread
    if thread is None or thread.ticket.status != "closed":
        return thread is not None
    return thread.sender is not None and is_by_program(case.incoming)


def _reason_to_wait(case: Case) -> Effect | None:
    """The effect of a message that has no other before a person decides."""
    if case.is_own_copy:
        return Effect("ignored", OWN_COPY)
    if case.block is not None:
        return Effect("blocked", case.block)
    if case.incoming.message.is_spam:
        return Effect("spam", "marked by the mail server")
    report = case.incoming.message.delivery_status
    if report is not None and report.action != "failed":
        outcome: Outcome = "ignored" if _says_that_a_program_wrote(case.incoming) else "held"
        return Effect(outcome, f"a report that a message was {report.action}")
    if report is not None:
        is_known = case.bounced is not None
        return None if is_known else Effect("held", "a report about an unknown message")
    if case.agent is not None and case.agent.is_proven and _is_of_closed_ticket(case):
        return Effect("held", "an answer of an agent to a closed ticket")
    return _limit_of_replies(case) if joins_ticket(case) else _reason_against_ticket(case)


def _is_of_closed_ticket(case: Case) -> bool:
    """Whether a reply of an agent would be refused; it can be released when the ticket is open."""
    return case.thread is not None and case.thread.ticket.status == "closed"


def _reason_against_ticket(case: Case) -> Effect | None:
    is_by_mailbox = any(
        each in case.origin.mailbox_tenants for each in authors.forms_of(case.sender.address)
    )
    if is_by_mailbox and is_by_program(case.incoming):
        outcome: Outcome = "ignored" if _says_that_a_program_wrote(case.incoming) else "held"
        return Effect(outcome, "an automatic message of a mailbox")
    if is_of_desk(case, case.sender.address):
        return Effect("held", "sent by an address of this desk")
    if case.counts.new_tickets >= MAX_NEW_TICKETS:
        return Effect("held", f"more than {MAX_NEW_TICKETS} new tickets in 10 minutes")
    return None


def _limit_of_replies(case: Case) -> Effect | None:
    if case.counts.replies >= MAX_REPLIES:
        return Effect("held", f"more than {MAX_REPLIES} replies of one sender in 10 minutes")
    if case.counts.replies_of_ticket >= (limit := MAX_REPLIES_OF_TICKET):
        return Effect("held", f"more than {limit} replies to one ticket in 10 minutes")
    return None


def has_room(
    size_bytes: int, waiting_bytes: int, *, of_tenant: Waiting, of_sender: Waiting
) -> bool:
    """Whether one more message may wait. waiting_bytes: how many may wait together."""
    return (
        of_tenant.number < MAX_WAITING
        and of_sender.number < MAX_WAITING_OF_SENDER
        and of_tenant.size_bytes + size_bytes <= waiting_bytes
        and of_sender.size_bytes + size_bytes <= waiting_bytes // _SENDERS_PART
    )


def subject_of(message: ParsedMessage) -> str:
    """As the subject of a ticket."""
    line = " ".join(clean(message.subject).split())
    return line[:_MAX_SUBJECT].strip() or "(no subject)"


def text_of(message: ParsedMessage, before: str = "", after: str = "") -> str:
    """As the text of a ticket or reply, with sentences before and after it."""
    notices = [text for fault, text in _NOTICES.items() if fault in message.faults]
    text = "\n\n".join(filter(None, (clean(message.text).strip(), *notices))) or "(no text)"
    room = MAX_TEXT - len(before) - len(after)
    cut = text if len(text) <= room else text[: room - 1] + "…"
    return f"{before}{cut}{after}"


def clean(text: str) -> str:
    """Without what PostgreSQL or UTF-8 cannot store: NUL and lone surrogates."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def new_row(
    incoming: Incoming, author: FromAddress, message_id: str, now_us: int
) -> ReceivedMessage:
    """The row of a message before its effect is known."""
    mailbox, raw = incoming.mailbox, incoming.raw
    return ReceivedMessage(
        tenant_id=mailbox.tenant_id,
        id=message_id,
        mailbox_id=mailbox.id,
        message_key=key_of(incoming.message, raw.digest),
        from_identity=author.identity,
        subject=subject_of(incoming.message),
        raw_sha256=raw.sha256,
        outcome="ignored",
        reason=None,
        size_bytes=raw.size_bytes,
        ticket_id=None,
        reply_id=None,
        received_at=incoming.history.written_at if incoming.history else now_us,
        raw_until=now_us + RAW_KEPT_US,
        envelope=_envelope_of(incoming),
    )


def _envelope_of(incoming: Incoming) -> str | None:
    found = Envelope(
        _tokens(incoming, incoming.recipients),
        incoming.envelope_sender == "",
        incoming.message.content_hash,
        incoming.arrived_at,
    )
    return msgspec.json.encode(found).decode()


def read_envelope(stored: ReceivedMessage) -> Envelope:
    """What is stored of the envelope of a message."""
    return msgspec.json.decode(stored.envelope, type=Envelope) if stored.envelope else Envelope()


def key_of(message: ParsedMessage, digest: str) -> str:
    """What a message is recognised by when it comes again. digest: SHA-256 of it, in hex."""
    message_id = clean(message.message_id or "").strip()
    key = f"{message_id} {clean(message.date)}".strip()
    return key if message_id and len(key) <= _MAX_KEY else f"sha256 {digest}"


def is_cut(message: ParsedMessage) -> bool:
    """Whether the ticket shows less than the message, which is attached then."""
    return message.is_truncated or bool(message.faults) or len(message.text) > MAX_TEXT


def is_by_program(incoming: Incoming) -> bool:
    """Whether a program has written a message, such as the answer of somebody absent."""
    return incoming.message.is_by_program or incoming.envelope_sender == ""


def _says_that_a_program_wrote(incoming: Incoming) -> bool:
    """Whether nobody reads a message for what it may contain; a subject or an address could err."""
    by_program = incoming.message.is_by_program and incoming.message.automatic in _OF_PROGRAMS
    return by_program or incoming.envelope_sender == ""


def automatic_reason(incoming: Incoming) -> str | None:
    """Why no program may answer a message, although a person may have written it."""
    if incoming.envelope_sender == "":
        return incoming.message.automatic or "empty sender"
    return incoming.message.automatic


def may_be_answered(case: Case, effect: Effect) -> bool:
    """Whether a program may answer a message: a person has opened a ticket with it."""
    incoming = case.incoming
    is_of_person = automatic_reason(incoming) is None and incoming.message.delivery_status is None
    return effect.outcome == "ticket" and is_of_person and not has_failed_dmarc(case)


def tokens_of(incoming: Incoming) -> tuple[str, ...]:
    """The tokens of reply addresses of this mailbox among the recipients, each once."""
    message = incoming.message
    headers = (each.address for each in (*message.to, *message.cc, *message.delivered_to))
    return _tokens(incoming, (*incoming.recipients, *headers))


def _tokens(incoming: Incoming, addresses: Iterable[str]) -> tuple[str, ...]:
    identities = incoming.mailbox.identities
    tokens = [
        token
        for address in addresses
        if (token := find_reply_code(address)) and mailbox_identity(address) in identities
    ]
    return tuple(dict.fromkeys(tokens))[:_MAX_TOKENS]


def references_of(message: ParsedMessage) -> tuple[str, ...]:
    """The Message-IDs that a message is about, the nearest first."""
    report = message.delivery_status
    sent = (report.message_id,) if report and report.message_id else ()
    found = (*sent, *message.in_reply_to, *reversed(message.references))
    return tuple(dict.fromkeys(found))[:_MAX_REFERENCES]


def people_of(message: ParsedMessage) -> tuple[Address, ...]:
    """Who else wrote the message, and whom it was sent to; mailboxes are among them."""
    named = (*message.co_authors, *message.to, *message.cc)
    known = (each for each in named if can_receive(each.address))
    by_identity = {email_identity(each.address): each for each in known}
    return tuple(by_identity.values())[:_MAX_PEOPLE]


def identities_in(message: ParsedMessage) -> tuple[str, ...]:
    """What the addresses in a message may be in the directory of mailboxes."""
    forms = (form for each in authors.addresses_in(message) for form in authors.forms_of(each))
    return tuple(dict.fromkeys(islice(forms, _MAX_IDENTITIES)))


def new_participants(case: Case) -> list[tuple[str, str | None]]:
    """The sender and those in To and Cc with their names, without those of the desk itself.

    What has forwarded the message here, such as an alias that nobody configured, would do so again.
    """
    message, author = case.incoming.message, case.origin.author
    if has_failed_dmarc(case):
        # Whoever has forged the message would read the answers.
        return [(author.address, author.name)] if author.is_known else []
    people = (each for each in people_of(message) if not authors.has_passed(message, each.address))
    answered = case.origin.answers_to
    sender = [(answered.address, answered.name)] if answered.is_known else []
    found = [*sender, *((each.address, authors.name_of(each)) for each in people)]
    return [each for each in found if not is_of_desk(case, each[0])]


def may_be_shared(case: Case) -> bool:
    """Whether other participants get what one has written: that no program could have answered."""
    return case.incoming.history is None and automatic_reason(case.incoming) is None


def readers_besides(case: Case, people: Iterable[Participant]) -> list[Participant]:
    """The participants who have not written a message, nor got it from its author."""
    message, origin = case.incoming.message, case.origin
    named = (each.address for each in (*message.co_authors, *message.to, *message.cc))
    known = {origin.author.identity, origin.answers_to.identity, *map(email_identity, named)}
    return [
        each
        for each in people
        if each.address_identity not in known and not is_of_desk(case, each.address)
    ]


def other_mailboxes_in(incoming: Incoming, origin: Origin) -> list[str]:
    """The addresses in To and Cc of other mailboxes of the desk, as addresses are compared."""
    forms = {each for to in people_of(incoming.message) for each in authors.forms_of(to.address)}
    return sorted((forms & origin.own_addresses) - incoming.mailbox.identities)


def is_of_desk(case: Case, address: str) -> bool:
    """Whether an address in a message is a mailbox of the desk, or an agent if it is imported."""
    history = case.incoming.history
    is_mailbox = authors.is_own(address, case.origin.own_addresses)
    return is_mailbox or (history is not None and mailbox_identity(address) in history.agents)


def may_be_own_id(message_id: str, origin: Origin) -> bool:
    """Whether the desk may have sent a message: it uses the domains of its mailboxes."""
    domain = message_id.rpartition("@")[2].lower()
    return domain in {each.rpartition("@")[2] for each in origin.own_addresses}


def mailbox_identity(address: str) -> str:
    """An address as the directory of mailboxes has it: without the token of a reply address."""
    return email_identity(threads.mailbox_address(address))


def has_failed_dmarc(case: Case) -> bool:
    """Whether a believed server says that the sender's domain does not vouch for a message.

    What is imported has been there for long, and is believed.
    """
    incoming = case.incoming
    return incoming.history is None and has_failed(incoming.message, incoming.authserv_ids)


def file_name(name: str) -> str:
    """The name of a file of a message, as attachments may have it."""
    bare = "".join(each if attachments.fault_of_name(f"a{each}") == "" else "_" for each in name)
    cut = bare[-attachments.MAX_NAME_LENGTH :]
    return "file" if attachments.fault_of_name(cut) else cut


def block_patterns(identity: str) -> tuple[str, str]:
    """The patterns that block a sender: the address, and @ with its domain."""
    return identity, f"@{identity.rpartition('@')[2]}"


def can_block(identity: str) -> bool:
    """Whether the sender of a message can be blocked: not one without an address."""
    return identity != authors.UNKNOWN_SENDER and can_receive(identity)


def is_same(known: ReceivedMessage, new: ReceivedMessage) -> bool:
    """Whether two messages with the same Message-ID and Date are one."""
    contents = read_envelope(known).content_hash, read_envelope(new).content_hash
    return contents[0] == contents[1] if all(contents) else known.subject == new.subject


def with_own_key(message: ReceivedMessage, content_hash: str) -> ReceivedMessage:
    """A message that shares its Message-ID and Date with another one, with a key of its own."""
    digest = hashlib.sha256(f"{message.message_key}\0{content_hash}".encode()).hexdigest()
    return msgspec.structs.replace(message, message_key=f"content {digest}")


def with_effect(message: ReceivedMessage, effect: Effect) -> ReceivedMessage:
    return msgspec.structs.replace(message, **effect._asdict())
