"""Draining: no request is lost at any moment of a shutdown."""

import asyncio
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

from sealdesk.server import draining, http_protocol, serve
from tests.support.connection import Connection
from tests.support.databases import SQLITE_ONLY
from tests.support.service import Service, wait_until

GET = b"GET /healthz HTTP/1.1\r\nhost: t\r\n\r\n"
HALF = b"POST /api/v1/auth/login HTTP/1.1\r\nhost: t\r\ncontent-length: 10\r\n\r\n"
Connect = Callable[[], Connection]


@pytest.fixture
def connect(own_service: Service) -> Iterator[Connect]:
    with ExitStack() as stack:
        yield lambda: stack.enter_context(closing(Connection(own_service)))


def _answered(connection: Connection) -> tuple[int, str | None]:
    reply = connection.reply()
    return reply.status, reply.headers.get("connection")


@SQLITE_ONLY
def test_request_that_arrives_with_the_signal_is_answered(
    own_service: Service, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh, kept = connect(), connect()
    kept.send(GET)
    assert _answered(kept) == (200, None)
    came_in: list[Connection] = []

    async def last_look(counter: int) -> bool:
        """What uvicorn does last before it shuts down, without a turn of the loop in between."""
        if not came_in:
            came_in.extend((fresh, kept, connect()))
            for connection in came_in:
                connection.send(GET)
            _tell_to_end(own_service)
        return True

    monkeypatch.setattr(own_service._server, "on_tick", last_look)
    wait_until(lambda: len(came_in) == 3)
    assert [_answered(connection) for connection in came_in] == [(200, "close")] * 3


@SQLITE_ONLY
def test_new_connections_are_served_before_the_port_closes(
    own_service: Service, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draining, "IDLE_S", 60.0)
    fresh, kept = connect(), connect()
    kept.send(GET)
    kept.reply()
    _tell_to_end(own_service)
    wait_until(lambda: _is_refused(own_service))
    time.sleep(0.1)
    for connection in (fresh, kept):
        connection.send(GET)
    assert [_answered(c) for c in (fresh, kept)] == [(200, "close")] * 2


@SQLITE_ONLY
def test_request_that_arrives_as_its_connection_becomes_idle_is_answered(
    own_service: Service, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = connect()
    kept.send(GET)
    kept.reply()
    sent: list[bytes] = []
    is_idle = http_protocol.Protocol.is_idle

    def last_look(protocol: http_protocol.Protocol, for_s: float) -> bool:
        was_quiet = is_idle(protocol, for_s)
        if was_quiet and not sent:
            sent.append(GET)
            kept.send(GET)
        return was_quiet

    monkeypatch.setattr(http_protocol.Protocol, "is_idle", last_look)
    _tell_to_end(own_service)
    assert (_answered(kept), sent) == ((200, "close"), [GET])


def _tell_to_end(service: Service) -> None:
    service._server.handle_exit(signal.SIGTERM, None)


def _is_refused(service: Service) -> bool:
    try:
        socket.create_connection(("127.0.0.1", service.port), timeout=0.05).close()
    except ConnectionRefusedError:
        return True
    except TimeoutError:
        return False  # at the door, which is about to close
    return False


@SQLITE_ONLY
def test_an_incomplete_request_is_waited_for(own_service: Service, connect: Connect) -> None:
    half, further = connect(), connect()
    half.send(GET[:20])
    further.send(GET)
    further.reply()  # by now the half is there too
    _tell_to_end(own_service)
    time.sleep(0.8)
    half.send(GET[20:])
    assert _answered(half) == (200, "close")


def test_a_port_closes_once_its_queue_is_empty() -> None:
    async def run() -> None:
        with (
            serve.bind("127.0.0.1", 0) as sock,
            socket.create_connection(sock.getsockname()[:2], timeout=60),
        ):
            closing = asyncio.create_task(draining.close_listeners([], [sock]))
            await asyncio.wait([closing], timeout=4 * draining.SETTLE_S)
            assert not closing.done()
            sock.accept()[0].close()
            await closing

    asyncio.run(run())


@pytest.mark.skipif(sys.platform != "linux", reason="other kernels have no such filter")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_accepted_connections_are_served_and_new_ones_are_dropped(host: str) -> None:
    if host == "::1" and not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    with serve.bind(host, 0) as sock:
        address = sock.getsockname()[:2]
        with socket.create_connection(address, timeout=60) as early:
            draining.drop_new_handshakes(sock)
            with pytest.raises(TimeoutError):
                socket.create_connection(address, timeout=0.3)
            early.sendall(b"question")
            accepted, _ = sock.accept()
            with accepted:
                assert accepted.recv(100) == b"question"
                accepted.sendall(b"answer")
                assert early.recv(100) == b"answer"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=60)


@SQLITE_ONLY
def test_unfinished_requests_are_aborted_and_counted(
    own_service: Service, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draining, "ABORT_AFTER_S", 0.5)
    half, idle = connect(), connect()
    half.send(HALF)
    idle.send(GET)
    idle.reply()
    own_service.stop()
    assert own_service._server.aborted_count == 1
    assert (idle.is_closed(), half.is_closed()) == (True, True)
