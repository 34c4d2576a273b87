"""The server's HTTP protocol: uvicorn's connection, with limits (spec decision 3, decision 0040).

uvicorn's own accepts 8 MiB of headers, waits without limit for an incomplete header and for a
client that does not read its response, and holds any number of bodies.
"""

import asyncio
import urllib.parse
from collections import deque
from collections.abc import Iterable
from typing import Any, Literal

import httptools
from uvicorn import Config
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.utils import get_local_addr, get_remote_addr
from uvicorn.server import ServerState

from sealdesk.errors import ApiError, BadRequest, RequestTimeout, ServiceUnavailable
from sealdesk.errors.general import TOO_MANY_BYTES
from sealdesk.errors.requests import MALFORMED_REQUEST, REQUEST_TIMEOUT
from sealdesk.rate_limits.byte_budget import UNCOUNTED_BYTES
from sealdesk.server import framing, slow_clients
from sealdesk.server.chunks import ChunkSizes
from sealdesk.server.exchange import Exchange
from sealdesk.server.last_response import LastResponse
from sealdesk.server.received import ReceivedBytes
from sealdesk.server.request_parser import RequestParser
from sealdesk.server.turns import Turns
from sealdesk.web.request import MAX_BODY_BYTES, Header, Scope

HEADER_TIMEOUT_S = 10.0
BODY_TIMEOUT_S = 30.0
_MIN_BYTES_PER_S = 32 * 1024  # of a body that is longer than other routes take (decision 0051)
SEND_TIMEOUT_S = 30.0
SWEEP_S = 1.0
# Longer than proxies keep idle connections (nginx 60 s), so that the proxy closes them. Otherwise a
# request of the proxy can cross our close on the way.
KEEP_ALIVE_S = 75.0
_ASGI = {"version": "3.0", "spec_version": "2.3"}


class Protocol(asyncio.Protocol):
    """One connection: limits what the client may send and how long that may take.

    waiting_since: when the server began to wait for the current part of a request, None when it
    waits for none. timeout_s: how long it waits for it. exchange: the last request whose headers
    are complete. received: counts the bytes of bodies. turns: of all requests.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        received: ReceivedBytes,
        turns: Turns,
    ) -> None:
        self._turns = turns
        self._app: Any = config.loaded_app
        self._server_state = server_state
        self._received = received
        self._loop = _loop or asyncio.get_running_loop()
        self._parser = RequestParser(self)
        self._chunks = ChunkSizes()
        self.transport: asyncio.Transport
        self.flow: FlowControl
        self.exchange: Exchange | None = None
        self._pipeline: deque[Exchange] = deque()
        self._url = self._expectation = b""
        self._headers: list[Header] = []
        self._body_bytes = 0
        self._unsent = slow_clients.Progress()
        self._receiving: Literal["nothing", "headers", "body"] = "nothing"
        self._unparsed_bytes = 0
        self._last_response: LastResponse | None = None
        self._idle_since = 0.0
        self.waiting_since: float | None = None
        self.timeout_s = HEADER_TIMEOUT_S

    @property
    def date(self) -> list[Header]:
        """The header that uvicorn's server makes once a second."""
        return self._server_state.default_headers

    # The transport

    # The base class declares a less specific transport.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.transport = transport
        self.flow = FlowControl(transport)
        # Above it, a response waits until the client reads, and is counted meanwhile.
        transport.set_write_buffer_limits(UNCOUNTED_BYTES)
        self._server, self._client = get_local_addr(transport), get_remote_addr(transport)
        self._server_state.connections.add(self)  # type: ignore[arg-type] # has its `shutdown`
        self._idle_since = self._loop.time()
        self._start_timeout(HEADER_TIMEOUT_S)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server_state.connections.discard(self)
        for waiting in self._pipeline:
            self._received.release(waiting)
        if self.exchange is not None:
            self.exchange.abandon()
        self.flow.resume_writing()
        if exc is None:
            self.transport.close()
        del self._parser  # it refers to this object

    def pause_writing(self) -> None:
        self.flow.pause_writing()

    def resume_writing(self) -> None:
        self.flow.resume_writing()

    def data_received(self, data: bytes) -> None:
        if self._last_response is not None:
            self._last_response.discard(self._loop.time())
            return
        if self.waiting_since is None:
            self._start_timeout(HEADER_TIMEOUT_S)
        if self._receiving == "nothing" and framing.has_two_spaces(data):
            self._reject(BadRequest(MALFORMED_REQUEST))
            return
        # The parser reports no incomplete header or trailer, so their bytes are counted here.
        self._unparsed_bytes += len(data)
        try:
            self._parser.feed_data(data)
            self._chunks.end_data(data)
        except httptools.HttpParserUpgrade:
            # CONNECT, which is refused; after it the parser accepts no further request.
            if self.exchange is not None:
                self.exchange.keep_alive = False
        except httptools.HttpParserError:
            self._reject(framing.find_method_fault(data) or BadRequest(MALFORMED_REQUEST))
        if self._unparsed_bytes > framing.MAX_HEADER_BYTES:
            self._reject(framing.headers_too_large())
        missing_bytes = self._chunks.missing_bytes
        if self.exchange is not None and missing_bytes != self.exchange.announced_bytes:
            self.exchange.announce(missing_bytes)

    # The parser

    def on_message_begin(self) -> None:
        self._url = self._expectation = b""
        self._headers = []
        self._receiving = "headers"
        self._start_timeout(HEADER_TIMEOUT_S)

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name == b"expect":
            self._expectation = value.lower()
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self._last_response is not None:
            return
        version = self._parser.get_http_version()
        fault = framing.find_fault(self._url, self._headers, version)
        if fault is not None:
            self._reject(fault)
            return
        if self._parser.skip_upgrade(self._url, self._headers):
            return
        self._add_exchange(self._make_scope(version))
        self._headers = []  # trailers are collected here, apart from the request's headers
        self._receiving = "body"
        self._unparsed_bytes = 0
        self._body_bytes = 0
        self._start_timeout(BODY_TIMEOUT_S)

    def _make_scope(self, version: str) -> Scope:
        raw_path, query = framing.split_target(self._url)
        path = raw_path.decode("ascii")
        return {
            "type": "http",
            "asgi": _ASGI,
            "http_version": version,
            "method": self._parser.get_method().decode("ascii"),
            "scheme": "http",
            "path": urllib.parse.unquote(path) if "%" in path else path,
            "raw_path": raw_path,
            "query_string": query,
            "has_empty_query": not query and self._url.endswith(b"?"),
            "root_path": "",
            "headers": self._headers,
            "client": self._client,
            "server": self._server,
        }

    def _add_exchange(self, scope: Scope) -> None:
        earlier = self.exchange
        keep_alive = scope["http_version"] != "1.0" and self._parser.should_keep_alive()
        self.exchange = Exchange(self, scope, keep_alive=keep_alive)
        self.exchange.expects_continue = self._expectation == b"100-continue"
        if earlier is None or earlier.is_answered:
            self._start(self.exchange)
        else:
            self.flow.pause_reading()
            self._pipeline.append(self.exchange)

    def _start(self, exchange: Exchange) -> None:
        turn = self._turns.begin(self._received.network_of(exchange.scope), exchange.scope)
        task = self._loop.create_task(exchange.run(self._app, turn, self._received.release))
        self._server_state.tasks.add(task)
        task.add_done_callback(self._server_state.tasks.discard)

    def on_chunk_header(self) -> None:
        self._chunks.begin()

    def on_chunk_complete(self) -> None:
        self._chunks.end()

    def on_body(self, body: bytes) -> None:
        self._unparsed_bytes = 0
        self._chunks.add(len(body))
        exchange = self.exchange
        if exchange is None or exchange.is_answered or self._last_response is not None:
            return
        exchange.add(body)
        self._body_bytes += len(body)
        if self._body_bytes > MAX_BODY_BYTES:
            self.timeout_s = BODY_TIMEOUT_S + (self._body_bytes - MAX_BODY_BYTES) / _MIN_BYTES_PER_S
        if self._body_bytes > UNCOUNTED_BYTES and not self._received.try_add(exchange, len(body)):
            self._reject(ServiceUnavailable(TOO_MANY_BYTES))

    def on_message_complete(self) -> None:
        if self._last_response is not None or self._parser.is_parsing_again:
            return
        self._receiving = "nothing"
        self._unparsed_bytes = 0
        self.waiting_since = None
        if self.exchange is not None:
            self.exchange.end_body()

    def end_exchange(self, exchange: Exchange) -> None:
        """Begin the next request after a response."""
        self._idle_since = self._loop.time()
        if self._last_response is not None and not self._pipeline:
            self._send_last_response()
        elif not self.transport.is_closing():
            self.flow.resume_reading()
            if self._pipeline:
                self._start(self._pipeline.popleft())

    def time_out(self) -> None:
        """Respond 408 and close: the client took too long to send its request."""
        if self._receiving == "nothing":
            self.transport.close()
            return
        self._reject(RequestTimeout(REQUEST_TIMEOUT, within_s=f"{self.timeout_s:g}"))

    def check_time(self, now: float) -> None:
        """Time out a request that is incomplete for too long, and close an idle connection and one
        whose client has read nothing of a response for too long."""
        if self.waiting_since is not None and now - self.waiting_since > self.timeout_s:
            self.waiting_since = None
            self.time_out()
        elif self.is_idle(KEEP_ALIVE_S):
            self.transport.close()
        if self._unsent.stalled_s(self.transport, now) > SEND_TIMEOUT_S:
            self.transport.abort()

    def is_idle(self, for_s: float) -> bool:
        """Whether there is no request, and there was none in the last `for_s` seconds."""
        is_answered = self.exchange is None or self.exchange.is_answered
        if not is_answered or self._pipeline or self._receiving != "nothing":
            return False
        is_open = self._last_response is None and not self.transport.is_closing()
        return is_open and self._loop.time() - self._idle_since >= for_s

    def _start_timeout(self, timeout_s: float) -> None:
        self.waiting_since = self._loop.time()
        self.timeout_s = timeout_s

    def _reject(self, error: ApiError) -> None:
        """Respond without the application to an unreadable request, and close.

        Responses to earlier pipelined requests are sent first.
        """
        if self._last_response is not None or self.transport.is_closing():
            return
        self._last_response = LastResponse(error)
        self.waiting_since = None
        exchange = self.exchange
        if exchange is None or (exchange.is_answered and self._receiving != "body"):
            self._send_last_response()
        elif not exchange.has_body:
            self._abort_body(exchange)

    def _abort_body(self, exchange: Exchange) -> None:
        """End the request whose body is unreadable or incomplete."""
        if self._pipeline and self._pipeline[-1] is exchange:
            self._pipeline.pop()
            self._received.release(exchange)
        elif exchange.is_written:
            self.transport.close()
        else:
            exchange.abandon()
            self._send_last_response()

    def _send_last_response(self) -> None:
        if self._last_response is not None and not self.transport.is_closing():
            self._last_response.send(self.transport)
            self.flow.resume_reading()


async def sweep(connections: Iterable[Any]) -> None:
    """Check the time of all connections once a second; runs until cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(SWEEP_S)
        now = loop.time()
        for connection in list(connections):
            connection.check_time(now)
