"""The parent of several workers: real processes, ended in every way that they can end."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import pytest

from sealdesk.server import supervisor
from tests.cli.terminal import Served
from tests.support.service import wait_until

_COMMAND = (sys.executable, "-m", "tests.support.forking")
_LONG_S = 60  # longer than any end, on the slowest machine
Begin = Callable[..., Served]


@pytest.fixture
def begin() -> Iterator[Begin]:
    """Starts the program; afterwards none of its processes is left, however it was ended."""
    begun: list[subprocess.Popen[str]] = []

    def start(*args: str) -> Served:
        command = [*_COMMAND, *args]
        # In a group of its own, which workers stay in when they have lost their parent.
        begun.append(
            subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
        )
        return Served(begun[-1])

    yield start
    for process in begun:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)
        assert process.stderr is not None
        process.stderr.close()


@pytest.fixture
def two(begin: Begin) -> Served:
    """A running program with two workers, both of which serve."""
    served = begin("2")
    wait_until(lambda: len(_answering(served)) == 2)
    return served


def _children(pid: int) -> list[int]:
    try:
        return [
            int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        ]
    except OSError:
        return []


class InboxQuery:
    """A request that has been sent, on a connection of its own."""

    def __init__(self, served: Served, path: str = "/") -> None:
        self._connection = HTTPConnection("127.0.0.1", _port(served), timeout=20)
        self._connection.request("GET", path)

    def pid(self) -> int:
        """Which process answers. Raises OSError, HTTPException when none does."""
        with closing(self._connection):
            return int(json.load(self._connection.getresponse())["pid"])

    def is_lost(self) -> bool:
        """Whether the connection ends without an answer."""
        try:
            self.pid()
        except (OSError, HTTPException):
            return True
        return False


def _port(served: Served) -> int:
    return int(served.url.rpartition(":")[2])


def _answering(served: Served) -> set[int]:
    return {InboxQuery(served).pid() for _ in range(24)}


def _end(served: Served, number: signal.Signals = signal.SIGTERM) -> int:
    """The exit code, which must come long before what takes `_LONG_S` is over."""
    served.process.send_signal(number)
    return served.process.wait(_LONG_S / 3)


def test_all_workers_serve_on_one_port_and_say_who_they_are(two: Served) -> None:
    assert sorted(_answering(two)) == sorted(_children(two.process.pid))
    spoke = [line for line in two.log if line["event"] == "begun"]
    spoke += [two.next_log("begun")] if len(spoke) < 2 else []
    told = {(line["worker"], line["pid"]) for line in spoke}
    assert told == set(enumerate(_children(two.process.pid), 1))


def test_worker_that_dies_is_replaced_and_the_log_says_so(two: Served) -> None:
    dead = next(iter(_answering(two)))
    os.kill(dead, signal.SIGKILL)
    line = two.next_log("a worker died")
    assert (line["died_pid"], line["code"], line["restart_in_s"]) == (dead, -9, 0.25)
    wait_until(lambda: len(_answering(two)) == 2)
    assert dead not in _answering(two)


def test_connections_that_come_together_are_spread_over_the_workers(two: Served) -> None:
    together = [InboxQuery(two) for _ in range(48)]
    counts = Counter(asked.pid() for asked in together)
    assert len(counts) == 2
    assert min(counts.values()) >= 8


def test_delay_before_a_worker_is_replaced_doubles_is_bounded_and_forgets() -> None:
    delays_s = [0.0]
    for _ in range(9):
        delays_s.append(supervisor.next_delay_s(delays_s[-1], lived_s=1.0))
    assert delays_s == [0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    assert supervisor.next_delay_s(30.0, lived_s=10.0) == 0.25


def test_service_that_cannot_begin_ends_after_one_try(begin: Begin) -> None:
    process = subprocess.run(
        [*_COMMAND, "3", "--fails"], capture_output=True, text=True, timeout=20, check=False
    )
    assert (process.returncode, process.stderr.count("begun")) == (1, 1)


def test_whoever_has_asked_is_answered_by_every_worker(two: Served) -> None:
    workers = set(_children(two.process.pid))
    asked = [InboxQuery(two, "/slow?0.5") for _ in range(6)]
    assert _end(two) == 0
    assert {request.pid() for request in asked} <= workers


def test_ctrl_c_in_a_terminal_reaches_workers_too_and_cuts_nobody(begin: Begin) -> None:
    served = begin("2")
    asked = InboxQuery(served, "/slow?0.5")
    for pid in (*_children(served.process.pid), served.process.pid):
        os.kill(pid, signal.SIGINT)
    assert (served.process.wait(20), asked.is_lost()) == (0, False)


def test_port_closes_while_the_last_answers_are_given(two: Served, tmp_path: Path) -> None:
    goes_on = tmp_path / "goes-on"
    asked = InboxQuery(two, f"/held?{goes_on}")
    two.process.terminate()
    wait_until(lambda: _is_refused(two))
    assert two.process.poll() is None
    goes_on.touch()
    assert not asked.is_lost()


def _is_refused(served: Served) -> bool:
    try:
        socket.create_connection(("127.0.0.1", _port(served)), timeout=0.05).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False


def test_exit_code_tells_of_requests_that_were_cut(begin: Begin) -> None:
    served = begin("2", "--cut-after-s", "0.5")
    asked = InboxQuery(served, f"/slow?{_LONG_S}")
    assert (_end(served), served.next_log("requests were cut off")["count"]) == (1, 1)
    assert asked.is_lost()


def test_worker_that_hangs_is_ended_in_time(begin: Begin) -> None:
    served = begin("1", "--drain-s", "1")
    asked = InboxQuery(served, "/hang")
    assert (_end(served), asked.is_lost()) == (1, True)


def test_second_ctrl_c_waits_for_nobody(begin: Begin) -> None:
    served = begin("2", "--drain-s", f"{_LONG_S}", "--cut-after-s", f"{_LONG_S}")
    asked = InboxQuery(served, f"/slow?{_LONG_S}")
    served.process.send_signal(signal.SIGINT)
    wait_until(lambda: _is_refused(served))
    assert (_end(served, signal.SIGINT), asked.is_lost()) == (1, True)


def test_workers_end_with_a_parent_that_was_killed_and_answer_first(two: Served) -> None:
    asked = InboxQuery(two, "/slow?0.5")
    workers = _children(two.process.pid)
    two.process.kill()
    assert asked.pid() in workers
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def test_one_worker_that_is_told_to_stop_leaves_the_port_to_the_others(two: Served) -> None:
    first, second = _children(two.process.pid)
    os.kill(first, signal.SIGTERM)
    two.next_log("a worker died")
    assert second in _answering(two)
    wait_until(lambda: len(_answering(two)) == 2)
