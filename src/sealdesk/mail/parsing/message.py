"""A message from its raw bytes: no I/O, no clock, and no error whatever the bytes are."""

import hashlib
from itertools import islice

import msgspec

from sealdesk.mail.parsing.addresses import MAX_ADDRESSES, read_addresses
from sealdesk.mail.parsing.automatic import (
    is_by_program,
    is_from_mail_system,
    is_of_list,
    is_of_website,
    is_report,
    is_spam,
    why_automatic,
)
from sealdesk.mail.parsing.bounces import (
    COMPLAINT_TYPE,
    is_complaint,
    original_text,
    read_bounce_text,
    read_complaint,
    read_report,
)
from sealdesk.mail.parsing.charsets import clean_line, clean_text, codec_of, decode
from sealdesk.mail.parsing.content import MAX_TEXT_LENGTH, Content
from sealdesk.mail.parsing.encoded_words import charset_of_words, decode_words
from sealdesk.mail.parsing.headers import DELIVERED, ORIGINAL_FROM, Headers
from sealdesk.mail.parsing.message_ids import read_message_ids
from sealdesk.mail.parsing.structure import Node, Structure
from sealdesk.mail.parsing.transfer import decode_text
from sealdesk.mail.parsing.types import (
    Address,
    AttachedMessage,
    DeliveryStatus,
    Fault,
    ParsedMessage,
)

MAX_SUBJECT_LENGTH = 255  # of a ticket
_MAX_ADDRESS_FIELDS = 20
_MAX_ID_FIELDS = 5
_MAX_RESULTS = 20
_MAX_DATE = 60
_RECEIPT = "disposition-notification"  # RFC 8098
_HASH_LENGTH = 32  # 128 bits
_MAX_RESULT_LENGTH = 4_096
_MAX_ATTACHED_BYTES = 1024 * 1024  # of an attached message that are read for its words
_WITH_WORDS = ("subject", "from", "to")


def parse(raw: bytes) -> ParsedMessage:
    """What a message says; what could not be understood is named in its `faults`."""
    try:
        return parse_strictly(raw)
    except Exception:
        # A mistake of this package must not lose the message; the caller keeps its raw bytes.
        text = clean_text(decode(raw[:MAX_TEXT_LENGTH]).text).strip()
        return ParsedMessage(text=text, is_truncated=True, faults=(Fault.UNEXPECTED,))


def with_line_ends(raw: bytes) -> bytes:
    """The bytes of a message whose lines end as those of old Macintoshes, with LF."""
    return raw.replace(b"\r", b"\n") if b"\n" not in raw and b"\r" in raw else raw


def parse_strictly(raw: bytes) -> ParsedMessage:
    """As `parse`, but a mistake of this package raises, so that tests see it."""
    raw = with_line_ends(raw)
    structure = Structure(raw)
    top = structure.read()
    headers, faults = top.headers, structure.faults
    charset = _charset_of_text(top)
    if charset is not None:
        _decode_again(top, charset)
    content = Content(raw, _likely_charset(headers), faults)
    content.take(top)
    sender = _sender(headers, faults)
    subject = decode_words(headers.first("subject"), faults)[:MAX_SUBJECT_LENGTH].strip()
    address = sender.address if sender else None
    automatic = why_automatic(headers, top.kind, address)
    text = content.text or original_text(raw, content.reports)
    in_reply_to = read_message_ids(" ".join(headers.all("in-reply-to")[:_MAX_ID_FIELDS]))
    references = read_message_ids(" ".join(headers.all("references")[:_MAX_ID_FIELDS]))
    status = None
    if is_from_mail_system(headers, top.kind, address) or is_complaint(subject):
        status = _delivery_status(raw, top, content, subject, text, faults)
        status = _about(status, in_reply_to or references[-1:])
    message_ids = read_message_ids(headers.first("message-id"))
    return ParsedMessage(
        message_id=message_ids[0] if message_ids else None,
        in_reply_to=in_reply_to,
        references=references,
        sender=sender,
        reply_to=_addresses(headers, "reply-to", faults),
        to=_addresses(headers, "to", faults),
        cc=_addresses(headers, "cc", faults),
        subject=subject,
        text=text[:MAX_TEXT_LENGTH],
        is_truncated=content.is_truncated,
        attachments=tuple(content.files),
        automatic=automatic,
        is_by_program=is_by_program(headers, top.kind, address, subject),
        is_report=is_report(top.kind, subject),
        is_of_list=is_of_list(headers),
        is_of_website=is_of_website(headers),
        list_id=_list_id(headers),
        original_from=_original_from(headers, faults),
        co_authors=_co_authors(headers, address),
        delivered_to=_delivered_to(headers),
        date=clean_line(headers.first("date"))[:_MAX_DATE],
        content_hash=_hash_of_content(subject, text, content),
        delivery_status=status,
        attached=_attached(content) if status is None else None,
        is_spam=is_spam(headers),
        authentication_results=_results(headers),
        faults=tuple(sorted(faults)),
    )


def _attached(content: Content) -> AttachedMessage | None:
    if len(content.messages) != 1:
        return None
    faults = set[Fault]()
    _, top, inner = _read_attached(content, faults)
    subject = decode_words(top.headers.first("subject"), faults)[:MAX_SUBJECT_LENGTH].strip()
    return AttachedMessage(_sender(top.headers, faults), subject, inner.text)


def _read_attached(content: Content, faults: set[Fault]) -> tuple[bytes, Node, Content]:
    """The message that is attached, its header and what it contains."""
    raw = decode_text(content.messages[0], set(), _MAX_ATTACHED_BYTES)
    top = Structure(raw).read()
    inner = Content(raw, _likely_charset(top.headers), faults)
    inner.unpacked_bytes_left = 0  # it may have been compressed itself
    inner.take(top)
    return raw, top, inner


def _likely_charset(headers: Headers) -> str | None:
    """The charset of encoded words, for texts that declare none."""
    found = (charset_of_words(headers.first(name)) for name in _WITH_WORDS)
    return next((codec for codec in found if codec not in (None, "ascii", "utf-8")), None)


def _charset_of_text(node: Node) -> str | None:
    """The charset that the first text declares, for fields that are in no other."""
    if node.parts:
        return next((found for part in node.parts if (found := _charset_of_text(part))), None)
    declared = node.content_type.parameters.get("charset", "")
    return codec_of(declared) if node.kind.startswith("text/") else None


def _decode_again(node: Node, charset: str) -> None:
    """Decode the fields of a message and its parts that are in no other charset."""
    node.headers.decode_again(charset)
    for part in node.parts:
        _decode_again(part, charset)


def _sender(headers: Headers, faults: set[Fault]) -> Address | None:
    """The author; of several the one who sent the message (RFC 5322, 3.6.2)."""
    authors = read_addresses(headers.first("from"), faults)
    senders = read_addresses(headers.first("sender"), faults)
    if len(authors) == 1:
        return authors[0]
    faults.add(Fault.FROM)
    by_address = {each.address.lower(): each for each in reversed(authors)}
    found = [
        by_address[each.address.lower()] for each in senders if each.address.lower() in by_address
    ]
    paths = read_addresses(headers.first("return-path"), set())
    return next(iter((*found, *authors, *senders, *paths)), None)


def _co_authors(headers: Headers, sender: str | None) -> tuple[Address, ...]:
    authors = read_addresses(headers.first("from"), set())
    return tuple(each for each in authors if each.address != sender)


def _addresses(headers: Headers, name: str, faults: set[Fault]) -> tuple[Address, ...]:
    """The addresses of all fields of a name, each once."""
    known: dict[str, Address] = {}
    for field in headers.all(name)[:_MAX_ADDRESS_FIELDS]:
        for each in read_addresses(field, faults):
            known.setdefault(each.address.lower(), each)
    return tuple(known.values())[:MAX_ADDRESSES]


def _list_id(headers: Headers) -> str:
    posted = headers.first("list-post").replace("mailto:", "").replace("@", ".")
    named = (headers.first("list-id") or posted).rpartition("<")[2]
    return clean_line(named.partition(">")[0]).lower()[:_MAX_RESULT_LENGTH]


def _original_from(headers: Headers, faults: set[Fault]) -> tuple[Address, ...]:
    return tuple(each for name in ORIGINAL_FROM for each in _addresses(headers, name, faults))


def _delivered_to(headers: Headers) -> tuple[Address, ...]:
    found = (each for name in DELIVERED for each in _addresses(headers, name, set()))
    return tuple(islice(found, MAX_ADDRESSES))


def _hash_of_content(subject: str, text: str, content: Content) -> str:
    """What tells messages apart whose program gives all of them one Message-ID."""
    digest = hashlib.sha256(f"{subject}\0{text}".encode("utf-8", "replace"))
    digest.update(content.hashed.digest())
    return digest.hexdigest()[:_HASH_LENGTH]


def _results(headers: Headers) -> tuple[str, ...]:
    results = headers.all("authentication-results")[:_MAX_RESULTS]
    return tuple(clean_line(each)[:_MAX_RESULT_LENGTH] for each in results)


def _delivery_status(
    raw: bytes,
    top: Node,
    content: Content,
    subject: str,
    text: str,
    faults: set[Fault],
) -> DeliveryStatus | None:
    if top.content_type.parameters.get("report-type", "").lower() == _RECEIPT:
        return None  # whatever the words say of a delivery, which are those of the subject
    if is_complaint(subject) or [each.kind for each in content.reports[:1]] == [COMPLAINT_TYPE]:
        return read_complaint(raw, content.reports[:1], top)
    if content.reports:
        return read_report(raw, content.reports, top, f"{subject}\n{text}", faults)
    return _passed_on(content) or read_bounce_text(raw, top, subject, text)


def _passed_on(content: Content) -> DeliveryStatus | None:
    """What a report says that a filter has put into a message of its own."""
    if len(content.messages) != 1:
        return None
    raw, top, inner = _read_attached(content, set())
    return read_report(raw, inner.reports, top, inner.text, set()) if inner.reports else None


def _about(status: DeliveryStatus | None, answered: tuple[str, ...]) -> DeliveryStatus | None:
    """A report without a copy is about the message that it answers, as Exchange and Gmail do."""
    if status is None or status.message_id or not answered:
        return status
    return msgspec.structs.replace(status, message_id=answered[0])
