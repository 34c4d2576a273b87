"""The structs of a parsed message."""

from enum import StrEnum
from typing import NamedTuple

import msgspec

RAW_MESSAGE = ("message.eml", "message/rfc822")  # the name and type of its file


class Fault(StrEnum):
    """What of a message could not be understood."""

    HEADERS = "headers"  # a line among the headers is none, or there are too many
    DUPLICATE_HEADER = "duplicate header"  # the first one counts
    FROM = "from"  # there is no sender, or there are several
    ADDRESS = "address"  # what stands where an address should be is none
    ENCODED_WORD = "encoded word"  # RFC 2047
    CHARSET = "charset"  # unknown, missing, or not the one of the bytes
    TRANSFER_ENCODING = "transfer encoding"  # unknown, or its text is broken
    BOUNDARY = "boundary"  # the boundary of a multipart is missing
    DEPTH = "depth"  # parts are nested too deeply
    PARTS = "parts"  # there are too many parts
    FILE_NAME = "file name"  # the name of a file had to be changed
    ENCRYPTED = "encrypted"
    COMPRESSED = "compressed"  # S/MIME that is too large when unpacked, or broken
    CERTIFICATES = "certificates"  # S/MIME that has only these
    EXTERNAL = "external body"  # a part that names where its content is; nothing is fetched
    TNEF = "winmail.dat"
    DELIVERY_STATUS = "delivery status"  # a report that does not say what became of the message
    UNEXPECTED = "unexpected"  # the parser itself failed; the text is that of the raw message


class Address(msgspec.Struct, frozen=True):
    """address: with Unicode as it was sent, not checked further; name: "" without one."""

    address: str
    name: str = ""


class Encoded(NamedTuple):
    """Bytes as they are in a message: raw[start:end]. encoding: Content-Transfer-Encoding."""

    raw: bytes
    start: int
    end: int
    encoding: str


class Part(msgspec.Struct, frozen=True):
    """A file in a message. content_id: without angle brackets, as `cid:` URLs contain it.

    encoded: read by transfer.decode, so that a large file is not in memory beside its message.
    size_bytes: when decoded.
    """

    name: str
    content_type: str
    encoded: Encoded
    size_bytes: int
    content_id: str | None = None
    is_inline: bool = False


class DeliveryStatus(msgspec.Struct, frozen=True):
    """What became of a message that was sent (RFC 3464); of several recipients the worst.

    message_id: of that message. action: failed, delayed, delivered, relayed or expanded; perhaps
    delayed if that is not clear; or complained if the recipient calls it spam (RFC 5965).
    status: as in `5.1.1`, "" if the report names none. text: what the other server said.
    """

    message_id: str | None
    recipient: str | None
    action: str
    status: str
    text: str


class AttachedMessage(msgspec.Struct, frozen=True):
    """What a message says that is attached to another one."""

    sender: Address | None
    subject: str
    text: str


class ParsedMessage(msgspec.Struct, frozen=True):
    """What a message says, as far as it could be understood; each field has a bound.

    message_id, in_reply_to, references: without angle brackets. text: what becomes the text of the
    ticket, "" if there is none. is_truncated: whether something was left out of the text or of the
    attachments. automatic: the reason why no automatic answer may be sent. is_by_program: whether
    a program has written it, as an absence or a report, and not a person. is_report: as RFC 6522
    and RFC 7489 have them. is_of_list: whether a list has passed it on. is_of_website: whether a
    program of a website has sent it. list_id: of that list. original_from: the From that the list
    says it has replaced. co_authors: whom From names beside the sender. delivered_to: the
    mailboxes that servers say it has passed through. date: the field as it stands.
    content_hash: of its words and files, in hex. attached: the one message that is attached.
    """

    message_id: str | None = None
    in_reply_to: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    sender: Address | None = None
    reply_to: tuple[Address, ...] = ()
    to: tuple[Address, ...] = ()
    cc: tuple[Address, ...] = ()
    subject: str = ""
    text: str = ""
    is_truncated: bool = False
    attachments: tuple[Part, ...] = ()
    automatic: str | None = None
    is_by_program: bool = False
    is_report: bool = False
    is_of_list: bool = False
    is_of_website: bool = False
    list_id: str = ""
    original_from: tuple[Address, ...] = ()
    co_authors: tuple[Address, ...] = ()
    delivered_to: tuple[Address, ...] = ()
    date: str = ""
    content_hash: str = ""
    delivery_status: DeliveryStatus | None = None
    attached: AttachedMessage | None = None
    is_spam: bool = False
    authentication_results: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
