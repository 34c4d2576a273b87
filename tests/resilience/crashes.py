"""PostgreSQL is killed and restarted under load: no acknowledged write is lost or duplicated."""

import asyncio
import math
import time
from typing import Any, NamedTuple

import uvloop

from tests.resilience.figures import Progress, Target, no_progress
from tests.resilience.load import Load
from tests.resilience.nodes import Installation
from tests.servers import Postgres

TARGETS = (
    Target("crashes", "≥", 10, within=1),
    Target("lost", "=", 0),
    Target("duplicated", "=", 0),
    Target("recovered_within_s", "≤", 1.0, within=5.0),
    Target("longest_request_s", "≤", 5.0, within=10.0),
    Target("processes_restarted", "=", 0),
    Target("unexpected", "=", 0),
)
_WRITERS = 24
_BETWEEN_S = 1.0
_AWAY_S = 0.5


class _Crash(NamedTuple):
    """When PostgreSQL was killed, was gone, and accepted connections again."""

    began_at: float
    stopped_at: float
    ready_at: float


def run(
    installation: Installation, *, times: int = 10, progress: Progress = no_progress
) -> dict[str, Any]:
    """Stop PostgreSQL as a crash would and start it again, `times` times; the figures."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_measure(installation, times, progress))


async def _measure(installation: Installation, times: int, progress: Progress) -> dict[str, Any]:
    load = Load(installation.shared_nodes(), installation.key)
    crashes: list[_Crash] = []
    async with load.running(_WRITERS):
        for number in range(times):
            await asyncio.sleep(_BETWEEN_S)
            crashes.append(await asyncio.to_thread(_crash, installation.primary))
            progress(number + 1, times)
        await asyncio.sleep(_BETWEEN_S)
    ends = [*(crash.began_at for crash in crashes[1:]), math.inf]
    recovered = [
        load.recovered_s(crash.stopped_at, crash.ready_at, end)
        for crash, end in zip(crashes, ends, strict=True)
    ]
    return {
        "crashes": times,
        **await load.figures(),
        "recovered_within_s": [round(seconds, 3) for seconds in recovered],
    }


def _crash(cluster: Postgres) -> _Crash:
    began_at = time.monotonic()
    cluster.stop("immediate")
    stopped_at = time.monotonic()
    time.sleep(_AWAY_S)
    cluster.start_again()
    return _Crash(began_at, stopped_at, time.monotonic())
