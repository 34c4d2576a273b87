"""Sends long responses: counted until the client has read them, or part by part."""

from contextlib import aclosing

from sealdesk.web.client_address import networks_of
from sealdesk.web.request import FileBody, Header, Message, Receive, Request, Response, Send

_MAX_DRAINED_BYTES = 4 * 1024 * 1024
_CLOSE = (b"connection", b"close")
_CHUNKED = (b"transfer-encoding", b"chunked")


def holder(request: Request) -> str:
    """For whom the bytes of a response count: the tenant, or the client's address."""
    caller = request.proof.caller
    return caller.tenant_id if caller else networks_of(request.address)[0]


async def send_counted(request: Request, start: Message, response: Response, send: Send) -> None:
    """Send a response whose bytes count until the client has read nearly all of them."""
    if response.file is not None:
        await _send_file(request, start, response.file, send)
        return
    budget, owner, size = request.state.limits.sending, holder(request), len(response.body)
    budget.add(owner, size)
    try:
        await send(start)
        await send({"type": "http.response.body", "body": response.body, "more_body": True})
        # The server waits before the next message until little of this one is unsent.
        await send(
            {"type": "http.response.body", "body": b"", "more_body": _CLOSE in response.headers}
        )
    finally:
        budget.release(owner, size)


async def _send_file(request: Request, start: Message, file: FileBody, send: Send) -> None:
    """Send a file in parts, of which one is held at a time."""
    budget, owner = request.state.limits.sending, holder(request)
    budget.add(owner, file.part_bytes)
    try:
        await send(start)
        if request.method != "HEAD":
            while part := await file.read_part():
                # The server waits before the next part until little of this one is unsent.
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        budget.release(owner, file.part_bytes)
        await file.close()


async def drain(receive: Receive) -> None:
    """Read the rest of the request: closing a socket with unread bytes resets the connection, and
    the client might not receive the response."""
    size = 0
    while size < _MAX_DRAINED_BYTES:
        message: Message = await receive()
        size += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body"):
            return


async def send_parts(response: Response, headers: list[Header], send: Send) -> None:
    """Send each part of the body at once, and close the generator of the parts at the end.

    While the client does not read, the next part waits. The generator must end when the client is
    gone.
    """
    if response.parts is None:
        raise RuntimeError("a response without parts")
    fields = [*headers, (b"content-type", response.content_type), _CHUNKED]
    async with aclosing(response.parts) as parts:
        await send({"type": "http.response.start", "status": response.status, "headers": fields})
        async for part in parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})
