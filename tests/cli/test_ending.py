"""How `sealdesk serve` ends: readiness, then the port, then whoever is left, and nobody lost."""

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
Connect = Callable[[], "Talk"]


class Talk:
    """One connection, on which bytes are sent and answers read as a test pleases."""

    def __init__(self, served: Served) -> None:
        port = int(served.url.rpartition(":")[2])
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=15)

    def say(self, data: bytes) -> None:
        self._socket.sendall(data)

    def answer(self) -> tuple[int, str | None]:
        """The status, and what the Connection header says."""
        with HTTPResponse(self._socket) as response:
            response.begin()
            response.read()
            return response.status, response.getheader("connection")

    def close(self) -> None:
        self._socket.close()


@contextmanager
def _talking_to(terminal: Terminal) -> Iterator[tuple[Served, Connect]]:
    with serving(terminal) as served, ExitStack() as stack:

        def connect() -> Talk:
            talk = Talk(served)
            stack.callback(talk.close)
            return talk

        yield served, connect


def _is_ready(served: Served) -> bool:
    connection = HTTPConnection("127.0.0.1", int(served.url.rpartition(":")[2]), timeout=15)
    connection.request("GET", "/readyz")
    status = connection.getresponse().status
    connection.close()
    assert status in (200, 503)
    return status == 200


def test_readiness_turns_false_while_the_port_still_takes_requests(installed: Terminal) -> None:
    with _talking_to(installed.with_env(SEALDESK_DRAIN_NOTICE_S="3")) as (served, connect):
        kept = connect()
        kept.say(TIME)
        before = kept.answer()
        served.process.terminate()
        told_at = time.monotonic()
        wait_until(lambda: not _is_ready(served))
        new = connect()
        new.say(TIME)
        kept.say(TIME)
        assert (before, new.answer(), kept.answer()) == (
            (200, None),
            (200, "close"),
            (200, "close"),
        )
        assert served.process.wait(20) == 0
        assert time.monotonic() - told_at > 2.9


def test_readiness_turns_false_before_the_port_closes_without_any_notice(
    installed: Terminal,
) -> None:
    # Stopped, so that both questions wait in the backlog when the signal comes.
    with _talking_to(installed) as (served, connect):
        served.process.send_signal(signal.SIGSTOP)
        check = connect()
        check.say(b"GET /readyz HTTP/1.1\r\nhost: t\r\n\r\n")
        served.process.terminate()
        served.process.send_signal(signal.SIGCONT)
        assert check.answer() == (503, "close")


def test_nobody_who_is_on_the_way_in_is_lost(installed: Terminal) -> None:
    with _talking_to(installed) as (served, connect):
        half, kept, silent = connect(), connect(), connect()
        half.say(TIME[:20])
        kept.say(TIME)
        kept.answer()
        wait_until(lambda: _is_ready(served))  # it has taken in all three
        served.process.send_signal(signal.SIGSTOP)
        kept.say(TIME)
        silent.say(TIME)
        waiting = [connect() for _ in range(20)]
        for talk in waiting:
            talk.say(TIME)
        served.process.terminate()
        served.process.send_signal(signal.SIGCONT)
        assert {talk.answer() for talk in (kept, silent, *waiting)} == {(200, "close")}
        half.say(TIME[20:])
        assert half.answer() == (200, "close")
        assert served.process.wait(15) == 0


def test_second_ctrl_c_waits_for_nobody(installed: Terminal) -> None:
    with _talking_to(installed) as (served, connect):
        half = connect()
        half.say(TIME[:20])
        wait_until(lambda: _is_ready(served))
        served.process.send_signal(signal.SIGINT)
        with pytest.raises(ConnectionRefusedError):
            _until_refused(connect)
        assert served.process.poll() is None
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(20) == -signal.SIGINT


def _until_refused(connect: Connect) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        connect().close()
        time.sleep(0.02)
