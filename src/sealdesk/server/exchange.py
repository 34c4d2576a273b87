"""One request on a connection, and its response: what ASGI calls receive and send."""

import asyncio
import logging
from collections.abc import Callable
from typing import Literal, Protocol

from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl

from sealdesk import ids
from sealdesk.clock import Clock
from sealdesk.errors import InternalError
from sealdesk.rate_limits.byte_budget import UNCOUNTED_BYTES, Holding
from sealdesk.server import response_head
from sealdesk.server.app import Asgi
from sealdesk.server.turns import Turn
from sealdesk.web.request import Header, Message, Scope

# What ends a body: its length, its last chunk, or the end of the connection.
Coding = Literal["length", "chunked", "close"]
_NO_BODY = (204, 304)
_CHUNKED = (b"transfer-encoding", b"chunked")
_DISCONNECT = {"type": "http.disconnect"}

log = logging.getLogger("sealdesk.serve")


class Connection(Protocol):
    """What an exchange needs of its connection. date: the header of every response."""

    transport: asyncio.Transport
    flow: FlowControl

    @property
    def date(self) -> list[Header]: ...

    def end_exchange(self, exchange: "Exchange") -> None:
        """The response has been written."""


class Exchange:
    """A request whose headers are complete, and its response.

    has_body: whether the whole body has arrived. unread: what of it the application has not read.
    is_written: whether the head of the response is written; is_answered: whether all of it is.
    is_abandoned: the application is told that the client is gone. holding: the counted bytes of
    the body. announced_bytes: of a chunk, which have not arrived yet.
    """

    def __init__(self, connection: Connection, scope: Scope, *, keep_alive: bool) -> None:
        self.scope = scope
        self.keep_alive = keep_alive
        self.expects_continue = False
        self.unread = bytearray()
        self.announced_bytes = 0
        self.has_body = self.is_written = self.is_answered = self.is_abandoned = False
        self.holding: Holding | None = None
        self._connection = connection
        self._has_news = False
        self._news: asyncio.Event | None = None
        self._head = b""
        self._missing_bytes = 0
        self._coding: Coding = "length"

    async def run(self, app: Asgi, turn: Turn, release: Callable[["Exchange"], None]) -> None:
        """Run the application in its turns. release: called when it has ended."""
        self.scope["turn"] = turn
        try:
            await turn.run(app(self.scope, self.receive, self.send))
            if not self.is_answered and not self.is_abandoned:
                raise RuntimeError("the application has ended without a whole response")
        except Exception:
            request_id = ids.mint_request_id(Clock().now_us())
            log.exception("a response failed", extra={"request_id": request_id})
            if not self.is_abandoned:
                self._fail(request_id)
        finally:
            turn.end()
            release(self)

    def _fail(self, request_id: str) -> None:
        transport = self._connection.transport
        if not self.is_written and not transport.is_closing():
            transport.write(response_head.encode_problem(InternalError(), request_id))
        transport.close()

    # The request

    def add(self, part: bytes) -> None:
        """A part of the body has arrived."""
        self.unread += part
        if len(self.unread) > HIGH_WATER_LIMIT:
            self._connection.flow.pause_reading()
        self._tell()

    def announce(self, size: int) -> None:
        """The chunk that is arriving has so many bytes left."""
        is_larger, self.announced_bytes = size > self.announced_bytes, size
        if is_larger:
            self._tell()

    def end_body(self) -> None:
        """The whole body has arrived."""
        self.has_body = True
        self._tell()

    def abandon(self) -> None:
        """The client is gone, or has sent a body that is unreadable."""
        self.is_abandoned = True
        self._tell()

    def _tell(self) -> None:
        self._has_news = True
        if self._news is not None:
            self._news.set()

    async def receive(self) -> Message:
        """The next message of ASGI, with what has arrived of the body.

        has_waited: whether it arrived after the application had asked for it. announced_bytes: of
        the body, which will follow. release: is called with the size of a part that the application
        does not hold any more.
        """
        transport, flow = self._connection.transport, self._connection.flow
        if self.expects_continue and not transport.is_closing():
            transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.expects_continue = False
        has_waited = False
        flow.resume_reading()
        while not (self._has_news or self.is_answered or self.is_abandoned):
            has_waited = True
            await self._wait_for_news()
        self._has_news = False
        if self.is_answered or self.is_abandoned:
            return _DISCONNECT
        body = bytes(self.unread)
        self.unread.clear()
        return {
            "type": "http.request",
            "body": body,
            "more_body": not self.has_body,
            "has_waited": has_waited,
            "announced_bytes": self.announced_bytes,
            "release": self._release_part,
        }

    def _release_part(self, size: int) -> None:
        if self.holding is not None:
            self.holding.release_part(size)

    async def _wait_for_news(self) -> None:
        if self._news is None:
            self._news = asyncio.Event()
        self._news.clear()
        await self._news.wait()

    # The response

    async def send(self, message: Message) -> None:
        """Send a message of ASGI; waits while the client reads too little.

        The head is written with the first part of the body. The response must have a
        content-length, or `transfer-encoding: chunked` if its length is unknown. Raises
        InvalidField, KeyError, RuntimeError.
        """
        if self._connection.flow.write_paused and not self.is_abandoned:
            await self._connection.flow.drain()
        if self.is_abandoned:
            return
        if message["type"] == "http.response.start":
            self._begin(message["status"], message["headers"])
        else:
            self._write(message["body"], is_last=not message.get("more_body", False))

    def _begin(self, status: int, fields: list[Header]) -> None:
        if self._head:
            raise RuntimeError("a response has begun already")
        declared = dict(fields)
        if _CHUNKED in fields:
            fields = self._begin_unknown_length(fields)
        if declared.get(b"connection") == b"close":
            self.keep_alive = False
        elif not self.keep_alive:
            fields = [*fields, (b"connection", b"close")]
        self._head = response_head.encode(status, [*self._connection.date, *fields])
        has_none = status in _NO_BODY or self.scope["method"] == "HEAD"
        if self._coding == "length" and not has_none:
            self._missing_bytes = int(declared[b"content-length"])
        self.expects_continue = False

    def _begin_unknown_length(self, fields: list[Header]) -> list[Header]:
        """HTTP/1.0 has no chunks: there the connection ends with the body (RFC 9112 6.3)."""
        if self.scope["http_version"] != "1.0":
            self._coding = "chunked"
            return fields
        self._coding, self.keep_alive = "close", False
        return [field for field in fields if field != _CHUNKED]

    def _write(self, body: bytes, *, is_last: bool) -> None:
        if not self._head or self.is_answered:
            raise RuntimeError("a part of a body without a response")
        if self.scope["method"] == "HEAD":
            body = b""
        elif self._coding == "chunked":
            body = _encode_chunk(body, is_last=is_last)
        if self._coding == "length":
            self._missing_bytes -= len(body)
            if self._missing_bytes < 0 or (is_last and self._missing_bytes):
                raise RuntimeError("a body of another length than the content-length")
        transport = self._connection.transport
        if self.is_written:
            transport.write(body)
        elif len(body) <= UNCOUNTED_BYTES:
            transport.write(self._head + body)
        else:
            transport.writelines((self._head, body))  # which makes no copy
        self.is_written = True
        if is_last:
            self._end()

    def _end(self) -> None:
        self.is_answered = True
        self.unread.clear()  # what the application has not read
        self._tell()
        if not self.keep_alive:
            self._connection.transport.close()
        self._connection.end_exchange(self)


def _encode_chunk(body: bytes, *, is_last: bool) -> bytes:
    chunk = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
    return chunk + b"0\r\n\r\n" if is_last else chunk
