"""Requests handed straight to the application, without a socket."""

from collections.abc import Iterable

from sealdesk.server.turns import Turns
from sealdesk.web.application import Application
from sealdesk.web.request import Header, Message, Scope

ADDRESS = "203.0.113.7"


async def head_of(
    application: Application,
    method: str,
    target: bytes,
    headers: Iterable[Header],
    body: bytes = b"",
) -> Message:
    """The head of the answer to a request."""
    heads: list[Message] = []
    path, _, query = target.partition(b"?")
    scope: Scope = {
        "type": "http",
        "method": method,
        "path": path.decode("latin-1"),
        "raw_path": path,
        "query_string": query,
        "has_empty_query": False,
        "headers": [(b"content-length", b"%d" % len(body)), *headers],
        "client": (ADDRESS, 50000),
    }
    turn = scope["turn"] = Turns().begin(ADDRESS, scope)

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            heads.append(message)

    await turn.run(application(scope, receive, send))
    turn.end()
    return heads[0]
