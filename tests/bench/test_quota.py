"""Limits on what processes may compute."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench import servers
from bench.servers import QuotaUnavailable, find_cpu_s, limit_cpu

_SHARE = 0.2


@pytest.fixture
def busy() -> Iterator[int]:
    """A process that computes without end."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        yield process.pid
        process.kill()


def test_a_limited_process_gets_no_more_than_its_share(busy: int) -> None:
    try:
        with limit_cpu([busy], _SHARE):
            time.sleep(0.2)
            before_s, started = find_cpu_s(busy), time.monotonic()
            time.sleep(1)
            share = (find_cpu_s(busy) - before_s) / (time.monotonic() - started)
    except QuotaUnavailable as reason:
        pytest.skip(str(reason))

    assert 0 < share < 1.5 * _SHARE


def test_without_control_groups_it_says_so(
    busy: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "_CGROUP_ROOTS", (tmp_path / "nothing",))

    with pytest.raises(QuotaUnavailable, match="no control groups"), limit_cpu([busy], _SHARE):
        pass
