"""A deadline ends a call, however slowly its response arrives."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx
import pytest

from sealdesk.client import AsyncDesk, Desk
from sealdesk.client.errors import ConnectionFailed
from tests import vectors
from tests.client.test_faults import ME

WHOLE = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(ME), ME)
HEADERS = b"HTTP/1.1 200 OK\r\nx-slow: "
CONTENT = b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n"


@contextmanager
def dripping(start: bytes) -> Iterator[str]:
    """The URL of a server whose second response in a connection takes 6 s from its start on."""

    def respond(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65_536)
            connection.sendall(WHOLE)
            connection.recv(65_536)
            connection.sendall(start)
            for _ in range(300):
                time.sleep(0.02)
                connection.sendall(b"1")

    def accept(listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=respond, args=[connection], daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=accept, args=[listening], daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


def call_sync(url: str) -> None:
    with Desk(vectors.API_KEY, vectors.API_SECRET, url) as desk:
        desk.whoami()  # so that the connection was opened by another call
        desk.with_options(deadline_s=0.3).whoami()


def call_async(url: str) -> None:
    async def work() -> None:
        async with AsyncDesk(vectors.API_KEY, vectors.API_SECRET, url) as desk:
            await desk.whoami()
            await desk.with_options(deadline_s=0.3).whoami()

    asyncio.run(work())


@pytest.mark.parametrize("run", [call_sync, call_async])
@pytest.mark.parametrize("start", [HEADERS, CONTENT], ids=["headers", "body"])
def test_a_call_ends_at_its_deadline(run: Callable[[str], None], start: bytes) -> None:
    with dripping(start) as url:
        began = time.monotonic()
        with pytest.raises(ConnectionFailed, match="did not respond in time"):
            run(url)
        assert time.monotonic() - began < 3


def test_a_body_of_another_transport_ends_at_the_deadline_too() -> None:
    def drip() -> Iterator[bytes]:
        for _ in range(300):
            time.sleep(0.02)
            yield b" "

    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=drip()))
    with httpx.Client(transport=transport) as http:
        desk = Desk(vectors.API_KEY, vectors.API_SECRET, "http://desk.example.test", http=http)
        began = time.monotonic()
        with pytest.raises(ConnectionFailed, match="deadline"):
            desk.with_options(deadline_s=0.2).whoami()
        assert time.monotonic() - began < 3


async def cancel_calls(counts: Iterable[int], http: httpx.AsyncClient | None) -> list[str]:
    """Cancel calls after these numbers of turns of the event loop; the connections in use then."""

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, OSError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(WHOLE.replace(b"\r\n", b"\r\nconnection: close\r\n", 1))
        writer.close()

    async with await asyncio.start_server(respond, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with AsyncDesk(vectors.API_KEY, vectors.API_SECRET, url, http=http) as desk:
            for count in counts:
                call = asyncio.ensure_future(desk.whoami())
                for _ in range(count):
                    await asyncio.sleep(0)
                call.cancel()
                with suppress(asyncio.CancelledError):
                    await call
            transport: Any = desk._connections.client()._transport
            return [repr(each) for each in transport._pool.connections if not each.is_idle()]


@pytest.mark.parametrize("http", [None, httpx.AsyncClient()], ids=["own", "given"])
def test_a_cancelled_call_leaves_no_connection_in_use(http: httpx.AsyncClient | None) -> None:
    assert asyncio.run(cancel_calls(range(40), http)) == []


def test_a_call_is_cancelled_whatever_its_transport_is() -> None:
    class Hanging(httpx.AsyncBaseTransport):
        _pool = object()  # as of a version that does not exist yet

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            began.set()
            await asyncio.Event().wait()
            raise AssertionError

    async def main() -> None:
        async with httpx.AsyncClient(transport=Hanging()) as http:
            desk = AsyncDesk(vectors.API_KEY, vectors.API_SECRET, "http://127.0.0.1", http=http)
            call = asyncio.ensure_future(desk.whoami())
            await began.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

    began = asyncio.Event()
    asyncio.run(main())
