"""Attachments in the API: uploading, looking at, and downloading them."""

from sealdesk.errors import NotFound
from sealdesk.errors.requests import BODY_TOO_LARGE
from sealdesk.tickets.attachments import actions, receiving, serving
from sealdesk.tickets.attachments.errors import (
    ATTACHMENT_QUOTA_EXCEEDED,
    EMPTY_ATTACHMENT,
    FILE_TYPE_NOT_ALLOWED,
    LINK_EXPIRED,
)
from sealdesk.tickets.attachments.types import AttachmentResponse
from sealdesk.web import envelope, query
from sealdesk.web.operation import operation
from sealdesk.web.request import Request, Response

_TAG = "Attachments"


_TOKEN = query.text("token", "From `content_path`.", max_length=1024, example="AbC")
_ATTACHMENT = AttachmentResponse(
    id="0199c0de-60aa-7b11-8c2d-3e4f5a6b7c8d",
    name="bowl.jpg",
    content_type="image/jpeg",
    size_bytes=248_113,
    is_image=True,
    sha256="9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ticket_id=None,
    reply_id=None,
    created_at="2026-03-02T09:14:58.120044Z",
    content_path="/attachments/0199c0de-60aa-7b11-8c2d-3e4f5a6b7c8d?token=Cg4x…",
    content_until="2026-03-02T09:19:58.120044Z",
)


@operation(
    "Upload an attachment",
    tag=_TAG,
    gives=_ATTACHMENT,
    status=201,
    params=(receiving.NAME,),
    receives="application/octet-stream",
    response_headers=("location",),
    fails=(BODY_TOO_LARGE, EMPTY_ATTACHMENT, FILE_TYPE_NOT_ALLOWED, ATTACHMENT_QUOTA_EXCEEDED),
)
async def upload(request: Request) -> Response:
    """The body is the file itself, at most 25 MiB, and its Content-Type is kept. Name its `id` in
    the `attachment_ids` of a new ticket or reply within a day, or it is deleted."""
    stored = await receiving.receive(request, receiving.read_name(request))
    return envelope.created(request, serving.to_response(request.state, stored, request.now_us))


@operation("Get an attachment", tag=_TAG, gives=_ATTACHMENT)
async def get_attachment(request: Request, attachment_id: str) -> Response:
    """One attachment; `content_path` leads to its bytes for 5 minutes, without a signature."""
    attachment = await serving.find(request, attachment_id)
    return envelope.one(serving.to_response(request.state, attachment, request.now_us))


@operation(
    "Download an attachment",
    tag=_TAG,
    produces="application/octet-stream",
    response_headers=("content-disposition",),
)
async def download(request: Request, attachment_id: str) -> Response:
    """The bytes of an attachment."""
    return await serving.serve(request, await serving.find(request, attachment_id))


@operation("Download by a link", tag=_TAG, produces="application/octet-stream", params=(_TOKEN,))
async def follow_link(request: Request, attachment_id: str) -> Response:
    """The bytes of an attachment, for who has its link."""
    token = query.parse(request.query, (_TOKEN,)).get("token", "")
    state = request.state
    link = serving.open_link(state.key_ring, token, epoch=state.epoch, now_us=request.now_us)
    found = await state.database.read(
        lambda tx: actions.get_attachment(tx, link.tenant_id, link.attachment_id), link.tenant_id
    )
    if found.id != attachment_id:
        raise NotFound(LINK_EXPIRED)
    return await serving.serve(request, found)
