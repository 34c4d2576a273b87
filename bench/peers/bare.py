"""The bare handler, which the service is compared with.

`python -m bench.peers.bare PORT MEMORY PROTOCOL`: it checks the same signatures, and encodes 25
tickets from memory (GET) or decodes the body: the minimum for any service of this kind in Python on
an HTTP server. PROTOCOL: "sealdesk", the protocol of the service, or "uvicorn", that of uvicorn.
"""

import sys
from pathlib import Path

import msgspec
import uvicorn

from sealdesk.crypto.signing import Signed, is_valid
from sealdesk.rate_limits.byte_budget import ByteBudget
from sealdesk.server import serve
from sealdesk.server.received import ReceivedBytes
from sealdesk.state import Lifetime
from sealdesk.tickets.ticket.types import NewReply, NewTicket, TicketChange, TicketResponse
from sealdesk.web.request import Receive, Scope, Send

_encode = msgspec.json.Encoder().encode
_decode_ticket = msgspec.json.Decoder(NewTicket).decode
_decode_change = msgspec.json.Decoder(TicketChange).decode
_decode_reply = msgspec.json.Decoder(NewReply).decode


class Memory(msgspec.Struct, frozen=True):
    """The data of the handler: secrets and tenants by API key, and the tickets of a page."""

    secrets: dict[str, str]
    tenants: dict[str, str]
    records: list[TicketResponse]


class Page(msgspec.Struct, frozen=True):
    """The JSON of a list page."""

    data: list[TicketResponse]
    meta: dict[str, object]


class BareHandler:
    """The ASGI application."""

    def __init__(self, memory: Memory) -> None:
        self._secrets = {key.encode(): secret for key, secret in memory.secrets.items()}
        self._records = memory.records

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _handle_lifespan(receive, send)
            return
        body = b"" if scope["method"] == "GET" else await _read_body(receive)
        if not self._is_signed(scope, body):
            status, response_body = 401, b"{}"
        elif body:
            status, response_body = _respond(scope, body)
        else:
            meta = {"per_page": 25, "has_more": True, "next_cursor": "x" * 128}
            status, response_body = 200, _encode(Page(self._records, meta))
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(response_body)).encode()),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": response_body})

    def _is_signed(self, scope: Scope, body: bytes) -> bool:
        headers = dict(scope["headers"])
        target = scope["raw_path"]
        if scope["query_string"]:
            target += b"?" + scope["query_string"]
        secret = self._secrets.get(headers.get(b"x-api-key", b""))
        if secret is None:
            return False
        parts = Signed(headers[b"x-api-timestamp"], scope["method"].encode(), target, body)
        return is_valid(secret, parts, headers[b"x-api-signature"])


def _respond(scope: Scope, body: bytes) -> tuple[int, bytes]:
    """The status and the body for a new ticket, a changed one, or a reply."""
    if scope["method"] == "PATCH":
        return 200, _encode({"data": {"priority": _decode_change(body).priority}})
    if scope["raw_path"].endswith(b"/replies"):
        return 201, _encode({"data": {"body": _decode_reply(body).body}})
    return 201, _encode({"data": {"subject": _decode_ticket(body).subject}})


async def _read_body(receive: Receive) -> bytes:
    message = await receive()
    body: bytes = message["body"]
    while message["more_body"]:
        message = await receive()
        body += message["body"]
    return body


async def _handle_lifespan(receive: Receive, send: Send) -> None:
    for step in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{step}.complete"})


def _serve(handler: BareHandler, port: int) -> None:
    received = ReceivedBytes(ByteBudget(64 * 1024 * 1024), ())
    serve.serve(handler, Lifetime(), received, serve.bind("127.0.0.1", port))


def _serve_on_uvicorn(handler: BareHandler, port: int) -> None:
    uvicorn.run(
        handler,
        host="127.0.0.1",
        port=port,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
    )


if __name__ == "__main__":
    memory = msgspec.json.decode(Path(sys.argv[2]).read_bytes(), type=Memory)
    run = {"sealdesk": _serve, "uvicorn": _serve_on_uvicorn}[sys.argv[3]]
    run(BareHandler(memory), int(sys.argv[1]))
