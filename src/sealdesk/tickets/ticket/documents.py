"""Tickets and replies as JSON: what the API shows and what is stored ready to be shown; no IO."""

import msgspec

from sealdesk.resources import representation
from sealdesk.tickets.ticket.types import (
    NEWEST_MEMBER,
    AttachmentRef,
    ReplyResponse,
    TicketDocument,
)

to_reply_response = representation.response_builder(ReplyResponse)
# The ready JSON of a ticket without its customer, stored beside its columns.
ready_document = representation.response_encoder(TicketDocument)
_DEFAULTS = {
    field.name: None if field.required else field.default
    for field in msgspec.structs.fields(TicketDocument)
}
_NEWEST_MEMBER = f'"{NEWEST_MEMBER}":'.encode()
_decode_attachments = msgspec.json.Decoder(tuple[AttachmentRef, ...]).decode
reply_json = representation.response_encoder(ReplyResponse)


def with_customer(document: bytes, reference: bytes) -> bytes:
    """TicketResponse as JSON, from a ready document and the JSON reference of its customer."""
    if _NEWEST_MEMBER not in document:
        document = _completed(document)
    return b"".join((document[:-1], b',"customer":', reference, b"}"))


def _completed(document: bytes) -> bytes:
    """A ready document of an earlier version, with the members that were added since."""
    given = msgspec.json.decode(document)
    return msgspec.json.encode(_DEFAULTS | given)


def encode_attachments(attachments: tuple[AttachmentRef, ...]) -> str | None:
    """As tickets and replies store them: most have none."""
    return msgspec.json.encode(attachments).decode() if attachments else None


def decode_attachments(stored: str | None) -> tuple[AttachmentRef, ...]:
    """The attachments of a ticket or reply from its column."""
    return _decode_attachments(stored) if stored else ()


def etag(ticket_version: int, customer_version: int) -> str:
    """The ETag of a ticket with its customer: a renamed customer changes it too."""
    return representation.etag(ticket_version, customer_version)
