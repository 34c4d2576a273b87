"""The server's HTTP protocol: uvicorn's, with limits on headers and request time (decisions 3).

uvicorn accepts 8 MiB of headers, waits without limit for an incomplete header and for a client that
does not read its response, and holds any number of bodies. This class limits them, and responds to
requests that the parser rejects with a problem document.
"""

import asyncio
import os
from collections.abc import Iterable
from typing import Any, Literal

from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from sealdesk.errors import (
    ApiError,
    BadRequest,
    HeadersTooLarge,
    RequestTimeout,
    ServiceUnavailable,
)
from sealdesk.errors.general import TOO_MANY_BYTES
from sealdesk.errors.requests import HEADERS_TOO_LARGE, MALFORMED_REQUEST, REQUEST_TIMEOUT
from sealdesk.rate_limits.byte_budget import UNCOUNTED_BYTES
from sealdesk.server import framing, unsent
from sealdesk.server.received import ReceivedBytes
from sealdesk.web import envelope

MAX_HEADER_BYTES = 16 * 1024
MAX_HEADERS = 100
HEADER_TIMEOUT_S = 10.0
BODY_TIMEOUT_S = 30.0
SEND_TIMEOUT_S = 30.0
SWEEP_S = 1.0
CLOSE_DELAY_S = 0.2
LINGER_S = 2.0


class Protocol(HttpToolsProtocol):
    """One connection: limits what the client may send and how long that may take.

    waiting_since: when the server began to wait for the current part of a request, None when it
    waits for none. timeout_s: how long it waits for it. received: counts the bytes of bodies.
    """

    # The base class initialises it to None, although its annotation excludes None.
    cycle: RequestResponseCycle | None  # type: ignore[assignment]

    def __init__(self, *args: Any, received: ReceivedBytes, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._received = received
        self._body_bytes = 0
        self._discarded_at = 0.0
        self._unsent = unsent.Progress()
        self._receiving: Literal["nothing", "headers", "body"] = "nothing"
        self._unparsed_bytes = 0
        self._final_response: bytes | None = None
        self._idle_since = 0.0
        self.waiting_since: float | None = None
        self.timeout_s = HEADER_TIMEOUT_S

    # The base class narrows the type that asyncio declares.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # Above it, a response waits until the client reads, and is counted meanwhile.
        transport.set_write_buffer_limits(UNCOUNTED_BYTES)
        self._idle_since = self.loop.time()
        self._start_timeout(HEADER_TIMEOUT_S)

    def data_received(self, data: bytes) -> None:
        if self._final_response is not None:
            self._discarded_at = self.loop.time()
            return
        if self.waiting_since is None:
            self._start_timeout(HEADER_TIMEOUT_S)
        # The parser reports no incomplete header or trailer, so their bytes are counted here.
        self._unparsed_bytes += len(data)
        super().data_received(data)
        if self._unparsed_bytes > MAX_HEADER_BYTES:
            self._reject(_headers_too_large())

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._receiving = "headers"
        self._start_timeout(HEADER_TIMEOUT_S)

    def on_headers_complete(self) -> None:
        if self._final_response is not None:
            return
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > MAX_HEADER_BYTES or len(self.headers) > MAX_HEADERS:
            self._reject(_headers_too_large())
            return
        fault = framing.find_fault(self.headers, self.parser.get_http_version())
        if fault is not None:
            self._reject(fault)
            return
        if b"#" in self.url:
            # uvicorn would drop it, and two targets would share a signature (RFC 9112 3.2).
            self.send_400_response("a target has no fragment")
            return
        super().on_headers_complete()
        self.headers = []  # trailers are collected here, apart from the request's headers
        self._receiving = "body"
        self._unparsed_bytes = 0
        self._body_bytes = 0
        self._start_timeout(BODY_TIMEOUT_S)

    def on_body(self, body: bytes) -> None:
        self._unparsed_bytes = 0
        cycle = self.cycle
        if cycle is None or cycle.response_complete or self._final_response is not None:
            return
        super().on_body(body)
        self._body_bytes += len(body)
        if self._body_bytes > UNCOUNTED_BYTES and not self._received.try_add(
            cycle.scope, len(body)
        ):
            self._reject(ServiceUnavailable(TOO_MANY_BYTES))

    def on_message_complete(self) -> None:
        if self._final_response is not None:
            return
        self._receiving = "nothing"
        self._unparsed_bytes = 0
        self.waiting_since = None
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        for cycle, _ in self.pipeline:
            self._received.release(cycle.scope)
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._idle_since = self.loop.time()
        if self.cycle is not None and self.cycle.response_complete:
            self.cycle.body.clear()  # what the application has not read
        if self._final_response is not None and not self.pipeline:
            self._send_final_response()
        else:
            super().on_response_complete()

    def _unsupported_upgrade_warning(self) -> None:
        # The upgrade is ignored; after it the parser accepts no further request.
        if self.cycle is not None:
            self.cycle.keep_alive = False

    def send_400_response(self, msg: str) -> None:
        self._reject(BadRequest(MALFORMED_REQUEST))

    def time_out(self) -> None:
        """Respond 408 and close: the client took too long to send its request."""
        if self._receiving == "nothing":
            self.transport.close()
            return
        self._reject(RequestTimeout(REQUEST_TIMEOUT, within_s=f"{self.timeout_s:g}"))

    def check_progress(self, now: float) -> None:
        """Close the connection when the client has read nothing of a response for too long."""
        if self._unsent.stalled_s(self.transport, now) > SEND_TIMEOUT_S:
            self.transport.abort()

    def is_idle(self, for_s: float) -> bool:
        """Whether there is no request, and there was none in the last `for_s` seconds."""
        is_answered = self.cycle is None or self.cycle.response_complete
        if not is_answered or self.pipeline or self._receiving != "nothing":
            return False
        is_open = self._final_response is None and not self.transport.is_closing()
        return is_open and self.loop.time() - self._idle_since >= for_s

    def _start_timeout(self, timeout_s: float) -> None:
        self.waiting_since = self.loop.time()
        self.timeout_s = timeout_s

    def _reject(self, error: ApiError) -> None:
        """Respond without the application to an unreadable request, and close.

        Responses to earlier pipelined requests are sent first.
        """
        if self._final_response is not None or self.transport.is_closing():
            return
        self._final_response = _encode_problem(error)
        self.waiting_since = None
        cycle = self.cycle
        if cycle is None or (cycle.response_complete and self._receiving != "body"):
            self._send_final_response()
        elif cycle.more_body:
            self._abort_body(cycle)

    def _abort_body(self, cycle: RequestResponseCycle) -> None:
        """End the request whose body is unreadable or incomplete."""
        if self.pipeline and self.pipeline[0][0] is cycle:
            self.pipeline.popleft()
            self._received.release(cycle.scope)
        elif cycle.response_started:
            self.transport.close()
        else:
            cycle.disconnected = True
            cycle.message_event.set()
            self._send_final_response()

    def _send_final_response(self) -> None:
        if self._final_response is None or self.transport.is_closing():
            return
        self.transport.write(self._final_response)
        self.flow.resume_reading()
        self.loop.call_later(CLOSE_DELAY_S, self._close_when_quiet, self.loop.time() + LINGER_S)

    def _close_when_quiet(self, deadline: float) -> None:
        """Closing while data arrives would reset the connection before the client reads the
        response."""
        now = self.loop.time()
        if now < deadline and now - self._discarded_at < CLOSE_DELAY_S:
            self.loop.call_later(CLOSE_DELAY_S, self._close_when_quiet, deadline)
        else:
            self.transport.close()


async def sweep(connections: Iterable[Any]) -> None:
    """Time out connections whose request is incomplete or whose response is not read for too
    long; runs until cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(SWEEP_S)
        now = loop.time()
        for connection in list(connections):
            since = getattr(connection, "waiting_since", None)
            if since is not None and now - since > connection.timeout_s:
                connection.waiting_since = None
                connection.time_out()
            connection.check_progress(now)


def _encode_problem(error: ApiError) -> bytes:
    request_id = os.urandom(12).hex()
    response = envelope.problem(error, "", request_id)
    return b"".join(
        (
            STATUS_LINE[response.status],
            b"content-type: application/problem+json\r\n",
            b"content-length: %d\r\n" % len(response.body),
            b"x-content-type-options: nosniff\r\n",
            b"cache-control: private, no-store\r\n",
            b"x-request-id: %s\r\n" % request_id.encode(),
            *(b"%s: %s\r\n" % header for header in response.headers),
            b"connection: close\r\n\r\n",
            response.body,
        )
    )


def _headers_too_large() -> HeadersTooLarge:
    return HeadersTooLarge(HEADERS_TOO_LARGE, max_bytes=MAX_HEADER_BYTES, max_headers=MAX_HEADERS)
