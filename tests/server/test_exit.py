"""How the server process exits: in time, and with an exit code for lost requests."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import pytest

from tests.cli.terminal import Served
from tests.support.service import wait_until

_LONG_S = 60  # longer than any exit takes, on the slowest machine
Start = Callable[..., Served]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts the program; kills it after the test if it still runs."""
    started: list[subprocess.Popen[str]] = []

    def start(*args: str) -> Served:
        command = [sys.executable, "-m", "tests.support.serving_program", *args]
        started.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        return Served(started[-1])

    yield start
    for process in started:
        process.kill()
        process.wait(120)
        assert process.stderr is not None
        process.stderr.close()


class SentRequest:
    """A request that was sent on a connection of its own."""

    def __init__(self, served: Served, path: str) -> None:
        self._connection = HTTPConnection("127.0.0.1", _port(served), timeout=120)
        self._connection.request("GET", path)

    def is_lost(self) -> bool:
        """Whether the connection closes without a response."""
        with closing(self._connection), suppress(OSError, HTTPException):
            return "pid" not in json.load(self._connection.getresponse())
        return True


def _port(served: Served) -> int:
    return int(served.url.rpartition(":")[2])


def _end(served: Served, number: signal.Signals = signal.SIGTERM) -> int:
    """The exit code; the process exits long before `_LONG_S`."""
    served.process.send_signal(number)
    return served.process.wait(_LONG_S / 3)


def _is_refused(served: Served) -> bool:
    try:
        socket.create_connection(("127.0.0.1", _port(served)), timeout=0.05).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False


def test_port_closes_while_the_last_requests_are_answered(start: Start, tmp_path: Path) -> None:
    served = start()
    go_on = tmp_path / "go-on"
    request = SentRequest(served, f"/held?{go_on}")
    served.process.terminate()
    wait_until(lambda: _is_refused(served))
    assert served.process.poll() is None
    go_on.touch()
    assert not request.is_lost()
    assert served.process.wait(_LONG_S / 3) == 0


def test_exit_code_is_1_when_requests_were_aborted(start: Start) -> None:
    served = start("--abort-after-s", "0.5")
    request = SentRequest(served, f"/slow?{_LONG_S}")
    assert (_end(served), served.next_log("requests aborted")["count"]) == (1, 1)
    assert request.is_lost()


def test_process_that_hangs_exits_in_time(start: Start) -> None:
    served = start("--drain-s", "1")
    request = SentRequest(served, "/hang")
    assert (_end(served), request.is_lost()) == (-signal.SIGALRM, True)


def test_second_ctrl_c_exits_at_once(start: Start) -> None:
    served = start("--drain-s", f"{_LONG_S}", "--abort-after-s", f"{_LONG_S}")
    request = SentRequest(served, f"/slow?{_LONG_S}")
    served.process.send_signal(signal.SIGINT)
    wait_until(lambda: _is_refused(served))
    assert (_end(served, signal.SIGINT), request.is_lost()) == (-signal.SIGINT, True)
