"""An example attachment for the API reference."""

from sealdesk.tickets.attachments.types import AttachmentResponse

ATTACHMENT = AttachmentResponse(
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
