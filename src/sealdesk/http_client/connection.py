"""One HTTP/1.1 connection to a receiver, with limits on the response."""

import asyncio

import httptools
import msgspec

from sealdesk.http_client.errors import RequestFailed

MAX_HEAD_BYTES = 16 * 1024  # including all interim responses
MAX_BODY_BYTES = 64 * 1024


class HttpResponse(msgspec.Struct, frozen=True):
    """A response. headers: in their order, names in lower case. body: its first 64 KiB."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Connection(asyncio.Protocol):
    """Sends requests to one receiver, one at a time.

    has_received: whether any byte of the current response came. is_reusable: whether another
    request may follow.
    """

    def __init__(self) -> None:
        self.is_reusable = True
        self._transport: asyncio.Transport | None = None
        self._response: asyncio.Future[HttpResponse] | None = None
        self._headers: list[tuple[str, str]] = []
        self._body: list[bytes] = []
        self._reset()

    async def exchange(self, request: bytes) -> HttpResponse:
        """Send a request and wait for its response without a timeout. Raises RequestFailed."""
        self._reset()
        response: asyncio.Future[HttpResponse] = asyncio.get_running_loop().create_future()
        self._response = response
        if self._transport is None or self._transport.is_closing():
            self._fail("The connection was closed.")
        else:
            self._transport.write(request)
        try:
            return await response
        finally:
            self._response = None
            self._headers, self._body = [], []  # free the memory while the connection is idle

    def close(self) -> None:
        """Close the connection in order, with TLS' close_notify."""
        self.is_reusable = False
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close the connection at once and discard unsent data."""
        self.is_reusable = False
        if self._transport is not None:
            self._transport.abort()

    # create_connection passes a Transport; asyncio annotates its base class.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_reusable = False
        if exc is None and self._status and not self._has_length:
            self._finish()  # a body without a length ends with the connection
        self._fail("The connection was closed before the response was complete.")

    def data_received(self, data: bytes) -> None:
        self.has_received = True
        # In chunks, so that data beyond a limit is never parsed.
        while data and self._is_waiting():
            chunk, data = data[: self._bytes_left], data[self._bytes_left :]
            self._bytes_left -= len(chunk)
            self._read(chunk)
        if data:
            self.abort()  # more than one response

    def _reset(self) -> None:
        self.has_received = False
        self._bytes_left = MAX_HEAD_BYTES
        self._parser = httptools.HttpResponseParser(self)
        self._headers = []
        self._body = []
        self._status = 0
        self._has_length = False

    def _read(self, chunk: bytes) -> None:
        try:
            self._parser.feed_data(chunk)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._fail("The response is not HTTP/1.1.")
        if self._bytes_left == 0 and self._is_waiting():
            self._end_at_limit()

    def _end_at_limit(self) -> None:
        self.is_reusable = False
        if self._status:
            self._finish()
        else:
            self._fail(f"The head of the response has more than {MAX_HEAD_BYTES} bytes.")

    def on_message_begin(self) -> None:
        if not self._is_waiting():
            self.is_reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        lower = name.decode("latin-1").lower()
        if self._status:
            return  # a trailer
        self._has_length |= lower in ("content-length", "transfer-encoding")
        self._headers.append((lower, value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:
            self._headers.clear()
            self._has_length = False
            return
        self._status = status
        self._bytes_left = MAX_BODY_BYTES
        self.is_reusable &= self._parser.should_keep_alive()

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        if self._status:
            self._finish()

    def _is_waiting(self) -> bool:
        return self._response is not None and not self._response.done()

    def _finish(self) -> None:
        if self._response is not None and not self._response.done():
            body = b"".join(self._body)[:MAX_BODY_BYTES]
            self._response.set_result(HttpResponse(self._status, tuple(self._headers), body))

    def _fail(self, text: str) -> None:
        self.is_reusable = False
        if self._response is not None and not self._response.done():
            self._response.set_exception(RequestFailed("bad_answer", text))
