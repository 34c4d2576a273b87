"""Two hundred clients at ten connections that are held up: refused in time, and well soon after."""

import asyncio
import random
import time
from collections.abc import Sequence
from operator import truediv
from statistics import median
from typing import Any, NamedTuple

import asyncpg
import uvloop

from sealdesk.clock import Clock
from tests.resilience.figures import Target, Tell, quiet
from tests.resilience.lines import Answer, Key
from tests.resilience.nodes import RUNTIME, Installation, Node

TARGETS = (
    # Who waits for a connection; who has one and waits for the lock ends by lock_timeout.
    Target("longest_wait_for_a_connection_s", "≤", 2.0, within=6.0),
    Target("longest_request_s", "≤", 5.0, within=10.0),
    Target("refused", "≥", 1),
    Target("deadlocks", "=", 0),
    Target("normal_within_s", "≤", 1.0, within=5.0),
    Target("p99_after_over_before", "≤", 3.0, within=20.0),
    Target("connections", "≤", 10),
    Target("idle_in_transaction", "=", 0),
    Target("connections_usable", "=", 10),
    Target("unexpected", "=", 0),
)
CONNECTIONS = 10
_WHOAMI = "/api/v1/external/whoami"
_TICKETS = "/api/v1/external/tickets?per_page=5"
# What is locked, and a request that needs it: for its first look into the database, or a later one.
_NEEDS = {"api_keys": _WHOAMI, "tickets": _TICKETS}
_IN_USE = b"All connections to the database are in use"
_PAUSE_S = 0.4
_USABLE_S = 2.5  # before lock_timeout ends the first that waits
_WAITING = """
SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND wait_event_type = 'Lock'
"""
_STEADY_S = 2.0
_HOUR_US = 3_600_000_000
_APART_S = 0.5  # so that nobody is counted as before who was held up


class _Plan(NamedTuple):
    table: str
    clients: int
    times: int
    held_s: float


class _Crowd:
    """Clients that each ask again and again."""

    def __init__(self, node: Node, key: Key, target: str) -> None:
        self.node = node
        self.target = target
        self.key = key
        self.answers: list[Answer] = []
        self.is_over = False

    async def ask(self) -> None:
        line = self.node.line()
        while not self.is_over:
            answer = await line.ask(self.key.request("GET", self.target))
            self.answers.append(answer)
            # Unevenly: who was refused together shall not come again together.
            await asyncio.sleep(random.uniform(0.1, 1.9) * _PAUSE_S)
        line.close()

    def begun(self, since: float, until: float) -> list[Answer]:
        return [a for a in self.answers if since <= a.began_at < until]


def run(
    installation: Installation,
    *,
    table: str = "api_keys",
    clients: int = 200,
    times: int = 3,
    held_s: float = 6.0,
    tell: Tell = quiet,
) -> dict[str, Any]:
    """Hold a lock that every request needs, so many times and so long; the figures.

    table: api_keys, which the guard reads first, or tickets, which is read after that.
    """
    plan = _Plan(table, clients, times, held_s)
    installation.close()  # so that the role's connections are those of the one node
    with (
        installation.nodes(1, SEALDESK_DATABASE_CONNECTIONS=str(CONNECTIONS)) as (node,),
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        return runner.run(_proven(installation, node, plan, tell))


async def _proven(
    installation: Installation, node: Node, plan: _Plan, tell: Tell
) -> dict[str, Any]:
    crowd, clock = _Crowd(node, installation.key, _NEEDS[plan.table]), Clock()
    other = await asyncpg.connect(installation.primary.superuser_url(installation.database))
    # Noting a key's use, once a minute, would wait for the lock too, and then for a connection:
    # who is refused after that has waited for both.
    await other.execute("UPDATE api_keys SET last_used_at = $1", clock.now_us() + _HOUR_US)
    try:
        tasks = [asyncio.create_task(crowd.ask()) for _ in range(plan.clients)]
        await asyncio.sleep(_STEADY_S)  # they connect, and the node opens its connections
        stretches = []
        for number in range(plan.times):
            await asyncio.sleep(_STEADY_S)
            stretches.append(await _held_up(other, plan))
            await asyncio.sleep(1 + _STEADY_S)
            tell(number + 1, plan.times)
        crowd.is_over = True
        await asyncio.gather(*tasks)
        usable = await _usable(other, crowd, plan)
        state = await _state(other)
    finally:
        await other.close()
    return {
        **plan._asdict(),
        **_figures(crowd, stretches),
        **state,
        "connections_usable": usable,
    }


async def _held_up(other: asyncpg.Connection, plan: _Plan) -> tuple[float, float]:
    """From when to when the lock was held."""
    async with other.transaction():
        await other.execute(f"LOCK TABLE {plan.table} IN ACCESS EXCLUSIVE MODE")
        from_at = time.monotonic()
        await asyncio.sleep(plan.held_s)
        until_at = time.monotonic()
    return from_at, until_at


async def _usable(other: asyncpg.Connection, crowd: _Crowd, plan: _Plan) -> int:
    """How many connections the node still works with: as many as wait for the lock at once."""
    crowd.is_over = False
    async with other.transaction():
        await other.execute(f"LOCK TABLE {plan.table} IN ACCESS EXCLUSIVE MODE")
        tasks = [asyncio.create_task(crowd.ask()) for _ in range(3 * CONNECTIONS)]
        usable, until = 0, time.monotonic() + _USABLE_S
        while usable < CONNECTIONS and time.monotonic() < until:
            await asyncio.sleep(0.05)
            usable = max(usable, await other.fetchval(_WAITING, RUNTIME))
        crowd.is_over = True
    await asyncio.gather(*tasks)
    return usable


async def _state(other: asyncpg.Connection) -> dict[str, Any]:
    (row,) = await other.fetch(
        "SELECT count(*) AS connections,"
        " count(*) FILTER (WHERE state LIKE 'idle in transaction%') AS idle_in_transaction,"
        " (SELECT deadlocks FROM pg_stat_database WHERE datname = current_database())"
        " AS deadlocks FROM pg_stat_activity WHERE usename = $1",
        RUNTIME,
    )
    return dict(row)


def _figures(crowd: _Crowd, stretches: Sequence[tuple[float, float]]) -> dict[str, Any]:
    refused = [a for a in crowd.answers if not a.is_good]
    waiting = [a for a in refused if _IN_USE in a.body]
    before = [_p99_s(crowd.begun(at - _STEADY_S, at - _APART_S)) for at, _ in stretches]
    after = [_p99_s(crowd.begun(until + 1, until + 1 + _STEADY_S)) for _, until in stretches]
    normal = []
    for _, until in stretches:
        late = [a.ended_at - until for a in refused if until < a.ended_at < until + 1 + _STEADY_S]
        normal.append(round(max(late, default=0.0), 3))
    is_advised = [a.status == 503 and b"\r\nretry-after: " in a.head.lower() for a in refused]
    return {
        "requests": len(crowd.answers),
        "refused": len(refused),
        "refused_for_a_connection": len(waiting),
        "longest_wait_for_a_connection_s": round(max((a.took_s for a in waiting), default=0), 3),
        "longest_request_s": round(max(a.took_s for a in crowd.answers), 3),
        "normal_within_s": normal,
        "p99_before_ms": [round(1000 * s, 1) for s in before],
        "p99_after_ms": [round(1000 * s, 1) for s in after],
        # The median: what neighbours do to one stretch is not the crowd's.
        "p99_after_over_before": round(median(map(truediv, after, before)), 2),
        "unexpected": is_advised.count(False),
        "first_unexpected": [
            f"{a.status} {a.body[:200]!r}"
            for a, is_right in zip(refused, is_advised, strict=True)
            if not is_right
        ][:3],
    }


def _p99_s(answers: list[Answer]) -> float:
    taken = sorted(a.took_s for a in answers)
    return taken[int(0.99 * (len(taken) - 1))]
