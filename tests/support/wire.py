"""HTTP/1.1 written by hand on a socket: half requests, and headers that no client would send."""

import json
import socket
from collections.abc import Iterable
from http.client import HTTPResponse
from types import TracebackType
from typing import Any, NamedTuple

from tests.support.service import Service

Line = tuple[str, str]


class WireAnswer(NamedTuple):
    """A raw response. headers: names in lower case; of repeated headers the last."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Wire:
    """One connection to the service."""

    def __init__(self, service: Service) -> None:
        self._socket = socket.create_connection(("127.0.0.1", service.port), timeout=300)

    def __enter__(self) -> "Wire":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._socket.close()

    def write(self, data: bytes) -> None:
        self._socket.sendall(data)

    def head(self, method: str, target: str, lines: Iterable[Line]) -> None:
        """Send the request line and these header lines, and nothing else but Host."""
        text = f"{method} {target} HTTP/1.1\r\nhost: sealdesk.test\r\n"
        text += "".join(f"{name}: {value}\r\n" for name, value in lines)
        self.write(text.encode("latin-1") + b"\r\n")

    def answer(self, method: str = "GET") -> WireAnswer:
        response = HTTPResponse(self._socket, method=method)
        response.begin()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return WireAnswer(response.status, headers, response.read())


def exchange(
    service: Service, method: str, target: str, lines: Iterable[Line], body: bytes = b""
) -> WireAnswer:
    """One request with exactly these header lines, and its answer."""
    length = [("content-length", str(len(body)))] if body else []
    with Wire(service) as wire:
        wire.head(method, target, [*lines, *length])
        wire.write(body)
        return wire.answer(method)
