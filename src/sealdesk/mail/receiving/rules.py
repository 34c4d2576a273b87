"""What is read from a received message; no I/O, no clock."""

import re
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from sealdesk.mail.parsing.types import Address, ParsedMessage
from sealdesk.mail.receiving.types import Effect, Envelope, Incoming, ReceivedMessage
from sealdesk.mail.threads import rules as threads
from sealdesk.resources.representation import check_email, email_identity
from sealdesk.tickets.attachments import rules as attachments

RAW_KEPT_US = 30 * 24 * 3600 * 1_000_000
# Within LIMITED_US; further messages are held. The first two are of one sender.
MAX_NEW_TICKETS, MAX_REPLIES, MAX_REPLIES_OF_TICKET = 10, 30, 100
LIMITED_US = 10 * 60 * 1_000_000
# The domain never exists (RFC 6761), so nothing is ever sent to it.
UNKNOWN_SENDER = "unknown@sender.invalid"
MAX_TEXT = 65_536  # LongText of tickets
_MAX_SUBJECT = 255
_MAX_NAME = 255
_MAX_KEY = 255
_MAX_TOKENS = 10
_MAX_REFERENCES = 50
_MAX_PEOPLE = 50
_FAILED_DMARC = re.compile(r"\bdmarc=fail\b", re.IGNORECASE)


class FromAddress(NamedTuple):
    """Who has written a message. is_known: otherwise it has no valid address."""

    address: str
    name: str | None
    is_known: bool

    @property
    def identity(self) -> str:
        return email_identity(self.address)


def sender_of(message: ParsedMessage) -> FromAddress:
    """The sender as the message names it, which anybody can forge."""
    if message.sender is None or check_email(message.sender.address):
        return FromAddress(UNKNOWN_SENDER, _name(message.sender), False)
    return FromAddress(message.sender.address, _name(message.sender), True)


def subject_of(message: ParsedMessage) -> str:
    """As the subject of a ticket."""
    line = " ".join(clean(message.subject).split())
    return line[:_MAX_SUBJECT].strip() or "(no subject)"


def text_of(message: ParsedMessage, before: str = "", after: str = "") -> str:
    """As the text of a ticket or reply, with sentences before and after it."""
    text = clean(message.text).strip() or "(no text)"
    room = MAX_TEXT - len(before) - len(after)
    cut = text if len(text) <= room else text[: room - 1] + "…"
    return f"{before}{cut}{after}"


def clean(text: str) -> str:
    """Without what PostgreSQL or UTF-8 cannot store: NUL and lone surrogates."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def new_row(incoming: Incoming, message_id: str, now_us: int) -> ReceivedMessage:
    """The row of a message before its effect is known."""
    mailbox, raw = incoming.mailbox, incoming.raw
    return ReceivedMessage(
        tenant_id=mailbox.tenant_id,
        id=message_id,
        mailbox_id=mailbox.id,
        message_key=key_of(incoming.message, raw.digest),
        from_identity=sender_of(incoming.message).identity,
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
    found = Envelope(_tokens(incoming, incoming.recipients), incoming.envelope_sender == "")
    return None if found == Envelope() else msgspec.json.encode(found).decode()


def read_envelope(stored: ReceivedMessage) -> Envelope:
    """What is stored of the envelope of a message."""
    return msgspec.json.decode(stored.envelope, type=Envelope) if stored.envelope else Envelope()


def key_of(message: ParsedMessage, digest: str) -> str:
    """What a message is recognised by when it comes again. digest: SHA-256 of it, in hex."""
    message_id = clean(message.message_id or "").strip()
    return message_id if 0 < len(message_id) <= _MAX_KEY else _hash_key(digest)


def is_cut(message: ParsedMessage) -> bool:
    """Whether the ticket shows less than the message, which is attached then."""
    return message.is_truncated or bool(message.faults) or len(message.text) > MAX_TEXT


def automatic_reason(incoming: Incoming) -> str | None:
    """Why a message is an automatic one, None for one that a person has written."""
    if incoming.envelope_sender == "":
        return incoming.message.automatic or "empty sender"
    return incoming.message.automatic


def may_be_answered(incoming: Incoming, effect: Effect) -> bool:
    """Whether a program may answer a message: a person has opened a ticket with it."""
    message = incoming.message
    has_failed = has_failed_dmarc(message.authentication_results, incoming.authserv_ids)
    is_of_person = automatic_reason(incoming) is None and message.delivery_status is None
    return effect.outcome == "ticket" and is_of_person and not has_failed


def tokens_of(incoming: Incoming) -> tuple[str, ...]:
    """The tokens of reply addresses of this mailbox among the recipients, each once."""
    message = incoming.message
    headers = (each.address for each in (*message.to, *message.cc))
    return _tokens(incoming, (*incoming.recipients, *headers))


def _tokens(incoming: Incoming, addresses: Iterable[str]) -> tuple[str, ...]:
    identity = incoming.mailbox.address_identity
    tokens = [
        token
        for address in addresses
        if (token := threads.token_of(address)) and mailbox_identity(address) == identity
    ]
    return tuple(dict.fromkeys(tokens))[:_MAX_TOKENS]


def references_of(message: ParsedMessage) -> tuple[str, ...]:
    """The Message-IDs that a message is about, the nearest first."""
    report = message.delivery_status
    sent = (report.message_id,) if report and report.message_id else ()
    found = (*sent, *message.in_reply_to, *reversed(message.references))
    return tuple(dict.fromkeys(found))[:_MAX_REFERENCES]


def people_of(message: ParsedMessage) -> tuple[Address, ...]:
    """Who else the message was sent to; mailboxes are among them."""
    known = (each for each in (*message.to, *message.cc) if not check_email(each.address))
    by_identity = {email_identity(each.address): each for each in known}
    return tuple(by_identity.values())[:_MAX_PEOPLE]


def mailbox_identity(address: str) -> str:
    """An address as the directory of mailboxes has it: without the token of a reply address."""
    return email_identity(threads.mailbox_address(address))


def identities_of(address: str) -> tuple[str, ...]:
    """What a recipient may be in the directory: the address, and that of a reply address."""
    return tuple(dict.fromkeys((email_identity(address), mailbox_identity(address))))


def name_of(address: Address) -> str | None:
    return _name(address)


def has_failed_dmarc(results: Iterable[str], authserv_ids: frozenset[str]) -> bool:
    """Whether a believed server says that the sender's domain does not vouch for a message.

    results: the values of Authentication-Results (RFC 8601), which begin with the server's name.
    """
    for value in results:
        server, _, rest = value.partition(";")
        names = server.split()
        if names and names[0].lower() in authserv_ids and _FAILED_DMARC.search(rest):
            return True
    return False


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
    return identity != UNKNOWN_SENDER and not check_email(identity)


def is_same(known: ReceivedMessage, new: ReceivedMessage) -> bool:
    """Whether two messages with the same Message-ID are one."""
    return (known.from_identity, known.subject) == (new.from_identity, new.subject)


def with_own_key(message: ReceivedMessage, digest: str) -> ReceivedMessage:
    """A message that shares its Message-ID with another one, with a key of its own."""
    return msgspec.structs.replace(message, message_key=_hash_key(digest))


def with_effect(message: ReceivedMessage, effect: Effect) -> ReceivedMessage:
    return msgspec.structs.replace(message, **effect._asdict())


def _hash_key(digest: str) -> str:
    return f"sha256 {digest}"


def _name(address: Address | None) -> str | None:
    if address is None:
        return None
    return " ".join(clean(address.name or "").split())[:_MAX_NAME].strip() or None
