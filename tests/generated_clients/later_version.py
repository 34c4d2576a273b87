"""A server in front of the service, whose answers are those of a later version of it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

from tests.servers import free_port

_NOT_PASSED_ON = ("host", "connection", "accept-encoding")
# Values that no version has yet, by the name of their member.
_NEW_VALUES = {
    "status": "waiting_for_supplier",
    "priority": "someday",
    "source": "fax",
    "code": "out_of_glaze",
}
_NEW_TYPE = {"/docs/errors": "/docs/errors#out_of_glaze", "ticket.": "ticket.teleported"}


@contextmanager
def later_version(url: str) -> Iterator[str]:
    """The URL of the server in front of the one at `url`."""
    handler = type("Handler", (_Handler,), {"service_url": url})
    with ThreadingHTTPServer(("127.0.0.1", free_port()), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def altered(value: Any) -> Any:
    """The JSON with new members in every object, and new values of enumerations and types."""
    if isinstance(value, list):
        return [altered(part) for part in value]
    if not isinstance(value, dict):
        return value
    members = {name: _altered_member(name, part) for name, part in value.items()}
    return members | {"added_later": {"by": "a later version"}}


def _altered_member(name: str, part: Any) -> Any:
    if not isinstance(part, str):
        return altered(part)
    if name == "type":
        return next((new for start, new in _NEW_TYPE.items() if part.startswith(start)), part)
    return _NEW_VALUES.get(name, part)


class _Handler(BaseHTTPRequestHandler):
    service_url = ""
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._pass_on(b"")

    def do_POST(self) -> None:
        self._pass_on(self.rfile.read(int(self.headers["content-length"])))

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""

    def _pass_on(self, body: bytes) -> None:
        headers = {
            name: value
            for name, value in self.headers.items()
            if name.lower() not in _NOT_PASSED_ON
        }
        url = self.service_url + self.path
        answer = httpx.request(self.command, url, content=body, headers=headers, timeout=300)
        content = json.dumps(altered(answer.json())).encode()
        self.send_response(answer.status_code)
        self.send_header("content-type", answer.headers["content-type"])
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
