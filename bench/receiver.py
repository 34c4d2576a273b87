"""A receiver of webhooks that costs as little as can be: `python -m bench.receiver PORT`.

POST answers 204, POST /hang never; GET /count says how many have come, GET /taken what, and
forgets it.
"""

import asyncio
import sys
import time
from typing import cast

import msgspec
import uvloop

_NO_CONTENT = b"HTTP/1.1 204 No Content\r\n\r\n"
_OBJECT = b'"object":{"id":"'
_ID_BYTES = 36
_SAMPLE_EVERY = 50  # one in so many is kept whole


class ReceivedWebhook(msgspec.Struct, frozen=True, array_like=True):
    """One delivery. at_ns: of the monotonic clock. object_id: what the event is about."""

    webhook_id: str
    at_ns: int
    object_id: str


class SignedSample(msgspec.Struct, frozen=True):
    """A delivery as it came."""

    webhook_id: str
    timestamp: str
    signature: str
    body: bytes


class Received(msgspec.Struct):
    """What has come. held: how many will never be answered."""

    arrivals: list[ReceivedWebhook] = []
    samples: list[SignedSample] = []
    held: int = 0


class Receiver:
    """Remembers what came on all connections."""

    def __init__(self) -> None:
        self._taken = Received()

    def note(self, head: bytes, body: bytes) -> None:
        arrivals = self._taken.arrivals
        at = body.find(_OBJECT) + len(_OBJECT)
        webhook_id = _find_header(head, b"webhook-id")
        arrival = ReceivedWebhook(
            webhook_id, time.monotonic_ns(), body[at : at + _ID_BYTES].decode()
        )
        arrivals.append(arrival)
        if len(arrivals) % _SAMPLE_EVERY == 1:
            timestamp = _find_header(head, b"webhook-timestamp")
            signature = _find_header(head, b"webhook-signature")
            self._taken.samples.append(SignedSample(webhook_id, timestamp, signature, body))

    def hold(self) -> None:
        self._taken.held += 1

    def told(self, path: bytes) -> bytes:
        if path == b"/count":
            return msgspec.json.encode(len(self._taken.arrivals))
        taken = msgspec.json.encode(self._taken)
        self._taken = Received()
        return taken


class Connection(asyncio.Protocol):
    """One connection: requests with a content-length, one after the other."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._part = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._part += data
        while (head_bytes := self._part.find(b"\r\n\r\n")) >= 0:
            head = self._part[:head_bytes]
            end = head_bytes + 4 + int(_find_header(head, b"content-length") or 0)
            if len(self._part) < end:
                return
            body, self._part = self._part[head_bytes + 4 : end], self._part[end:]
            self._answer(head, body)

    def _answer(self, head: bytes, body: bytes) -> None:
        method, path, _ = head.split(b" ", 2)
        if method == b"GET":
            told = self._receiver.told(path)
            answer = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(told)
            self._transport.write(answer + told)
        elif path == b"/hang":
            self._receiver.hold()
        else:
            self._receiver.note(head, body)
            self._transport.write(_NO_CONTENT)


def _find_header(head: bytes, name: bytes) -> str:
    """Of a header; empty when it is not there."""
    at = head.lower().find(b"\r\n" + name + b":")
    if at < 0:
        return ""
    return head[at + len(name) + 3 :].split(b"\r\n", 1)[0].strip().decode()


async def _serve(port: int) -> None:
    receiver = Receiver()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(receiver), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))
