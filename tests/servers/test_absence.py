"""Missing servers are reported, and started servers leave nothing behind."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.servers.binaries import PATH_ENV
from tests.servers.process import accepts
from tests.servers.run import DIRECTORY_ENV

_ROOT = Path(__file__).parents[2]
_TESTS = """
from tests.servers import Haproxy, run_postgres

def test_that_needs_the_cluster_of_the_run():
    run_postgres()

def test_that_needs_one_of_its_own(tmp_path):
    Haproxy.start(tmp_path / "proxy", "")

def test_that_needs_none():
    pass
"""
_KILLED = """
import time
from tests.servers import Redis, server_directory

with server_directory() as directory:
    print(directory, Redis.start(directory / "redis").port, flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("ci", ["true", ""])
def test_tests_that_were_not_run_are_reported_and_fail_in_ci(tmp_path: Path, ci: str) -> None:
    (tmp_path / "test_here.py").write_text(_TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    env = {name: value for name, value in os.environ.items() if name != DIRECTORY_ENV}
    env |= {PATH_ENV: str(tmp_path), "PYTHONPATH": f"{_ROOT}:{_ROOT / 'src'}", "CI": ci}
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.servers.plugin", "-p", "no:cacheprovider"],
        cwd=tmp_path, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "1 passed, 2 skipped" in done.stdout, done.stdout + done.stderr
    assert "1 test: no PostgreSQL server (initdb, postgres) on this machine" in done.stdout
    assert "1 test: no haproxy on this machine" in done.stdout
    assert "apt-get install --no-install-recommends postgresql redis-server" in done.stdout
    assert done.returncode == (1 if ci else 0)


def test_servers_end_when_the_tests_are_killed() -> None:
    begun = subprocess.Popen(
        [sys.executable, "-c", _KILLED], stdout=subprocess.PIPE, text=True, cwd=_ROOT
    )
    assert begun.stdout is not None
    directory, port = begun.stdout.readline().split()
    assert accepts(int(port))
    begun.kill()
    begun.communicate()
    until = time.monotonic() + 120
    while Path(directory).exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(directory).exists()
    assert not accepts(int(port))
