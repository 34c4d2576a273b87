"""A receiver of webhooks: an HTTP server on loopback that records requests."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.servers import free_port
from tests.support.service import wait_until

# With these a service may send to receivers.
LOOPBACK = {
    "SEALDESK_WEBHOOK_ALLOWED_CIDRS": "127.0.0.0/8",
    "SEALDESK_WEBHOOK_ALLOW_HTTP": "accept",
}
_HELD_S = 600.0  # longer than any service waits for an answer, on a slow machine too


class Got(NamedTuple):
    """A received request. headers: names in lower case. at_s: of the monotonic clock."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    at_s: float

    @property
    def webhook_id(self) -> str:
        return self.headers["webhook-id"]


class Reply(NamedTuple):
    """A response, and its delay."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = {}
    after_s: float = 0.0


class Receiver:
    """Set `answer` to decide by the request; `got` holds all of them, in order."""

    def __init__(self) -> None:
        self.got: list[Got] = []
        self.answer: Callable[[Got], Reply] = lambda _: Reply()
        self._server = _Server(("127.0.0.1", free_port()), _Handler)
        self._server.receiver = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def answers(
        self,
        status: int = 200,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        after_s: float = 0.0,
    ) -> None:
        """Respond to all further requests like this."""
        reply = Reply(status, body, headers or {}, after_s)
        self.answer = lambda _: reply

    def holds(self, count: int) -> threading.Event:
        """Respond to the next `count` requests once the event is set, and to later ones at once."""
        goes_on, held = threading.Event(), iter(range(count))

        def answer(_: Got) -> Reply:
            if next(held, None) is not None:
                goes_on.wait(_HELD_S)
            return Reply()

        self.answer = answer
        return goes_on

    def wait(self, count: int, timeout_s: float = 120.0) -> list[Got]:
        """The requests, once there are so many."""
        wait_until(lambda: len(self.got) >= count, timeout_s)
        return list(self.got)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Refuse new connections and break the open ones."""
        self._server.shutdown()
        self._server.server_close()
        self._server.end_connections()


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()
    receiver.start()
    try:
        yield receiver
    finally:
        receiver.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    receiver: Receiver

    def __init__(self, *args: Any) -> None:
        self._connections: set[socket.socket] = set()
        super().__init__(*args)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._connections.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Broken connections are expected."""

    def end_connections(self) -> None:
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 64 * 1024
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        named = {name.lower(): value for name, value in self.headers.items()}
        got = Got(self.command, self.path, named, body, time.monotonic())
        receiver = self.server.receiver
        receiver.got.append(got)
        self._send(receiver.answer(got))

    def _send(self, reply: Reply) -> None:
        if reply.after_s:
            time.sleep(reply.after_s)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""
