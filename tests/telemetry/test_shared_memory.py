"""What several workers count together."""

import os
import re
import signal
import time
from pathlib import Path

import httpx
import pytest

from sealdesk.rate_limits.limiter import RateLimiter
from sealdesk.telemetry.metrics import Metrics
from sealdesk.telemetry.shared_memory import SharedMemory
from tests.cli.terminal import Terminal, serving
from tests.support.databases import Template
from tests.support.service import wait_until

_ROUTE = "GET /healthz"


def _joined(tally: SharedMemory, worker: int) -> Metrics:
    metrics = Metrics(RateLimiter(lambda: 0.0))
    metrics.join(tally, worker)
    return metrics


def _count(metrics: Metrics) -> tuple[float, float]:
    """Answers of the route as everybody may see them, and the seconds they took."""
    text = metrics.exposition().decode()
    return _value(text, "sealdesk_requests_total"), _value(
        text, "sealdesk_request_duration_seconds_sum"
    )


def _value(exposition: str, name: str) -> float:
    found = re.findall(rf'^{name}{{route="{_ROUTE}".*}} (\S+)$', exposition, re.MULTILINE)
    return float(found[0]) if found else 0.0


def test_each_part_is_its_own() -> None:
    tally = SharedMemory(3)
    for worker in (1, 2, 3, 2):
        tally.write(worker, b"%d" % worker * worker)
    assert [tally.read(worker) for worker in (1, 2, 3)] == [b"1", b"22", b"333"]


def test_a_part_is_read_whole_while_it_is_written() -> None:
    tally = SharedMemory(1)
    pid = os.fork()
    if pid == 0:
        number = 0
        while True:
            number += 1
            tally.write(1, bytes([number % 256]) * 500)
    try:
        wait_until(lambda: tally.read(1) != b"")
        until = time.monotonic() + 0.5
        seen = {len(set(tally.read(1)))}
        while time.monotonic() < until:
            seen.add(len(set(tally.read(1))))
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert seen == {1}


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        SharedMemory(1).write(1, bytes(64 * 1024))


def test_every_worker_tells_what_all_have_counted() -> None:
    tally = SharedMemory(2)
    one, two = _joined(tally, 1), _joined(tally, 2)
    one.note(_ROUTE, 200, 0.5)
    two.note(_ROUTE, 200, 0.25)
    one.write_down()
    two.write_down()
    assert (_count(one), _count(two)) == ((2, 0.75), (2, 0.75))


def test_a_worker_that_is_replaced_takes_nothing_back() -> None:
    tally = SharedMemory(2)
    dead, other = _joined(tally, 1), _joined(tally, 2)
    dead.note(_ROUTE, 200, 0.5)
    dead.write_down()
    new = _joined(tally, 1)
    new.note(_ROUTE, 200, 0.5)
    new.write_down()
    assert _count(other) == (2, 1.0)


def test_metrics_of_several_workers_count_every_request_once(
    postgres_template: Template, tmp_path: Path
) -> None:
    with postgres_template.copied() as env:
        terminal = Terminal(tmp_path, **env, SEALDESK_PER_PROCESS_LIMITS="accept")
        with serving(terminal, "--workers", "2") as served:
            for _ in range(30):
                assert httpx.get(f"{served.url}/healthz").status_code == 200
            wait_until(
                lambda: (
                    {
                        _value(httpx.get(f"{served.url}/metrics").text, "sealdesk_requests_total")
                        for _ in range(6)
                    }
                    == {30.0}
                )
            )
