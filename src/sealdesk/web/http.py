"""The HTTP protocol of the server: uvicorn's, with the caps of decisions 3.

uvicorn takes 8 MiB of headers and waits for ever for half a header; this class bounds both, and
answers in the problem shape what the parser cannot read.
"""

import asyncio
import os
from typing import Any

from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from sealdesk.errors import Malformed, Refusal, TooLargeHeaders, TooSlow
from sealdesk.web import envelope

MAX_HEADER_BYTES = 16 * 1024
MAX_HEADERS = 100
HEADER_TIMEOUT_S = 10.0
BODY_TIMEOUT_S = 30.0
SWEEP_S = 1.0


class Protocol(HttpToolsProtocol):
    """One connection: counts its header bytes and notes since when it owes us something."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._header_bytes = 0
        self._in_headers = True
        self._refused = False
        self.owes_since: float | None = None
        self.owes_s = HEADER_TIMEOUT_S

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.owes_since = self.loop.time()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        # Bytes of an unfinished header reach no callback, so they are counted here.
        if self._in_headers:
            self._header_bytes += len(data)
        super().data_received(data)
        if self._in_headers and self._header_bytes > MAX_HEADER_BYTES:
            self._refuse(_too_large())

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.owes_since = self.loop.time()
        self.owes_s = HEADER_TIMEOUT_S

    def on_headers_complete(self) -> None:
        if self._refused:
            return
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > MAX_HEADER_BYTES or len(self.headers) > MAX_HEADERS:
            self._refuse(_too_large())
            return
        self._in_headers = False
        self.owes_s = BODY_TIMEOUT_S
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        if self._refused:
            return
        self.owes_since = None
        self._in_headers = True
        self._header_bytes = 0
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._refuse(Malformed("malformed_request", "This server speaks HTTP only."))

    def send_400_response(self, msg: str) -> None:
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete and not cycle.more_body:
            # The request before the unreadable bytes is whole: it gets its answer, then we close.
            cycle.keep_alive = False
            self._refused = True
            return
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
        self._refuse(
            Malformed("malformed_request", "The request is not HTTP/1.1 that can be read.")
        )

    def give_up(self) -> None:
        """Answer 408 and close: the client took too long to send its request."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and cycle.response_started:
            self.transport.close()
            return
        self._refuse(
            TooSlow(
                "request_timeout",
                f"The request did not arrive within {self.owes_s:g} s. Send it again.",
            )
        )

    def _refuse(self, refusal: Refusal) -> None:
        """Answer outside the application, for what never becomes a request, and close."""
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        request_id = os.urandom(12).hex()
        answer = envelope.problem(refusal, "", request_id)
        lines = [
            STATUS_LINE[answer.status],
            b"content-type: application/problem+json\r\n",
            b"content-length: %d\r\n" % len(answer.body),
            b"x-content-type-options: nosniff\r\n",
            b"x-request-id: %s\r\n" % request_id.encode(),
            b"connection: close\r\n\r\n",
            answer.body,
        ]
        self.transport.write(b"".join(lines))
        # A moment for the client to read it: closing on bytes still coming resets the connection.
        self.loop.call_later(0.2, self.transport.close)


async def sweep(connections: set[Any]) -> None:
    """Give up on connections that owe the rest of a request for too long; runs until cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(SWEEP_S)
        now = loop.time()
        for connection in list(connections):
            since = getattr(connection, "owes_since", None)
            if since is not None and now - since > connection.owes_s:
                connection.owes_since = None
                connection.give_up()


def _too_large() -> TooLargeHeaders:
    return TooLargeHeaders(
        "headers_too_large",
        f"Headers may have {MAX_HEADER_BYTES} bytes and {MAX_HEADERS} lines in all.",
        max_bytes=MAX_HEADER_BYTES,
        max_headers=MAX_HEADERS,
    )
