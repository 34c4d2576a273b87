"""No two servers of the tests get the same port, even one after the other."""

import random
import subprocess
import sys

import pytest

from tests.servers import free_port, ports

_CLAIM = "import sys; from tests.servers import ports; print(ports.claim(int(sys.argv[1])))"


class _Choosing:
    """Chooses this number first."""

    def __init__(self, first: int) -> None:
        self.next: int | None = first

    def randrange(self, lowest: int, end: int) -> int:
        chosen, self.next = self.next, None
        return random.SystemRandom().randrange(lowest, end) if chosen is None else chosen


def test_a_port_that_was_given_is_not_given_again(monkeypatch: pytest.MonkeyPatch) -> None:
    given = free_port()
    choosing = _Choosing(given)
    monkeypatch.setattr(ports, "_random", choosing)
    assert free_port() != given
    assert choosing.next is None


def test_another_process_does_not_get_it_either() -> None:
    command = [sys.executable, "-c", _CLAIM, str(free_port())]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told.strip() == "False"
