"""A message from its raw bytes: no I/O, no clock, and no error whatever the bytes are."""

from sealdesk.mail.parsing.addresses import MAX_ADDRESSES, read_addresses
from sealdesk.mail.parsing.automatic import is_spam, why_automatic
from sealdesk.mail.parsing.bounces import original_text, read_bounce_text, read_report
from sealdesk.mail.parsing.charsets import clean_line, clean_text, decode
from sealdesk.mail.parsing.content import MAX_TEXT_LENGTH, Content
from sealdesk.mail.parsing.encoded_words import charset_of_words, decode_words
from sealdesk.mail.parsing.headers import Headers
from sealdesk.mail.parsing.message_ids import read_message_ids
from sealdesk.mail.parsing.structure import Node, Structure
from sealdesk.mail.parsing.types import Address, DeliveryStatus, Fault, ParsedMessage

MAX_SUBJECT_LENGTH = 255  # of a ticket
_MAX_ADDRESS_FIELDS = 20
_MAX_RESULTS = 20
_MAX_RESULT_LENGTH = 4_096
_FROM_MAIL_SYSTEMS = ("empty sender", "mail system", "auto-submitted", "report")
_WITH_WORDS = ("subject", "from", "to")


def parse(raw: bytes) -> ParsedMessage:
    """What a message says; what could not be understood is named in its `faults`."""
    try:
        return parse_strictly(raw)
    except Exception:
        # A mistake of this package must not lose the message; the caller keeps its raw bytes.
        text = clean_text(decode(raw[:MAX_TEXT_LENGTH]).text).strip()
        return ParsedMessage(text=text, is_truncated=True, faults=(Fault.UNEXPECTED,))


def parse_strictly(raw: bytes) -> ParsedMessage:
    """As `parse`, but a mistake of this package raises, so that tests see it."""
    if b"\n" not in raw and b"\r" in raw:
        raw = raw.replace(b"\r", b"\n")
    structure = Structure(raw)
    top = structure.read()
    headers, faults = top.headers, structure.faults
    content = Content(raw, _likely_charset(headers), faults)
    content.take(top)
    sender = _sender(headers, faults)
    subject = decode_words(headers.first("subject"), faults)[:MAX_SUBJECT_LENGTH].strip()
    automatic = why_automatic(headers, top.kind, sender.address if sender else None)
    text = content.text or original_text(raw, content.reports)
    message_ids = read_message_ids(headers.first("message-id"))
    return ParsedMessage(
        message_id=message_ids[0] if message_ids else None,
        in_reply_to=read_message_ids(headers.first("in-reply-to")),
        references=read_message_ids(headers.first("references")),
        sender=sender,
        reply_to=_addresses(headers, "reply-to", faults),
        to=_addresses(headers, "to", faults),
        cc=_addresses(headers, "cc", faults),
        subject=subject,
        text=text[:MAX_TEXT_LENGTH],
        is_truncated=content.is_truncated,
        attachments=tuple(content.files),
        automatic=automatic,
        delivery_status=_delivery_status(raw, top, content, automatic, subject, text, faults),
        is_spam=is_spam(headers),
        authentication_results=_results(headers),
        faults=tuple(sorted(faults)),
    )


def _likely_charset(headers: Headers) -> str | None:
    """The charset of encoded words, for texts that declare none."""
    found = (charset_of_words(headers.first(name)) for name in _WITH_WORDS)
    return next((codec for codec in found if codec not in (None, "ascii", "utf-8")), None)


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


def _addresses(headers: Headers, name: str, faults: set[Fault]) -> tuple[Address, ...]:
    """The addresses of all fields of a name, each once."""
    known: dict[str, Address] = {}
    for field in headers.all(name)[:_MAX_ADDRESS_FIELDS]:
        for each in read_addresses(field, faults):
            known.setdefault(each.address.lower(), each)
    return tuple(known.values())[:MAX_ADDRESSES]


def _results(headers: Headers) -> tuple[str, ...]:
    results = headers.all("authentication-results")[:_MAX_RESULTS]
    return tuple(clean_line(each)[:_MAX_RESULT_LENGTH] for each in results)


def _delivery_status(
    raw: bytes,
    top: Node,
    content: Content,
    automatic: str | None,
    subject: str,
    text: str,
    faults: set[Fault],
) -> DeliveryStatus | None:
    if content.reports and top.kind == "multipart/report":
        return read_report(raw, content.reports, top, faults)
    if automatic in _FROM_MAIL_SYSTEMS and top.kind != "multipart/report":
        return read_bounce_text(top.headers, subject, text)
    return None
