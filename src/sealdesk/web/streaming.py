"""Sends responses part by part, as long as there are parts."""

from contextlib import aclosing

from sealdesk.web.request import Header, Response, Send

_CHUNKED = (b"transfer-encoding", b"chunked")


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
