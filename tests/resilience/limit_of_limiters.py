"""One key's limit over several limiter processes; Redis is killed and comes back empty."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import msgspec
import uvloop

from sealdesk.rate_limits.limiter import Budget
from sealdesk.rate_limits.redis_limiter import SharedLimiter
from sealdesk.telemetry import logs
from tests.resilience.figures import Target
from tests.servers.redis import Redis

TOLERANCE = 1.02
LIMIT = 600
TARGETS = (
    Target("worst_window", "≤", TOLERANCE),
    Target("accepted", "≥", LIMIT),
    Target("recovered_within_s", "≤", 2.0),
    Target("longest_wait_s", "≤", 0.3, within=1.0),
    # Otherwise the outage had no effect.
    Target("times_local", "≥", 1),
    Target("faults", "=", 0),
)
_AT_ONCE = 8  # concurrent requests on each node
_WATCH_S = 0.005


class Plan(msgspec.Struct):
    """What one node does. Times are of the monotonic clock, which all processes share."""

    url: str
    nodes: int
    limit: int
    per_s: float
    begin_at: float
    end_at: float


class Observed(msgspec.Struct):
    """What one node observed. modes: when the limiter changed to which mode."""

    accepted_at: list[float] = []
    refused: int = 0
    longest_wait_s: float = 0.0
    modes: list[tuple[float, str]] = []
    errors: list[str] = []


def run(
    directory: Path,
    *,
    outages: Sequence[tuple[float, float]],
    for_s: float,
    limit: int = LIMIT,
    nodes: int = 3,
    per_s: float = 250.0,
) -> dict[str, Any]:
    """Send requests with one key on all nodes; the figures. per_s: requests of one node.

    outages: when Redis is killed, and when it is started again, in seconds from the beginning.
    """
    redis = Redis.start(directory / "redis")
    started = [_start() for _ in range(nodes)]
    try:
        for node in started:
            _output(node).readline()
        begin_at = time.monotonic() + 0.3
        plan = Plan(redis.url, nodes, limit, per_s, begin_at, begin_at + for_s)
        for node in started:
            _send_plan(node, plan)
        back_at = [
            _restart_redis(redis, begin_at + away, begin_at + back) for away, back in outages
        ]
        observed = [msgspec.json.decode(_output(node).read(), type=Observed) for node in started]
    finally:
        for node in started:
            node.kill()
            node.communicate()
        redis.stop()
    return _figures(plan, observed, back_at)


def _start() -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "tests.resilience.limit_of_limiters"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _send_plan(node: "subprocess.Popen[bytes]", plan: Plan) -> None:
    assert node.stdin is not None
    node.stdin.write(msgspec.json.encode(plan) + b"\n")
    node.stdin.flush()


def _output(node: "subprocess.Popen[bytes]") -> IO[bytes]:
    assert node.stdout is not None
    return node.stdout


def _restart_redis(redis: Redis, away_at: float, back_at: float) -> float:
    """Kill Redis and start it again; when it was back."""
    time.sleep(max(0.0, away_at - time.monotonic()))
    redis.kill()
    time.sleep(max(0.0, back_at - time.monotonic()))
    redis.start_again()
    return time.monotonic()


def _figures(plan: Plan, observed: list[Observed], back_at: list[float]) -> dict[str, Any]:
    times = sorted(at for node in observed for at in node.accepted_at)
    return {
        "nodes": plan.nodes,
        "limit": plan.limit,
        "seconds": round(plan.end_at - plan.begin_at, 3),
        "times_redis_was_killed": len(back_at),
        "accepted": len(times),
        "refused": sum(node.refused for node in observed),
        "accepted_by_node": [len(node.accepted_at) for node in observed],
        "worst_window": round(worst_window(times, plan.limit), 4),
        "recovered_within_s": [
            round(max(_recovered_s(node, at) for node in observed), 3) for at in back_at
        ],
        "longest_wait_s": round(max(node.longest_wait_s for node in observed), 3),
        "times_local": [sum(mode == "local" for _, mode in node.modes) for node in observed],
        "faults": sum(len(node.errors) for node in observed),
        "first_faults": [error for node in observed for error in node.errors][:3],
    }


def worst_window(times: list[float], limit: int) -> float:
    """The worst ratio, over all intervals, of requests accepted to requests allowed."""
    per_s = limit / 60
    return max(
        ((last - first + 1) / (limit + (times[last] - times[first]) * per_s))
        for first in range(len(times))
        for last in range(first, len(times))
    )


def _recovered_s(node: Observed, back_at: float) -> float:
    """Seconds until the node shared its limits again, infinite when it never did."""
    before = [mode for at, mode in node.modes if at <= back_at]
    if before and before[-1] == "shared":
        return 0.0
    after = [at for at, mode in node.modes if at > back_at and mode == "shared"]
    return min(after, default=float("inf")) - back_at


async def _run_node(plan: Plan) -> Observed:
    limiter = SharedLimiter(plan.url, plan.nodes, time.monotonic)
    observed = Observed()
    await limiter.start()
    watch = asyncio.create_task(_watch(limiter, observed))
    await asyncio.sleep(plan.begin_at - time.monotonic())
    await asyncio.gather(*(_hammer(limiter, plan, observed) for _ in range(_AT_ONCE)))
    watch.cancel()
    await limiter.stop()
    return observed


async def _hammer(limiter: SharedLimiter, plan: Plan, observed: Observed) -> None:
    while (began_at := time.monotonic()) < plan.end_at:
        try:
            state = await limiter.take(Budget("key", plan.limit))
        except Exception as error:
            observed.errors.append(repr(error))
            continue
        now = time.monotonic()
        observed.longest_wait_s = max(observed.longest_wait_s, now - began_at)
        if state.accepted:
            observed.accepted_at.append(now)
        else:
            observed.refused += 1
        await asyncio.sleep(max(0.0, began_at + _AT_ONCE / plan.per_s - now))


async def _watch(limiter: SharedLimiter, observed: Observed) -> None:
    while True:
        if not observed.modes or observed.modes[-1][1] != limiter.mode:
            observed.modes.append((time.monotonic(), limiter.mode))
        await asyncio.sleep(_WATCH_S)


def main() -> None:
    """One node: reports that it is ready, reads its plan, and prints its observations."""
    logs.configure("error")  # not to stdout, which carries the observations
    _write(b"ready\n")
    plan = msgspec.json.decode(sys.stdin.buffer.readline(), type=Plan)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        observed = runner.run(_run_node(plan))
    _write(msgspec.json.encode(observed))


def _write(what: bytes) -> None:
    sys.stdout.buffer.write(what)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
