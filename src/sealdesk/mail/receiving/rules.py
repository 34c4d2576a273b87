"""What is done with a received message; no I/O, no clock."""

from collections.abc import Iterable

import msgspec

from sealdesk.mail.parsing.report_words import PERHAPS_DELAYED
from sealdesk.mail.parsing.types import RAW_MESSAGE, Address, ParsedMessage
from sealdesk.mail.receiving import authors, contents
from sealdesk.mail.receiving.authentication import has_failed, has_passed
from sealdesk.mail.receiving.types import (
    Case,
    Decision,
    Effect,
    FromAddress,
    Waiting,
)
from sealdesk.mail.threads.types import Participant
from sealdesk.resources.addresses import is_read
from sealdesk.resources.representation import email_identity
from sealdesk.tickets.text.forwards import Forward, is_forward, read_forward

# Within LIMITED_US; further messages are held. The first two are of one sender.
MAX_NEW_TICKETS, MAX_REPLIES, MAX_REPLIES_OF_TICKET = 10, 30, 100
LIMITED_US = 10 * 60 * 1_000_000
# Of those that wait for a person. A sender may have an eighth of the bytes.
MAX_WAITING, MAX_WAITING_OF_SENDER = 20_000, 2_000
_SENDERS_PART = 8
# Within which the same words, of the same date, are one message: relays may keep one for long.
COPIES_US = 3600 * 1_000_000
OWN_COPY = "a message of this desk that came back"
CODE = "a code that verifies an address is never delivered inside its installation"
COPY = "the same message came by another way"


def decide(case: Case) -> Decision:
    """What is done with a message that has just arrived."""
    waiting = _reason_to_wait(case)
    return waiting or _as_copy(case) or decide_release(case)


def decide_release(case: Case) -> Decision:
    """What is done with a message that a person wants to have, whatever it would wait for."""
    thread = case.thread
    if case.bounced is not None:
        return "record_bounce"
    if thread is None:
        return "open_ticket" if forward_in(case) is None else "open_ticket_for_customer"
    if case.agent is not None and case.agent.is_proven:
        return "add_agents_note" if contents.is_by_program(case.incoming) else "add_agents_reply"
    if thread.sender is None or case.agent is not None or has_failed_dmarc(case):
        return "open_ticket" if thread.ticket.status == "closed" else "add_strangers_note"
    if not joins_ticket(case):
        return "follow_up"
    return "add_note" if contents.is_by_program(case.incoming) else "add_reply"


def _as_copy(case: Case) -> Decision | None:
    """What is done with a message that came by another way too; None if it says something else."""
    thread = case.thread
    if case.copy is None:
        return None
    copy, lacks = case.copy
    # By one way a message may fail DMARC, as a forwarder has changed it, and by the other pass.
    if copy.reason_code == "stranger" and decide_release(case) != "add_strangers_note":
        return None
    if copy.mailbox_id == case.incoming.mailbox.id and not lacks:
        return Effect("ignored", COPY, copy.ticket_id)
    if thread is not None and thread.token_owner and joins_ticket(case):
        return "note_copy" if thread.ticket.id == copy.ticket_id else None
    return "note_copy"


def forward_in(case: Case) -> Forward | None:
    """The customer's message that an agent forwards, if more than From says that it is they."""
    agent, message = case.agent, case.incoming.message
    if agent is None or not agent.is_proven or contents.is_by_program(case.incoming):
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
    files = [each for each in case.incoming.files if each[:2] != RAW_MESSAGE]
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
    return thread.sender is not None and contents.is_by_program(case.incoming)


def _reason_to_wait(case: Case) -> Effect | None:
    """The effect of a message that has no other before a person decides."""
    if case.incoming.has_code:
        return Effect("ignored", CODE)
    if case.is_own_copy:
        return Effect("ignored", OWN_COPY)
    if case.block is not None:
        return Effect("blocked", case.block)
    if case.incoming.message.is_spam:
        return Effect("spam", "marked by the mail server")
    report = case.incoming.message.delivery_status
    if report is not None and report.action not in ("failed", "complained"):
        is_clear = report.action != PERHAPS_DELAYED
        return _left(case, f"a report that a message was {report.action}", is_clear=is_clear)
    if report is not None:
        is_known = case.bounced is not None
        return None if is_known else Effect("held", "a report about an unknown message")
    if case.agent is not None and case.agent.is_proven and _is_of_closed_ticket(case):
        return Effect("held", "an answer of an agent to a closed ticket")
    return _limit_of_replies(case) if joins_ticket(case) else _reason_against_ticket(case)


def _left(case: Case, reason: str, *, is_clear: bool = True) -> Effect:
    """The effect of a program's message that changes nothing: if it is certain, nobody sees it."""
    is_certain = is_clear and contents.is_certainly_by_program(case.incoming)
    return Effect("ignored" if is_certain else "held", reason)


def _is_of_closed_ticket(case: Case) -> bool:
    """Whether a reply of an agent would be refused; it can be released when the ticket is open."""
    return case.thread is not None and case.thread.ticket.status == "closed"


def _reason_against_ticket(case: Case) -> Effect | None:
    is_by_mailbox = any(
        each in case.origin.mailbox_tenants for each in authors.forms_of(case.sender.address)
    )
    if is_by_mailbox and contents.is_by_program(case.incoming):
        return _left(case, "an automatic message of a mailbox")
    if case.incoming.message.is_report:
        return Effect("held", "a report that is about no ticket")
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


def may_be_answered(case: Case, effect: Effect) -> bool:
    """Whether a program may answer a message: a person has opened a ticket with it."""
    incoming = case.incoming
    is_of_person = (
        contents.automatic_reason(incoming) is None and incoming.message.delivery_status is None
    )
    return effect.outcome == "ticket" and is_of_person and not has_failed_dmarc(case)


def new_participants(case: Case) -> list[tuple[str, str | None]]:
    """The sender and those in To and Cc with their names, without those of the desk itself.

    What has forwarded the message here, such as an alias that nobody configured, would do so again.
    """
    message, author = case.incoming.message, case.origin.author
    if has_failed_dmarc(case):
        # Whoever has forged the message would read the answers.
        return [(author.address, author.name)] if author.is_known else []
    people = (
        each
        for each in contents.people_of(message)
        if not authors.has_passed(message, each.address)
    )
    answered = case.origin.answers_to
    sender = [(answered.address, answered.name)] if answered.is_known else []
    found = [*sender, *((each.address, authors.name_of(each)) for each in people)]
    return [each for each in found if not is_of_desk(case, each[0])]


def typed_address(case: Case) -> str | None:
    """Who may have filled in the form that has sent a message, if they get no answers yet."""
    typed = authors.typed_address(case.incoming.message, case.origin.own_addresses)
    known = {email_identity(address) for address, _ in new_participants(case)}
    return typed if typed not in known and case.incoming.history is None else None


def may_be_shared(case: Case) -> bool:
    """Whether other participants get what one has written: that no program could have answered."""
    return case.incoming.history is None and contents.automatic_reason(case.incoming) is None


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


def is_of_desk(case: Case, address: str) -> bool:
    """Whether an address in a message is a mailbox of the desk, or an agent if it is imported."""
    history = case.incoming.history
    is_mailbox = authors.is_own(address, case.origin.own_addresses)
    return is_mailbox or (
        history is not None and contents.mailbox_identity(address) in history.agents
    )


def has_failed_dmarc(case: Case) -> bool:
    """Whether a believed server says that the sender's domain does not vouch for a message.

    What is imported has been there for long, and is believed. A strict mailbox wants it said that
    the domain does.
    """
    incoming = case.incoming
    message, believed, sender = incoming.message, incoming.authserv_ids, incoming.message.sender
    if incoming.history is not None:
        return False
    is_strict = bool(believed) and "strict_dmarc" in incoming.mailbox.options
    passes = sender is not None and has_passed(message, believed, sender.address)
    return has_failed(message, believed) or (is_strict and not passes)
