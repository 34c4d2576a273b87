"""The primary is killed and its synchronous standby promoted, under load."""

import asyncio
import os
import signal
import time
from typing import Any

import uvloop

from tests.resilience.figures import Progress, Target, no_progress
from tests.resilience.load import Load
from tests.resilience.nodes import Installation
from tests.servers import Postgres

TARGETS = (
    Target("failovers", "≥", 5, within=1),
    Target("lost", "=", 0),
    Target("duplicated", "=", 0),
    Target("gap_s", "≤", 5.0, within=12.0),
    Target("longest_request_s", "≤", 5.0, within=10.0),
    Target("processes_restarted", "=", 0),
    Target("unexpected", "=", 0),
)
_WRITERS = 16
_BEFORE_S = 1.5
_AFTER_S = 1.0
_BEHIND_S = 0.5


def run(
    installation: Installation,
    *,
    times: int = 5,
    is_synchronous: bool = True,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Kill the primary `times` times, each with a new standby; the figures.

    is_synchronous: if not, the standby lags when the primary dies, and writes are lost.
    """
    figures: dict[str, Any] = {}
    for number in range(times):
        behind = f"postgres{number + 1}" + ("" if is_synchronous else "behind")
        standby = installation.primary.standby(
            installation.directory / behind, is_synchronous=is_synchronous
        )
        with (
            installation.nodes(3, standby) as nodes,
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            load = Load(nodes, installation.key)
            _merge(
                figures, runner.run(_fail_over_once(installation, standby, load, is_synchronous))
            )
        installation.move_to(standby)
        progress(number + 1, times)
    return {"failovers": times, **figures}


async def _fail_over_once(
    installation: Installation, standby: Postgres, load: Load, is_synchronous: bool
) -> dict[str, Any]:
    async with load.running(_WRITERS):
        await asyncio.sleep(_BEFORE_S)
        killed_at, promoted_at = await asyncio.to_thread(
            _fail_over, installation.primary, standby, is_synchronous
        )
        await asyncio.sleep(_AFTER_S)
    after = min(at for at in load.acknowledged.values() if at > killed_at)
    return {
        **await load.figures(),
        "gap_s": [round(load.gap_s(killed_at), 3)],
        "after_promotion_s": [round(max(0.0, after - promoted_at), 3)],
    }


def _fail_over(primary: Postgres, standby: Postgres, is_synchronous: bool) -> tuple[float, float]:
    """When the primary was dead, and when the standby took writes."""
    receiver = None if is_synchronous else _receiver(standby)
    if receiver is not None:
        os.kill(receiver, signal.SIGSTOP)
        time.sleep(_BEHIND_S)
    primary.kill()
    killed_at = time.monotonic()
    if receiver is not None:
        # It ends before it reads the data in flight.
        os.kill(receiver, signal.SIGTERM)
        os.kill(receiver, signal.SIGCONT)
    standby.promote()
    return killed_at, time.monotonic()


def _receiver(standby: Postgres) -> int:
    (pid,) = standby.sql("SELECT pid FROM pg_stat_wal_receiver")
    return int(pid)


def _merge(figures: dict[str, Any], more: dict[str, Any]) -> None:
    for name, value in more.items():
        if name == "answers":
            counts = figures.setdefault(name, {})
            for status, count in value.items():
                counts[status] = counts.get(status, 0) + count
        elif name == "longest_request_s":
            figures[name] = max(figures.get(name, 0.0), value)
        else:
            figures[name] = figures[name] + value if name in figures else value
