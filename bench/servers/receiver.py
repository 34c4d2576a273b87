"""A webhook receiver that needs little CPU time: `python -m bench.servers.receiver PORT`.

The response to POST is 204; POST /hang gets no response. GET /count returns the number of
deliveries, and GET /received returns the deliveries and deletes them.
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
_SAMPLE_EVERY = 50  # one delivery in 50 is stored completely


class ReceivedWebhook(msgspec.Struct, frozen=True, array_like=True):
    """A delivery. at_ns: the monotonic time. object_id: the id of the object in the event."""

    webhook_id: str
    at_ns: int
    object_id: str


class SignedSample(msgspec.Struct, frozen=True):
    """A complete delivery, whose signature can be verified."""

    webhook_id: str
    timestamp: str
    signature: str
    body: bytes


class Received(msgspec.Struct):
    """All deliveries so far. hanging_count: the number of requests to /hang."""

    deliveries: list[ReceivedWebhook] = []
    samples: list[SignedSample] = []
    hanging_count: int = 0


class Receiver:
    """Stores the deliveries of all connections."""

    def __init__(self) -> None:
        self._received = Received()

    def record(self, head: bytes, body: bytes) -> None:
        deliveries = self._received.deliveries
        at = body.find(_OBJECT) + len(_OBJECT)
        webhook_id = _read_header(head, b"webhook-id")
        delivery = ReceivedWebhook(
            webhook_id, time.monotonic_ns(), body[at : at + _ID_BYTES].decode()
        )
        deliveries.append(delivery)
        if len(deliveries) % _SAMPLE_EVERY == 1:
            timestamp = _read_header(head, b"webhook-timestamp")
            signature = _read_header(head, b"webhook-signature")
            self._received.samples.append(SignedSample(webhook_id, timestamp, signature, body))

    def count_hanging(self) -> None:
        self._received.hanging_count += 1

    def read(self, path: bytes) -> bytes:
        if path == b"/count":
            return msgspec.json.encode(len(self._received.deliveries))
        document = msgspec.json.encode(self._received)
        self._received = Received()
        return document


class Connection(asyncio.Protocol):
    """One connection: sequential requests with a content-length."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (head_bytes := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:head_bytes]
            end = head_bytes + 4 + int(_read_header(head, b"content-length") or 0)
            if len(self._buffer) < end:
                return
            body, self._buffer = self._buffer[head_bytes + 4 : end], self._buffer[end:]
            self._respond(head, body)

    def _respond(self, head: bytes, body: bytes) -> None:
        method, path, _ = head.split(b" ", 2)
        if method == b"GET":
            document = self._receiver.read(path)
            response_head = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(document)
            self._transport.write(response_head + document)
        elif path == b"/hang":
            self._receiver.count_hanging()
        else:
            self._receiver.record(head, body)
            self._transport.write(_NO_CONTENT)


def _read_header(head: bytes, name: bytes) -> str:
    """The value of a header; empty if it is absent."""
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
