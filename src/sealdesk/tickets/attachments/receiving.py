"""Receives the body of a request as an attachment, without holding it in memory."""

from collections.abc import AsyncIterator

from sealdesk import ids
from sealdesk.errors import BadRequest, ServiceUnavailable, UnsupportedMediaType
from sealdesk.errors.general import TOO_MANY_BYTES
from sealdesk.rate_limits.byte_budget import Holding
from sealdesk.tickets.attachments import actions, files, rules
from sealdesk.tickets.attachments.errors import EMPTY_ATTACHMENT, FILE_TYPE_NOT_ALLOWED
from sealdesk.tickets.attachments.files import IncomingFile
from sealdesk.tickets.attachments.storage import storage_of
from sealdesk.tickets.attachments.types import Attachment, Content
from sealdesk.web import query
from sealdesk.web.proof import BodyDigest
from sealdesk.web.query import BadValue, Param
from sealdesk.web.request import Disconnected, Request

_DEFAULT_NAME = "file"


def _read_name(text: str) -> str:
    if fault := rules.fault_of_name(text):
        raise BadValue(fault)
    return text


NAME = Param(
    "name",
    "The name of the file, percent-encoded UTF-8.",
    _read_name,
    {
        "type": "string",
        "minLength": 1,
        "maxLength": rules.MAX_NAME_LENGTH,
        "default": _DEFAULT_NAME,
    },
    str,
    "bowl.jpg",
)


def read_name(request: Request) -> str:
    """The name in the query. Raises BadRequest."""
    name: str = query.parse(request.query, (NAME,)).get("name", _DEFAULT_NAME)
    return name


async def receive(request: Request, name: str) -> Attachment:
    """Store the body as an attachment with this name, durably.

    Nothing is visible before the request is proven. Raises ApiError, Disconnected.
    """
    settings, tenant_id = request.state.settings, request.caller.tenant_id
    if not rules.is_allowed(name, settings.attachment_types):
        ending = f".{rules.ending_of(name)}"
        raise UnsupportedMediaType(FILE_TYPE_NOT_ALLOWED, ending=ending)
    request.max_body_bytes = min(request.max_body_bytes, settings.attachment_max_bytes)
    size = request.declared_size()
    expected = request.max_body_bytes if size is None else size
    quota = settings.attachment_quota_bytes
    await request.fetch(actions.check_quota, size or 0, quota_bytes=quota)
    holding = Holding(request.state.limits.uploading, tenant_id)
    if not holding.try_add(expected):
        raise ServiceUnavailable(TOO_MANY_BYTES)
    try:
        incoming = await files.begin(files.folder_of(settings))
        try:
            return await _receive_into(incoming, request, name)
        finally:
            incoming.discard()
    finally:
        holding.release()


async def _receive_into(incoming: IncomingFile, request: Request, name: str) -> Attachment:
    async for part in _parts(request):
        await incoming.write(part)
    digest = await incoming.finish()
    await _prove(request, digest)
    if digest.size == 0:
        raise BadRequest(EMPTY_ATTACHMENT)
    caller = request.caller
    attachment = Attachment(
        tenant_id=caller.tenant_id,
        id=ids.mint(request.now_us),
        name=name,
        content_type=rules.media_type(request.header(b"content-type") or ""),
        image_type=rules.image_type(incoming.head),
        size_bytes=digest.size,
        sha256=digest.sha256,
        uploader_kind=caller.actor.kind,
        uploader_id=caller.actor.id,
        ticket_id=None,
        reply_id=None,
        created_at=request.now_us,
    )
    # First the file: a row without its file would be worse than a file without a row.
    settings = request.state.settings
    storage = storage_of(settings)
    await storage.publish(incoming.path, content_of(attachment), request.now_us)
    await request.write(
        lambda tx: actions.add(tx, attachment, quota_bytes=settings.attachment_quota_bytes)
    )
    return attachment


def content_of(attachment: Attachment) -> Content:
    return Content(attachment.tenant_id, attachment.sha256)


async def _parts(request: Request) -> AsyncIterator[bytes]:
    """The parts of the body as they arrive, each to be used before the next.

    Raises ContentTooLarge, UnsupportedMediaType, Disconnected.
    """
    if request.declared_size() == 0:
        return
    size, more_body = 0, True
    while more_body:
        message = await request.receive()
        if message["type"] != "http.request":
            raise Disconnected
        part: bytes = message["body"]
        size += len(part)
        request.streamed_bytes = size
        request.check_size(size + message.get("announced_bytes", 0))
        yield part
        if "release" in message:  # our server counts what the application holds
            message["release"](len(part))
        more_body = message.get("more_body", False)


async def _prove(request: Request, digest: BodyDigest) -> None:
    """Prove a body that was read in parts; nothing can be written before. Raises ApiError."""
    if request.proof.prove_body is not None:
        request.proof = await request.proof.prove_body(digest)
