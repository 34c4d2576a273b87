"""One key's limit over three serving nodes; Redis is killed and comes back empty."""

import asyncio
import json
import time
from collections import Counter
from typing import Any

import uvloop

from tests.resilience.connections import Key, Response
from tests.resilience.figures import Progress, Target, no_progress
from tests.resilience.limit_of_limiters import TOLERANCE, worst_window
from tests.resilience.nodes import Installation, Node, admin_request, log_in
from tests.servers import Redis

TARGETS = (
    Target("worst_window", "≤", TOLERANCE),
    Target("unexpected", "=", 0),
    # Otherwise the budget was not used up.
    Target("refused", "≥", 1),
    # As /readyz reports: on all nodes while Redis is away, and on none a while after.
    Target("nodes_local_while_away", "=", 3),
    Target("nodes_local_in_the_end", "=", 0),
)
_PER_NODE = 2
_PAUSE_S = 0.02
_WHOAMI = "/api/v1/external/whoami"


class _Observed:
    def __init__(self) -> None:
        self.accepted_at: list[float] = []
        self.statuses: Counter[int] = Counter()
        self.unexpected: list[str] = []

    def record(self, response: Response) -> None:
        self.statuses[response.status] += 1
        if response.is_good:
            self.accepted_at.append(response.ended_at)
        elif response.status != 429:
            self.unexpected.append(f"{response.status} {response.body[:200]!r}")


def run(
    installation: Installation,
    *,
    limit: int = 600,
    third_s: float = 15.0,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Use one key on three nodes with Redis, without, and with it again, each for `third_s`."""
    redis = Redis.start(installation.directory / "redis")
    env = {"SEALDESK_REDIS_URL": redis.url, "SEALDESK_EXPECTED_PROCESSES": "3"}
    try:
        with (
            installation.nodes(3, **env) as nodes,
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            return runner.run(_measure(nodes, redis, limit, third_s, progress))
    finally:
        redis.kill()


async def _measure(
    nodes: list[Node], redis: Redis, limit: int, third_s: float, progress: Progress
) -> dict[str, Any]:
    key = await _limited_key(nodes[0], limit)
    observed = _Observed()
    tasks = [asyncio.create_task(_hammer(node, key, observed)) for node in nodes * _PER_NODE]
    began_at = time.monotonic()
    await asyncio.sleep(third_s)
    progress(1, 3)
    await asyncio.to_thread(redis.kill)
    await asyncio.sleep(third_s)
    local = await _local(nodes)
    progress(2, 3)
    await asyncio.to_thread(redis.start_again)
    await asyncio.sleep(third_s)
    progress(3, 3)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return {
        "limit": limit,
        "seconds": round(time.monotonic() - began_at, 1),
        "accepted": len(observed.accepted_at),
        "refused": observed.statuses[429],
        "worst_window": round(worst_window(sorted(observed.accepted_at), limit), 4),
        "nodes_local_while_away": local,
        "nodes_local_in_the_end": await _local(nodes),
        "unexpected": len(observed.unexpected),
        "first_unexpected": observed.unexpected[:3],
    }


async def _hammer(node: Node, key: Key, observed: _Observed) -> None:
    connection = node.connection()
    try:
        while True:
            observed.record(await connection.send(key.request("GET", _WHOAMI)))
            await asyncio.sleep(_PAUSE_S)
    finally:
        connection.close()


async def _local(nodes: list[Node]) -> int:
    """How many nodes report that they enforce their share of the limit alone."""
    count = 0
    for node in nodes:
        connection = node.connection()
        response = await connection.send(b"GET /readyz HTTP/1.1\r\nhost: sealdesk.test\r\n\r\n")
        connection.close()
        count += response.json()["data"]["rate_limit"] == "local"
    return count


async def _limited_key(node: Node, limit: int) -> Key:
    new = json.dumps({"name": "limited", "rate_limit": limit}).encode()
    connection = node.connection()
    token = await log_in(connection)
    response = await connection.send(admin_request(token, "POST", "/api/v1/api-keys", new))
    connection.close()
    data = response.json()["data"]
    return Key(data["id"], data["api_key"], data["api_secret"])
