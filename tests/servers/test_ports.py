"""No two servers of the tests get the same port, even one after the other."""

import subprocess
import sys

from tests.servers import free_port, ports

_COUNT_UP = "from tests.servers import ports; print(ports.count_up())"


def test_each_server_gets_another_port() -> None:
    given = [free_port() for _ in range(100)]
    assert len({*given}) == 100


def test_another_process_goes_on_with_the_same_count() -> None:
    before = ports.count_up()
    done = subprocess.run(
        [sys.executable, "-c", _COUNT_UP], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) > before
