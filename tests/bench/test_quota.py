"""CPU limits of processes by cgroups."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.servers import quota
from bench.servers.processes import read_cpu_s
from bench.servers.quota import QuotaUnavailable, limit_cpu

_SHARE = 0.2


@pytest.fixture
def busy_pid() -> Iterator[int]:
    """A process in an endless loop."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        yield process.pid
        process.kill()


def test_a_limited_process_uses_at_most_its_share_of_cpu(busy_pid: int) -> None:
    try:
        with limit_cpu([busy_pid], _SHARE):
            time.sleep(0.2)
            before_s, started = read_cpu_s(busy_pid), time.monotonic()
            time.sleep(1)
            share = (read_cpu_s(busy_pid) - before_s) / (time.monotonic() - started)
    except QuotaUnavailable as reason:
        pytest.skip(str(reason))

    assert 0 < share < 1.5 * _SHARE


def test_missing_control_groups_raise_quota_unavailable(
    busy_pid: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quota, "_CGROUP_ROOTS", (tmp_path / "nothing",))

    with pytest.raises(QuotaUnavailable, match="no control groups"), limit_cpu([busy_pid], _SHARE):
        pass
