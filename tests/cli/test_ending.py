"""How `sealdesk serve` ends: readiness first, then the port; no request is lost."""

import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPResponse

import pytest

from tests.cli.terminal import Served, Terminal, serving
from tests.support.service import wait_until

TIME = b"GET /api/v1/time HTTP/1.1\r\nhost: t\r\n\r\n"
Connect = Callable[[], "RawConnection"]


class RawConnection:
    """A connection on which a test sends bytes and reads responses."""

    def __init__(self, served: Served) -> None:
        port = int(served.url.rpartition(":")[2])
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=120)

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def answer(self) -> tuple[int, str | None]:
        """Read a response; return its status and its Connection header."""
        with HTTPResponse(self._socket) as response:
            response.begin()
            response.read()
            return response.status, response.getheader("connection")

    def close(self) -> None:
        self._socket.close()


@contextmanager
def _running_server(terminal: Terminal) -> Iterator[tuple[Served, Connect]]:
    with serving(terminal) as served, ExitStack() as stack:

        def connect() -> RawConnection:
            connection = RawConnection(served)
            stack.callback(connection.close)
            return connection

        yield served, connect


def _is_ready(served: Served) -> bool:
    connection = HTTPConnection("127.0.0.1", int(served.url.rpartition(":")[2]), timeout=120)
    connection.request("GET", "/readyz")
    status = connection.getresponse().status
    connection.close()
    assert status in (200, 503)
    return status == 200


def test_readyz_returns_503_while_requests_are_still_accepted(installed: Terminal) -> None:
    with _running_server(installed.with_env(SEALDESK_DRAIN_NOTICE_S="3")) as (served, connect):
        persistent = connect()
        persistent.send(TIME)
        before = persistent.answer()
        served.process.terminate()
        terminated_at = time.monotonic()
        wait_until(lambda: not _is_ready(served))
        new = connect()
        new.send(TIME)
        persistent.send(TIME)
        assert (before, new.answer(), persistent.answer()) == (
            (200, None),
            (200, "close"),
            (200, "close"),
        )
        assert served.process.wait(120) == 0
        assert time.monotonic() - terminated_at > 2.9


def test_readyz_returns_503_before_the_port_closes_without_a_notice(
    installed: Terminal,
) -> None:
    # Stopped, so that the request waits in the backlog when the signal arrives.
    with _running_server(installed) as (served, connect):
        served.process.send_signal(signal.SIGSTOP)
        check = connect()
        check.send(b"GET /readyz HTTP/1.1\r\nhost: t\r\n\r\n")
        served.process.terminate()
        served.process.send_signal(signal.SIGCONT)
        assert check.answer() == (503, "close")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_no_accepted_or_queued_request_is_lost(installed: Terminal, number: signal.Signals) -> None:
    with _running_server(installed) as (served, connect):
        incomplete, persistent, silent = connect(), connect(), connect()
        incomplete.send(TIME[:20])
        persistent.send(TIME)
        persistent.answer()
        wait_until(lambda: _is_ready(served))  # by now the server has accepted all three
        served.process.send_signal(signal.SIGSTOP)
        persistent.send(TIME)
        silent.send(TIME)
        waiting = [connect() for _ in range(20)]
        for connection in waiting:
            connection.send(TIME)
        served.process.send_signal(number)
        served.process.send_signal(signal.SIGCONT)
        # The server may read these before it learns of the signal.
        assert {each.answer()[0] for each in (persistent, silent, *waiting)} == {200}
        incomplete.send(TIME[20:])
        assert incomplete.answer() == (200, "close")
        assert served.process.wait(120) == 0


def test_a_second_ctrl_c_ends_the_server_at_once(installed: Terminal) -> None:
    with _running_server(installed) as (served, connect):
        incomplete = connect()
        incomplete.send(TIME[:20])
        wait_until(lambda: _is_ready(served))
        served.process.send_signal(signal.SIGINT)
        with pytest.raises(ConnectionRefusedError):
            _until_refused(connect)
        assert served.process.poll() is None
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(120) == -signal.SIGINT


def _until_refused(connect: Connect) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        connect().close()
        time.sleep(0.02)
