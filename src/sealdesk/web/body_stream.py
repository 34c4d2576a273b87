"""Reads the body of a request in parts, for bodies that are too large to hold in memory."""

from collections.abc import AsyncIterator

from sealdesk.errors import ContentTooLarge, UnsupportedMediaType
from sealdesk.errors.requests import BODY_TOO_LARGE, CONTENT_ENCODING
from sealdesk.web.proof import BodyDigest
from sealdesk.web.request import Disconnected, Request


def declared_size(request: Request) -> int | None:
    """The announced size of the body, None when it comes in chunks.

    Raises ContentTooLarge, UnsupportedMediaType: nothing of such a body is read.
    """
    encoding = request.headers.get(b"content-encoding")
    if encoding is not None and encoding.strip().lower() != b"identity":
        raise UnsupportedMediaType(CONTENT_ENCODING)
    declared = request.headers.get(b"content-length")
    if declared is None:
        return None if b"transfer-encoding" in request.headers else 0
    _check_size(request, int(declared))
    return int(declared)


async def parts(request: Request) -> AsyncIterator[bytes]:
    """The parts of the body as they arrive, each to be used before the next.

    Raises ContentTooLarge, UnsupportedMediaType, Disconnected.
    """
    if declared_size(request) == 0:
        return
    size, more_body = 0, True
    while more_body:
        message = await request.receive()
        if message["type"] != "http.request":
            raise Disconnected
        part: bytes = message["body"]
        size += len(part)
        request.streamed_bytes = size
        _check_size(request, size + message.get("announced_bytes", 0))
        yield part
        if "release" in message:  # our server counts what the application holds
            message["release"](len(part))
        more_body = message.get("more_body", False)


async def prove(request: Request, digest: BodyDigest) -> None:
    """Prove a body that was read in parts; nothing can be written before. Raises ApiError."""
    if request.proof.prove_body is not None:
        request.proof = await request.proof.prove_body(digest)


def _check_size(request: Request, size: int) -> None:
    if size > request.max_body_bytes:
        raise ContentTooLarge(BODY_TOO_LARGE, max_bytes=request.max_body_bytes)
