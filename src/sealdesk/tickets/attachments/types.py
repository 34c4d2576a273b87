"""The structs of attachments: as stored, and as shown."""

from typing import NamedTuple

import msgspec

from sealdesk.clock import Iso
from sealdesk.ids import Id


class Attachment(msgspec.Struct, frozen=True):
    """An upload as it is stored. macro_id: of the macro that keeps it.

    content_type: what the client declared. image_type: what its first bytes say, if pages show it.
    """

    tenant_id: str
    id: str
    name: str
    content_type: str
    image_type: str | None
    size_bytes: int
    sha256: str
    uploader_kind: str
    uploader_id: str
    ticket_id: str | None
    reply_id: str | None
    created_at: int
    macro_id: str | None = None


class Content(NamedTuple):
    """The bytes that one or several attachments of a tenant share."""

    tenant_id: str
    sha256: str


class StoredContent(NamedTuple):
    """Bytes in a storage, and their size there."""

    content: Content
    size_bytes: int


class Kept(NamedTuple):
    """Bytes that were just stored. head: the first of them."""

    sha256: str
    size: int
    head: bytes


class AttachmentResponse(msgspec.Struct, frozen=True):
    """An attachment as the API shows it.

    name: of the file. content_type: as it was declared. is_image: whether pages preview it.
    sha256: of its bytes, in hex. ticket_id: of the ticket that refers to it, null until one does.
    reply_id: of the reply that refers to it. content_path: where its bytes are without a signature,
    until content_until.
    """

    id: Id
    name: str
    content_type: str
    size_bytes: int
    is_image: bool
    sha256: str
    ticket_id: Id | None
    reply_id: Id | None
    created_at: Iso
    content_path: str
    content_until: Iso
