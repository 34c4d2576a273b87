"""Hostile responses, and the expected outcome of each."""

import gzip
import socket
import time
from collections.abc import Iterator

from tests.http_client.receivers import Handler, read_request

_HEAD = b"HTTP/1.1 200 OK\r\n"
_BLOCK = b"x" * 65536
_BOMB = gzip.compress(bytes(50 * 2**20))
LAST_S = 20.0  # how long an endless response lasts


def _slowly(data: bytes, pause_s: float) -> Iterator[bytes]:
    until = time.monotonic() + LAST_S
    for number in range(len(data)):
        if time.monotonic() > until:
            return
        yield data[number : number + 1]
        time.sleep(pause_s)


def _for_ever(part: bytes) -> Iterator[bytes]:
    until = time.monotonic() + LAST_S
    while time.monotonic() < until:
        yield part


def _bytes_of(name: str) -> Iterator[bytes]:
    chunks = b"10000\r\n" + _BLOCK + b"\r\n"
    match name:
        case "endless body":
            yield _HEAD + b"\r\n"
            yield from _for_ever(_BLOCK)
        case "a body of 10 GB":
            yield _HEAD + b"Content-Length: 10000000000\r\n\r\n"
            yield from _for_ever(_BLOCK)
        case "a gzip bomb":
            yield _HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(_BOMB)
            yield _BOMB
        case "endless chunks":
            yield _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
            yield from _for_ever(chunks)
        case "chunks of one byte":
            yield _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
            yield from _for_ever(b"1\r\nx\r\n" * 10_000)
        case "an endless trailer":
            yield _HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"
            yield from _for_ever(b"X: y\r\n" * 10_000)
        case "an endless size of a chunk":
            yield _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
            yield from _for_ever(b"0" * 65536)
        case "endless headers":
            yield _HEAD
            yield from _for_ever(b"X-Header: value\r\n" * 4096)
        case "one endless header":
            yield _HEAD + b"X: "
            yield from _for_ever(_BLOCK)
        case "endless interim answers":
            yield from _for_ever(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 1000)
        case "a byte now and then":
            yield from _slowly(_HEAD + b"Content-Length: 1000\r\n\r\n" + _BLOCK, 0.02)
        case "headers now and then":
            yield from _slowly(_HEAD + b"X: y\r\n" * 1000, 0.02)
        case "nothing":
            time.sleep(LAST_S)
        case "other protocols":
            yield b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
            yield b"Connection: upgrade\r\n\r\n"
            yield from _for_ever(_BLOCK)
        case "no HTTP":
            yield b"220 mail.example ESMTP\r\n"
        case "zeros":
            yield from _for_ever(bytes(65536))
        case "two lengths":
            yield _HEAD + b"Content-Length: 1\r\nContent-Length: 5\r\n\r\nxxxxx"
        case "a length and chunks":
            yield _HEAD + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        case "a length below zero":
            yield _HEAD + b"Content-Length: -1\r\n\r\nx"
        case "an early end":
            yield _HEAD + b"Content-Length: 10\r\n\r\nhalf"
        case "an end in the head":
            yield _HEAD + b"Content-Le"
        case "an end at once":
            return


# The expected status, or the cause of the failure.
HOSTILE_RESPONSES: dict[str, int | str] = {
    "endless body": 200,
    "a body of 10 GB": 200,
    "a gzip bomb": 200,
    "endless chunks": 200,
    "chunks of one byte": 200,
    "an endless trailer": 200,
    "an endless size of a chunk": 200,
    "endless headers": "bad_answer",
    "one endless header": "bad_answer",
    "endless interim answers": "bad_answer",
    "a byte now and then": "timeout",
    "headers now and then": "timeout",
    "nothing": "timeout",
    "other protocols": "bad_answer",
    "no HTTP": "bad_answer",
    "zeros": "bad_answer",
    "two lengths": "bad_answer",
    "a length and chunks": "bad_answer",
    "a length below zero": "bad_answer",
    "an early end": "bad_answer",
    "an end in the head": "bad_answer",
    "an end at once": "bad_answer",
}


def respond_with(name: str) -> Handler:
    """A handler that sends this response to the first request of a connection."""

    def handle(connection: socket.socket) -> None:
        read_request(connection)
        for part in _bytes_of(name):
            connection.sendall(part)

    return handle
