"""Serves the bytes of attachments, in a way in which nothing in them is run."""

import base64
import binascii

import msgspec

from sealdesk import clock
from sealdesk.crypto.sealing import KeyRing, UnsealError
from sealdesk.errors import NotFound
from sealdesk.resources.representation import response_builder
from sealdesk.state import AppState
from sealdesk.tickets.attachments import actions, rules
from sealdesk.tickets.attachments.errors import LINK_EXPIRED
from sealdesk.tickets.attachments.receiving import content_of
from sealdesk.tickets.attachments.storage import storage_of
from sealdesk.tickets.attachments.types import Attachment, AttachmentResponse
from sealdesk.web.request import Header, Request, Response

_PURPOSE = b"attachment"
_MAX_TOKEN_LENGTH = 1024
_HEADERS: tuple[Header, ...] = (
    (b"content-security-policy", b"default-src 'none'; sandbox"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
)

_respond = response_builder(AttachmentResponse, "is_image", "content_path", "content_until")


class Link(msgspec.Struct, frozen=True, array_like=True):
    """What the token of a link holds. epoch: a restore from a backup ends all links."""

    tenant_id: str
    attachment_id: str
    until_us: int
    epoch: int


async def serve(request: Request, attachment: Attachment) -> Response:
    """The file, to be saved; browsers show it only as an image of a page. Raises
    ServiceUnavailable."""
    file = await storage_of(request.state.settings).open(content_of(attachment))
    headers = [*_HEADERS, (b"content-disposition", rules.disposition(attachment.name))]
    content_type = (attachment.image_type or rules.DEFAULT_TYPE).encode()
    return Response(200, b"", headers, content_type, file=file)


def to_response(state: AppState, attachment: Attachment, now_us: int) -> AttachmentResponse:
    """The attachment as the API shows it, with a new link to its bytes."""
    until_us = now_us + rules.LINK_US
    link = Link(attachment.tenant_id, attachment.id, until_us, state.epoch)
    sealed = state.key_ring.seal_token(msgspec.msgpack.encode(link), _PURPOSE)
    token = base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()
    prefix = state.settings.path_prefix
    return _respond(
        attachment,
        is_image=attachment.image_type is not None,
        content_path=f"{prefix}/attachments/{attachment.id}?token={token}",
        content_until=clock.iso(until_us),
    )


def open_link(key_ring: KeyRing, token: str, *, epoch: int, now_us: int) -> Link:
    """What a link leads to. Raises NotFound for one that has expired or was changed."""
    try:
        if len(token) > _MAX_TOKEN_LENGTH:
            raise UnsealError("too long")
        sealed = base64.b64decode(token + "=" * (-len(token) % 4), b"-_", validate=True)
        link = msgspec.msgpack.decode(key_ring.open_token(sealed, _PURPOSE), type=Link)
    except (UnsealError, binascii.Error, ValueError) as error:
        raise NotFound(LINK_EXPIRED) from error
    if link.until_us < now_us or link.epoch != epoch:
        raise NotFound(LINK_EXPIRED)
    return link


async def find(request: Request, attachment_id: str) -> Attachment:
    """The attachment in the path. Raises NotFound."""
    return await request.fetch(actions.get_attachment, attachment_id)
