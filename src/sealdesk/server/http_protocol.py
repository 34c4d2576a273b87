"""The HTTP protocol of the server: uvicorn's, with the caps of decisions 3.

uvicorn takes 8 MiB of headers and waits for ever for half a header; this class bounds both, and
answers in the problem shape what the parser cannot read.
"""

import asyncio
import os
from typing import Any, Literal

from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from sealdesk.errors import ApiError, BadRequest, HeadersTooLarge, RequestTimeout
from sealdesk.web import envelope

MAX_HEADER_BYTES = 16 * 1024
MAX_HEADERS = 100
HEADER_TIMEOUT_S = 10.0
BODY_TIMEOUT_S = 30.0
SWEEP_S = 1.0
LINGER_S = 0.2


class Protocol(HttpToolsProtocol):
    """One connection: bounds what it may send, and notes since when it owes us something."""

    # The base class sets it to None first, and declares it as never None.
    cycle: RequestResponseCycle | None  # type: ignore[assignment]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._receiving: Literal["nothing", "headers", "body"] = "nothing"
        self._fruitless_bytes = 0
        self._last_word: bytes | None = None
        self._quiet_since = 0.0
        self.owes_since: float | None = None
        self.owes_s = HEADER_TIMEOUT_S

    # As the base class has it, against the declaration of asyncio.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._quiet_since = self.loop.time()
        self._owe(HEADER_TIMEOUT_S)

    def data_received(self, data: bytes) -> None:
        if self._last_word is not None:
            return
        if self.owes_since is None:
            self._owe(HEADER_TIMEOUT_S)
        # Bytes of an unfinished header or trailer reach no callback, so they are counted here.
        self._fruitless_bytes += len(data)
        super().data_received(data)
        if self._fruitless_bytes > MAX_HEADER_BYTES:
            self._refuse(_too_large())

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._receiving = "headers"
        self._owe(HEADER_TIMEOUT_S)

    def on_headers_complete(self) -> None:
        if self._last_word is not None:
            return
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > MAX_HEADER_BYTES or len(self.headers) > MAX_HEADERS:
            self._refuse(_too_large())
            return
        if b"#" in self.url:
            # It would be cut off, and two targets would share one signature (RFC 9112 3.2).
            self.send_400_response("a target has no fragment")
            return
        super().on_headers_complete()
        self.headers = []  # trailers go here, and not among the headers of the request
        self._receiving = "body"
        self._fruitless_bytes = 0
        self._owe(BODY_TIMEOUT_S)

    def on_body(self, body: bytes) -> None:
        self._fruitless_bytes = 0
        if self._last_word is None:
            super().on_body(body)

    def on_message_complete(self) -> None:
        if self._last_word is not None:
            return
        self._receiving = "nothing"
        self._fruitless_bytes = 0
        self.owes_since = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self._quiet_since = self.loop.time()
        if self._last_word is not None and not self.pipeline:
            self._say_last_word()
        else:
            super().on_response_complete()

    def _unsupported_upgrade_warning(self) -> None:
        # The request is answered as if it had not asked; the parser takes no further one.
        if self.cycle is not None:
            self.cycle.keep_alive = False

    def send_400_response(self, msg: str) -> None:
        self._refuse(
            BadRequest("malformed_request", "The request is not HTTP/1.1 that can be read.")
        )

    def give_up(self) -> None:
        """Answer 408 and close: the client took too long to send its request."""
        if self._receiving == "nothing":
            self.transport.close()
            return
        detail = f"The request did not arrive within {self.owes_s:g} s. Send it again."
        self._refuse(RequestTimeout("request_timeout", detail))

    def is_quiet(self, for_s: float) -> bool:
        """Whether no request has begun here, nor ended in the last so many seconds."""
        has_answered = self.cycle is None or self.cycle.response_complete
        if not has_answered or self.pipeline or self._receiving != "nothing":
            return False
        is_open = self._last_word is None and not self.transport.is_closing()
        return is_open and self.loop.time() - self._quiet_since >= for_s

    def _owe(self, within_s: float) -> None:
        self.owes_since = self.loop.time()
        self.owes_s = within_s

    def _refuse(self, refusal: ApiError) -> None:
        """Answer outside the application, for what never becomes a request, and close.

        Answers to earlier requests of the connection are still due, and go out before.
        """
        if self._last_word is not None or self.transport.is_closing():
            return
        self._last_word = _as_bytes(refusal)
        self.owes_since = None
        cycle = self.cycle
        if cycle is None or (cycle.response_complete and self._receiving != "body"):
            self._say_last_word()
        elif cycle.more_body:
            self._break_off(cycle)

    def _break_off(self, cycle: RequestResponseCycle) -> None:
        """Deal with the request whose body turned out to be unreadable, or never comes."""
        if self.pipeline and self.pipeline[0][0] is cycle:
            self.pipeline.popleft()
        elif cycle.response_started:
            self.transport.close()
        else:
            cycle.disconnected = True
            cycle.message_event.set()
            self._say_last_word()

    def _say_last_word(self) -> None:
        if self._last_word is None or self.transport.is_closing():
            return
        self.transport.write(self._last_word)
        # Closing on bytes still coming would reset the connection, and the answer with it.
        self.flow.resume_reading()
        self.loop.call_later(LINGER_S, self.transport.close)


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


def _as_bytes(refusal: ApiError) -> bytes:
    request_id = os.urandom(12).hex()
    response = envelope.problem(refusal, "", request_id)
    return b"".join(
        (
            STATUS_LINE[response.status],
            b"content-type: application/problem+json\r\n",
            b"content-length: %d\r\n" % len(response.body),
            b"x-content-type-options: nosniff\r\n",
            b"x-request-id: %s\r\n" % request_id.encode(),
            b"connection: close\r\n\r\n",
            response.body,
        )
    )


def _too_large() -> HeadersTooLarge:
    return HeadersTooLarge(
        "headers_too_large",
        f"Headers may have {MAX_HEADER_BYTES} bytes and {MAX_HEADERS} lines in all.",
        max_bytes=MAX_HEADER_BYTES,
        max_headers=MAX_HEADERS,
    )
