"""A raw HTTP/1.1 connection: bytes go out as they are, and responses are read one by one."""

import json
import socket
from contextlib import suppress
from http.client import parse_headers
from typing import NamedTuple, Protocol


class Listening(Protocol):
    """A server of this machine."""

    port: int


class Reply(NamedTuple):
    """One answer as it came."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        assert self.headers["content-type"] == "application/problem+json"
        document = json.loads(self.body)
        assert document["status"] == self.status
        assert document["request_id"] == self.headers["x-request-id"]
        return str(document["code"])


class Connection:
    """A connection on which bytes go out as they are, and answers are read one by one."""

    def __init__(self, service: Listening, receive_buffer: int = 0) -> None:
        """receive_buffer: its size in bytes, for clients that shall not take all of a response."""
        self.socket = socket.socket()
        self.socket.settimeout(60)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", service.port))
        self._file = self.socket.makefile("rb")

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def send_what_is_taken(self, data: bytes) -> None:
        """Send, though the server may stop listening before the end."""
        with suppress(ConnectionError):
            self.socket.sendall(data)

    def reply(self) -> Reply:
        status = int(self._file.readline().split()[1])
        headers = {name.lower(): value for name, value in parse_headers(self._file).items()}
        return Reply(status, headers, self._file.read(int(headers.get("content-length", "0"))))

    def is_closed(self) -> bool:
        """Wait for the server to close; False when it sends something instead."""
        return self._file.read(1) == b""

    def close(self) -> None:
        self._file.close()
        self.socket.close()
