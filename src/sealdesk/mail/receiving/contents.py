"""What is read from a received message before anything is decided; no I/O, no clock."""

import hashlib
from collections.abc import Iterable
from itertools import islice

import msgspec

from sealdesk.crypto.reply_codes import find_reply_code
from sealdesk.mail.parsing.headers import parse_time
from sealdesk.mail.parsing.types import Address, Fault, ParsedMessage
from sealdesk.mail.receiving import authors
from sealdesk.mail.receiving.types import (
    Effect,
    Envelope,
    File,
    FromAddress,
    Incoming,
    Origin,
    ReceivedMessage,
)
from sealdesk.mail.threads import rules as threads
from sealdesk.resources.addresses import can_receive, is_read
from sealdesk.resources.representation import email_identity
from sealdesk.tickets.attachments import rules as attachments
from sealdesk.tickets.ticket.types import AttachmentRef

RAW_KEPT_US = 30 * 24 * 3600 * 1_000_000
MAX_TEXT = 65_536  # LongText of tickets
_MAX_SUBJECT = 255
_UNSEEN = " \u200b\u2060\ufeff"  # which a subject may consist of
_MAX_KEY = 255
_WRONG_CLOCK_US = 24 * 3600 * 1_000_000  # more than zones of time, and less than stopped clocks
_MAX_TOKENS = 10
_MAX_REFERENCES = 50
_MAX_PEOPLE = 50
_MAX_IDENTITIES = 200
_OF_PROGRAMS = ("auto-submitted", "report")  # in ParsedMessage.automatic
_NOTICES = {
    Fault.ENCRYPTED: "[Encrypted (S/MIME or OpenPGP): only the recipient's key opens it.]",
    Fault.COMPRESSED: "[Compressed (S/MIME), and broken or too large. Ask for it without that.]",
    Fault.CERTIFICATES: "[Certificates of the sender (S/MIME), without a message.]",
    Fault.TNEF: "[winmail.dat holds files in a format of Outlook. Ask for the message as plain text"
    " or HTML.]",
}


def subject_of(message: ParsedMessage) -> str:
    """As the subject of a ticket."""
    line = " ".join(clean(message.subject).split())
    return line[:_MAX_SUBJECT].strip(_UNSEEN) or "(no subject)"


def text_of(message: ParsedMessage, before: str = "", after: str = "") -> str:
    """As the text of a ticket or reply, with sentences before and after it."""
    notices = [text for fault, text in _NOTICES.items() if fault in message.faults]
    words = clean(message.text).strip()
    # Lists wrap a message in one of their own, whose words are a footer.
    attached = _attached_text(message) if message.is_of_list or not words else ""
    text = "\n\n".join(filter(None, (attached, words, *notices))) or "(no text)"
    room = MAX_TEXT - len(before) - len(after)
    cut = text if len(text) <= room else text[: room - 1] + "…"
    return f"{before}{cut}{after}"


def _attached_text(message: ParsedMessage) -> str:
    """What the message says that is attached, as if it was forwarded."""
    inner = message.attached
    if inner is None or not inner.text.strip():
        return ""
    sender = inner.sender
    who = f"From: {f'{sender.name} <{sender.address}>'.lstrip()}" if sender else ""
    subject = f"Subject: {inner.subject}" if inner.subject else ""
    head = "\n".join(filter(None, ("[Attached message]", who, subject)))
    return clean(f"{head}\n\n{inner.text}").strip()


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
        raw_until=now_us + RAW_KEPT_US if raw.sha256 else None,
        envelope=_envelope_of(incoming),
    )


def _envelope_of(incoming: Incoming) -> str | None:
    found = Envelope(
        _tokens(incoming, incoming.recipients),
        incoming.envelope_sender == "",
        incoming.message.content_hash,
        incoming.arrived_at,
        incoming.message.date,
        incoming.message.is_of_list,
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


def is_certainly_by_program(incoming: Incoming) -> bool:
    """Whether nobody reads a message for what it may contain; a subject or an address could err."""
    by_program = incoming.message.is_by_program and incoming.message.automatic in _OF_PROGRAMS
    return by_program or incoming.envelope_sender == ""


def automatic_reason(incoming: Incoming) -> str | None:
    """Why no program may answer a message, although a person may have written it."""
    if incoming.envelope_sender == "":
        return incoming.message.automatic or "empty sender"
    return incoming.message.automatic


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
    """Who else wrote the message or wants its answers, and whom it was sent to; also mailboxes.

    Lists name others in Reply-To than the author has.
    """
    answered = () if message.is_of_list else message.reply_to
    named = (*message.co_authors, *answered, *message.to, *message.cc)
    known = (each for each in named if is_read(each.address))
    by_identity = {email_identity(each.address): each for each in known}
    return tuple(by_identity.values())[:_MAX_PEOPLE]


def identities_in(message: ParsedMessage) -> tuple[str, ...]:
    """What the addresses in a message may be in the directory of mailboxes."""
    forms = (form for each in authors.addresses_in(message) for form in authors.forms_of(each))
    return tuple(dict.fromkeys(islice(forms, _MAX_IDENTITIES)))


def may_be_own_id(message_id: str, origin: Origin) -> bool:
    """Whether the desk may have sent a message: it uses the domains of its mailboxes."""
    domain = message_id.rpartition("@")[2].lower()
    return domain in {each.rpartition("@")[2] for each in origin.own_addresses}


def mailbox_identity(address: str) -> str:
    """An address as the directory of mailboxes has it: without the token of a reply address."""
    return email_identity(threads.mailbox_address(address))


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


def is_copy(known: ReceivedMessage, new: ReceivedMessage) -> bool:
    """Whether two messages of one sender are one that came by two ways, perhaps with two ids.

    A device whose clock has stopped repeats its words with one Date.
    """
    envelope, date = read_envelope(known), read_envelope(new).date
    arrived_at = envelope.arrived_at or known.received_at
    is_dated = abs(parse_time(date) * 1_000_000 - arrived_at) < _WRONG_CLOCK_US
    is_at_once = known.message_key == new.message_key or is_dated
    return is_at_once and is_same(known, new) and envelope.date == date


def may_be_copy_by_list(
    known: ReceivedMessage, new: ReceivedMessage, message: ParsedMessage
) -> bool:
    """Whether a list may have passed one of two messages on."""
    return known.message_key == new.message_key and bool(message.message_id and message.date)


def files_beside(known: Iterable[AttachmentRef], files: Iterable[File]) -> tuple[File, ...]:
    """The files of a message that a ticket or reply does not have."""
    attached = {(each.name, each.size_bytes) for each in known}
    return tuple(each for each in files if (each.name, each.size_bytes) not in attached)


def has_same_words(one: str, other: str) -> bool:
    """Whether one of two texts contains the other, whatever is between the words."""
    shorter, longer = sorted((" ".join(each.split()) for each in (one, other)), key=len)
    return bool(shorter) and shorter in longer


def with_own_key(message: ReceivedMessage, content_hash: str) -> ReceivedMessage:
    """A message that shares its Message-ID and Date with another one, with a key of its own."""
    digest = hashlib.sha256(f"{message.message_key}\0{content_hash}".encode()).hexdigest()
    return msgspec.structs.replace(message, message_key=f"content {digest}")


def with_effect(message: ReceivedMessage, effect: Effect) -> ReceivedMessage:
    return msgspec.structs.replace(message, **effect._asdict())
