"""An HTTP/1.1 client of servers on loopback that keeps its connections: cheaper than httpx's.

It gives responses of httpx, for 0.29 ms of processor time in place of 1.05 (2026-11).
"""

import select
import socket
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import BinaryIO

import httpx

_TIMEOUT_S = 120.0
_WITHOUT_BODY = (204, 304)


class KeepAliveClient:
    """Any number of threads may send: each takes a connection that is idle, or opens one."""

    def __init__(self) -> None:
        self._idle: defaultdict[int, list[_Connection]] = defaultdict(list)

    def send(
        self, port: int, method: str, target: str, content: bytes, headers: Mapping[str, str]
    ) -> httpx.Response:
        """Send exactly this target and body."""
        connection = self._take(port)
        try:
            connection.send(_head(port, method, target, content, headers) + content)
            response, is_kept = connection.receive(method, target)
        except BaseException:
            connection.close()
            raise
        if is_kept:
            self._idle[port].append(connection)
        else:
            connection.close()
        return response

    def close(self) -> None:
        for connections in self._idle.values():
            for connection in connections:
                connection.close()

    def _take(self, port: int) -> "_Connection":
        idle = self._idle[port]
        while idle:
            with suppress(IndexError):  # another thread was faster
                connection = idle.pop()
                if connection.is_open():
                    return connection
                connection.close()
        return _Connection(port)


class _Connection:
    def __init__(self, port: int) -> None:
        try:
            self._socket = socket.create_connection(("127.0.0.1", port), _TIMEOUT_S)
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")

    def is_open(self) -> bool:
        """An idle connection is readable only when the server has ended it."""
        # Unlike select, poll takes descriptors above 1023, which long runs have.
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return not poll.poll(0)

    def send(self, request: bytes) -> None:
        # A server that refuses a large body may answer and close before it has been read.
        with suppress(ConnectionError):
            self._socket.sendall(request)

    def receive(self, method: str, target: str) -> tuple[httpx.Response, bool]:
        """The response, and whether the connection can be used again."""
        try:
            version, status, headers = _read_head(self._file)
            while status < 200:
                version, status, headers = _read_head(self._file)
            named = {name.lower(): value for name, value in headers}
            has_body = method != "HEAD" and status not in _WITHOUT_BODY
            body = _read_body(self._file, named) if has_body else b""
        except TimeoutError as error:
            raise httpx.ReadTimeout(str(error)) from error
        except OSError as error:
            raise httpx.ReadError(str(error)) from error
        response = httpx.Response(
            status,
            headers=headers,
            stream=httpx.ByteStream(body),
            # A request object would take as long as all else.
            extensions={"target": target},
        )
        response.read()
        is_kept = version == b"HTTP/1.1" and named.get(b"connection", b"").lower() != b"close"
        has_end = not has_body or {b"content-length", b"transfer-encoding"} & named.keys()
        return response, is_kept and bool(has_end)

    def close(self) -> None:
        self._file.close()
        self._socket.close()


def _head(port: int, method: str, target: str, content: bytes, headers: Mapping[str, str]) -> bytes:
    named = {name.lower() for name in headers}
    lines = [f"{method} {target} HTTP/1.1"]
    if "host" not in named:
        lines.append(f"Host: 127.0.0.1:{port}")
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if "content-length" not in named and (content or method in ("POST", "PUT", "PATCH")):
        lines.append(f"Content-Length: {len(content)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _read_head(file: BinaryIO) -> tuple[bytes, int, list[tuple[bytes, bytes]]]:
    version, status, *_ = _line(file).split(b" ", 2)
    headers = []
    while line := _line(file):
        name, _, value = line.partition(b":")
        headers.append((name, value.strip()))
    return version, int(status), headers


def _line(file: BinaryIO) -> bytes:
    line = file.readline()
    if not line.endswith(b"\n"):
        raise httpx.RemoteProtocolError("the server closed the connection before the end")
    return line.rstrip(b"\r\n")


def _read_body(file: BinaryIO, headers: Mapping[bytes, bytes]) -> bytes:
    if headers.get(b"transfer-encoding", b"").lower() == b"chunked":
        return b"".join(_chunks(file))
    if b"content-length" not in headers:
        return file.read()
    return _exactly(file, int(headers[b"content-length"]))


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while size := int(_line(file).partition(b";")[0], 16):
        yield _exactly(file, size)
        _line(file)
    while _line(file):
        pass


def _exactly(file: BinaryIO, size: int) -> bytes:
    body = file.read(size)
    if len(body) < size:
        raise httpx.RemoteProtocolError("the server closed the connection before the end")
    return body
