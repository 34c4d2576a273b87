"""One key's limit over three nodes that serve, with Redis killed midway and back empty."""

import asyncio
import json
import time
from collections import Counter
from typing import Any

import uvloop

from tests.resilience.figures import Target, Tell, quiet
from tests.resilience.limit import TOLERANCE, worst_window
from tests.resilience.lines import Answer, Key
from tests.resilience.nodes import Installation, Node, by_admin, log_in
from tests.servers import Redis

TARGETS = (
    Target("worst_window", "≤", TOLERANCE),
    Target("unexpected", "=", 0),
    # The budget is used up: otherwise nothing was held back.
    Target("refused", "≥", 1),
    # As /readyz says it: by all while Redis is away, and by none a while after.
    Target("nodes_local_while_away", "=", 3),
    Target("nodes_local_in_the_end", "=", 0),
)
_ON_EACH = 2
_PAUSE_S = 0.02
_WHOAMI = "/api/v1/external/whoami"


class _Seen:
    def __init__(self) -> None:
        self.accepted_at: list[float] = []
        self.statuses: Counter[int] = Counter()
        self.unexpected: list[str] = []

    def note(self, answer: Answer) -> None:
        self.statuses[answer.status] += 1
        if answer.is_good:
            self.accepted_at.append(answer.ended_at)
        elif answer.status != 429:
            self.unexpected.append(f"{answer.status} {answer.body[:200]!r}")


def run(
    installation: Installation,
    *,
    limit: int = 600,
    third_s: float = 15.0,
    tell: Tell = quiet,
) -> dict[str, Any]:
    """Hammer one key on three nodes: with Redis, without, and again with; each so long."""
    redis = Redis.start(installation.directory / "redis")
    env = {"SEALDESK_REDIS_URL": redis.url, "SEALDESK_EXPECTED_PROCESSES": "3"}
    try:
        with (
            installation.nodes(3, **env) as nodes,
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            return runner.run(_proven(nodes, redis, limit, third_s, tell))
    finally:
        redis.kill()


async def _proven(
    nodes: list[Node], redis: Redis, limit: int, third_s: float, tell: Tell
) -> dict[str, Any]:
    key = await _limited_key(nodes[0], limit)
    seen = _Seen()
    tasks = [asyncio.create_task(_hammer(node, key, seen)) for node in nodes * _ON_EACH]
    began_at = time.monotonic()
    await asyncio.sleep(third_s)
    tell(1, 3)
    await asyncio.to_thread(redis.kill)
    await asyncio.sleep(third_s)
    local = await _local(nodes)
    tell(2, 3)
    await asyncio.to_thread(redis.start_again)
    await asyncio.sleep(third_s)
    tell(3, 3)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return {
        "limit": limit,
        "seconds": round(time.monotonic() - began_at, 1),
        "accepted": len(seen.accepted_at),
        "refused": seen.statuses[429],
        "worst_window": round(worst_window(sorted(seen.accepted_at), limit), 4),
        "nodes_local_while_away": local,
        "nodes_local_in_the_end": await _local(nodes),
        "unexpected": len(seen.unexpected),
        "first_unexpected": seen.unexpected[:3],
    }


async def _hammer(node: Node, key: Key, seen: _Seen) -> None:
    line = node.line()
    try:
        while True:
            seen.note(await line.ask(key.request("GET", _WHOAMI)))
            await asyncio.sleep(_PAUSE_S)
    finally:
        line.close()


async def _local(nodes: list[Node]) -> int:
    """How many nodes say that they keep to their share of the limit."""
    count = 0
    for node in nodes:
        line = node.line()
        answer = await line.ask(b"GET /readyz HTTP/1.1\r\nhost: sealdesk.test\r\n\r\n")
        line.close()
        count += answer.json()["data"]["rate_limit"] == "local"
    return count


async def _limited_key(node: Node, limit: int) -> Key:
    new = json.dumps({"name": "limited", "rate_limit": limit}).encode()
    line = node.line()
    token = await log_in(line)
    answer = await line.ask(by_admin(token, "POST", "/api/v1/api-keys", new))
    line.close()
    data = answer.json()["data"]
    return Key(data["id"], data["api_key"], data["api_secret"])
