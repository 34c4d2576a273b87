"""One connection to a receiver: sends a request and reads a bounded answer."""

import asyncio

import httptools
import msgspec

from sealdesk.http_client.errors import RequestFailed

MAX_HEAD_BYTES = 16 * 1024  # with all interim answers
MAX_BODY_BYTES = 64 * 1024


class HttpResponse(msgspec.Struct, frozen=True):
    """What came back. headers: as they came, names in lower case. body: at most 64 KiB of it."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Connection(asyncio.Protocol):
    """Speaks HTTP/1.1 to one receiver, one request at a time.

    has_heard: whether any byte of the present answer came. is_reusable: whether another request
    may follow.
    """

    def __init__(self) -> None:
        self.is_reusable = True
        self._transport: asyncio.Transport | None = None
        self._answered: asyncio.Future[HttpResponse] | None = None
        self._headers: list[tuple[str, str]] = []
        self._body: list[bytes] = []
        self._begin()

    async def exchange(self, request: bytes) -> HttpResponse:
        """Send a request and wait for its answer, for ever. Raises Unsent (bad_answer)."""
        self._begin()
        answered: asyncio.Future[HttpResponse] = asyncio.get_running_loop().create_future()
        self._answered = answered
        if self._transport is None or self._transport.is_closing():
            self._fail("The connection was closed.")
        else:
            self._transport.write(request)
        try:
            return await answered
        finally:
            self._answered = None
            self._headers, self._body = [], []  # it may be idle for long

    def close(self) -> None:
        """Close it as is proper, with what TLS says at the end."""
        self.is_reusable = False
        if self._transport is not None:
            self._transport.close()

    def drop(self) -> None:
        """Close it at once, whatever is still on its way."""
        self.is_reusable = False
        if self._transport is not None:
            self._transport.abort()

    # What create_connection makes is a Transport; asyncio declares its base class.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_reusable = False
        if exc is None and self._status and not self._is_framed:
            self._finish()  # the end of the connection is the end of such a body
        self._fail("The connection was closed before the answer was complete.")

    def data_received(self, data: bytes) -> None:
        self.has_heard = True
        # In parts: what is beyond a limit is never parsed.
        while data and self._is_waiting():
            part, data = data[: self._room], data[self._room :]
            self._room -= len(part)
            self._read(part)
        if data:
            self.drop()  # more than was asked for

    def _begin(self) -> None:
        self.has_heard = False
        self._room = MAX_HEAD_BYTES
        self._parser = httptools.HttpResponseParser(self)
        self._headers = []
        self._body = []
        self._status = 0
        self._is_framed = False

    def _read(self, part: bytes) -> None:
        try:
            self._parser.feed_data(part)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._fail("What came back is not HTTP/1.1.")
        if self._room == 0 and self._is_waiting():
            self._cut()

    def _cut(self) -> None:
        self.is_reusable = False
        if self._status:
            self._finish()
        else:
            self._fail(f"The head of the answer has more than {MAX_HEAD_BYTES} bytes.")

    def on_message_begin(self) -> None:
        if not self._is_waiting():
            self.is_reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        lower = name.decode("latin-1").lower()
        if self._status:
            return  # a trailer
        self._is_framed |= lower in ("content-length", "transfer-encoding")
        self._headers.append((lower, value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:
            self._headers.clear()
            self._is_framed = False
            return
        self._status = status
        self._room = MAX_BODY_BYTES
        self.is_reusable &= self._parser.should_keep_alive()

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        if self._status:
            self._finish()

    def _is_waiting(self) -> bool:
        return self._answered is not None and not self._answered.done()

    def _finish(self) -> None:
        if self._answered is not None and not self._answered.done():
            body = b"".join(self._body)[:MAX_BODY_BYTES]
            self._answered.set_result(HttpResponse(self._status, tuple(self._headers), body))

    def _fail(self, text: str) -> None:
        self.is_reusable = False
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(RequestFailed("bad_answer", text))
