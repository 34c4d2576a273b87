"""A server that records requests as they arrive, byte for byte."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Captured(NamedTuple):
    """A request. headers: names in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class CapturingServer(ThreadingHTTPServer):
    """Answers every request with `{"data":{}}`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.captured: list[Captured] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: CapturingServer

    def _answer(self) -> None:
        method, target, _ = self.requestline.split(" ")
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", 0)))
        self.server.captured.append(Captured(method, target, headers, body))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        if method != "HEAD":
            self.wfile.write(b'{"data":{}}')

    do_GET = do_HEAD = do_POST = do_PATCH = do_PUT = do_DELETE = _answer

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def capturing() -> Iterator[CapturingServer]:
    """A server on a free port of loopback."""
    with CapturingServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
