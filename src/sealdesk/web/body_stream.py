"""Reads the body of a request in parts, for bodies that are too large to hold in memory."""

from collections.abc import AsyncIterator

from sealdesk.web.proof import BodyDigest
from sealdesk.web.request import Disconnected, Request


async def parts(request: Request) -> AsyncIterator[bytes]:
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


async def prove(request: Request, digest: BodyDigest) -> None:
    """Prove a body that was read in parts; nothing can be written before. Raises ApiError."""
    if request.proof.prove_body is not None:
        request.proof = await request.proof.prove_body(digest)
