"""Requests as bytes, and connections that send them: many, fast, with the times of each."""

import asyncio
import json
import time
from typing import Any, NamedTuple

from sealdesk.crypto.signing import Signed, sign

HANG_S = 20.0  # far above every target, so that a hang is measured
_LENGTH = b"\r\ncontent-length: "


class Response(NamedTuple):
    """A response, and when its request began and ended, by the monotonic clock.

    status: 0 when the connection broke or timed out.
    """

    began_at: float
    ended_at: float
    status: int
    head: bytes
    body: bytes

    @property
    def is_good(self) -> bool:
        return 200 <= self.status < 300

    @property
    def took_s(self) -> float:
        return self.ended_at - self.began_at

    def json(self) -> Any:
        return json.loads(self.body)


class Key(NamedTuple):
    """An API key as its holder has it."""

    id: str
    api_key: str
    api_secret: str

    def request(self, method: str, target: str, body: Any = None, **headers: str) -> bytes:
        """A request that is signed now."""
        content = b"" if body is None else json.dumps(body).encode()
        at = str(int(time.time()))
        parts = Signed(at.encode(), method.encode(), target.encode(), content)
        return http_request(
            method,
            target,
            content,
            {
                "x-api-key": self.api_key,
                "x-api-timestamp": at,
                "x-api-signature": sign(self.api_secret, parts),
                **{name.replace("_", "-"): value for name, value in headers.items()},
            },
        )


def http_request(method: str, target: str, content: bytes, headers: dict[str, str]) -> bytes:
    """The bytes of an HTTP/1.1 request; content, if any, is JSON."""
    connections = [f"{method} {target} HTTP/1.1", "host: sealdesk.test"]
    connections += [f"{name}: {value}" for name, value in headers.items()]
    if content:
        connections += ["content-type: application/json", f"content-length: {len(content)}"]
    return "\r\n".join([*connections, "", ""]).encode() + content


class Connection:
    """A connection to a port of loopback, reopened after it broke."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def send(self, request: bytes) -> Response:
        """Send a request and wait for its response."""
        if self._writer is None:
            # Connecting is not part of the measured time.
            try:
                self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
            except OSError as error:
                return self._broken(time.monotonic(), error)
        began_at = time.monotonic()
        try:
            async with asyncio.timeout(HANG_S):
                self._writer.write(request)
                head, body = await self._receive()
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            return self._broken(began_at, error)
        return Response(began_at, time.monotonic(), int(head[9:12]), head, body)

    async def _receive(self) -> tuple[bytes, bytes]:
        assert self._reader is not None
        head = await self._reader.readuntil(b"\r\n\r\n")
        at = head.lower().find(_LENGTH)
        length = 0 if at < 0 else int(head[at + len(_LENGTH) :].split(b"\r", 1)[0])
        return head, await self._reader.readexactly(length) if length else b""

    def _broken(self, began_at: float, error: BaseException) -> Response:
        self.close()
        return Response(began_at, time.monotonic(), 0, b"", repr(error).encode())

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None
