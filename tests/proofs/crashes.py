"""PostgreSQL is killed and restarted under load: nothing acknowledged is lost or there twice."""

import asyncio
import time
from typing import Any

import uvloop

from tests.proofs.figures import Target, Tell, quiet
from tests.proofs.load import Load
from tests.proofs.nodes import Installation
from tests.servers import Postgres

TARGETS = (
    Target("lost", "=", 0),
    Target("duplicated", "=", 0),
    Target("healed_within_s", "≤", 1.0, within=5.0),
    Target("longest_request_s", "≤", 5.0, within=10.0),
    Target("processes_restarted", "=", 0),
    Target("unexpected", "=", 0),
)
_WRITERS = 24
_BETWEEN_S = 1.0
_AWAY_S = 0.5


def run(installation: Installation, *, times: int = 10, tell: Tell = quiet) -> dict[str, Any]:
    """Stop PostgreSQL as a crash would and start it again, so many times; the figures."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_proven(installation, times, tell))


async def _proven(installation: Installation, times: int, tell: Tell) -> dict[str, Any]:
    load = Load(installation.three(), installation.key)
    moments = []
    async with load.running(_WRITERS):
        for number in range(times):
            await asyncio.sleep(_BETWEEN_S)
            moments.append(await asyncio.to_thread(_crash, installation.primary))
            tell(number + 1, times)
        await asyncio.sleep(_BETWEEN_S)
    return {
        "crashes": times,
        **await load.figures(),
        "healed_within_s": [round(load.healed_s(*moment), 3) for moment in moments],
    }


def _crash(cluster: Postgres) -> tuple[float, float]:
    """When it was gone, and when it accepted connections again."""
    cluster.stop("immediate")
    stopped_at = time.monotonic()
    time.sleep(_AWAY_S)
    cluster.start_again()
    return stopped_at, time.monotonic()
