"""200 clients on 10 connections that wait for a lock: refused in time, and served soon after."""

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
from tests.resilience.connections import Key, Response
from tests.resilience.figures import Progress, Target, no_progress
from tests.resilience.nodes import RUNTIME, Installation, Node

TARGETS = (
    # Of requests without a connection; those with one wait for the lock until lock_timeout.
    Target("longest_wait_for_a_connection_s", "≤", 2.5, within=6.0),
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
# The table to lock, and a request whose first, or a later, statement needs it.
_NEEDS = {"key_stamp": _WHOAMI, "tickets": _TICKETS}
_UNKNOWN_KEY = "tk_live_" + 40 * "0"
_IN_USE = b"All connections to the database are in use"
_PAUSE_S = 0.4
_USABLE_S = 2.5  # before lock_timeout ends the first waiting request
_WAITING = """
SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND wait_event_type = 'Lock'
"""
_STEADY_S = 2.0
_HOUR_US = 3_600_000_000
_APART_S = 0.5  # so that no request that waited is counted as before


class _Plan(NamedTuple):
    table: str
    clients: int
    times: int
    held_s: float


class _Clients:
    """Clients that each send one request after the other."""

    def __init__(self, node: Node, key: Key, target: str) -> None:
        self.node = node
        self.target = target
        self.key = key
        self.answers: list[Response] = []
        self.is_finished = False

    async def send(self) -> None:
        connection = self.node.connection()
        while not self.is_finished:
            response = await connection.send(self.key.request("GET", self.target))
            self.answers.append(response)
            # At random, so that clients refused together do not retry together.
            await asyncio.sleep(random.uniform(0.1, 1.9) * _PAUSE_S)
        connection.close()

    def begun(self, since: float, until: float) -> list[Response]:
        return [a for a in self.answers if since <= a.began_at < until]


def run(
    installation: Installation,
    *,
    table: str = "key_stamp",
    clients: int = 200,
    times: int = 3,
    held_s: float = 6.0,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Hold a lock that every request needs, `times` times for `held_s`; the figures.

    table: key_stamp, which the guard reads first, or tickets, which is read after that.
    """
    plan = _Plan(table, clients, times, held_s)
    installation.close()  # so that all connections of the role belong to the one node
    with (
        installation.nodes(1, SEALDESK_DATABASE_CONNECTIONS=str(CONNECTIONS)) as (node,),
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        return runner.run(_measure(installation, node, plan, progress))


async def _measure(
    installation: Installation, node: Node, plan: _Plan, progress: Progress
) -> dict[str, Any]:
    clients, clock = _Clients(node, installation.key, _NEEDS[plan.table]), Clock()
    other = await asyncpg.connect(installation.primary.superuser_url(installation.database))
    # Recording a key's use, once a minute, would also wait for the lock and then for a
    # connection, and such a request would have waited for both.
    await other.execute("UPDATE api_keys SET last_used_at = $1", clock.now_us() + _HOUR_US)
    try:
        tasks = [asyncio.create_task(clients.send()) for _ in range(plan.clients)]
        await asyncio.sleep(_STEADY_S)  # they connect, and the node opens its connections
        stretches = []
        for number in range(plan.times):
            await asyncio.sleep(_STEADY_S)
            stretches.append(await _hold_lock(other, plan))
            await asyncio.sleep(1 + _STEADY_S)
            progress(number + 1, plan.times)
        clients.is_finished = True
        await asyncio.gather(*tasks)
        usable = await _count_usable(other, clients, plan)
        state = await _read_sessions(other)
    finally:
        await other.close()
    return {
        **plan._asdict(),
        **_figures(clients, stretches),
        **state,
        "connections_usable": usable,
    }


async def _hold_lock(other: asyncpg.Connection, plan: _Plan) -> tuple[float, float]:
    """Hold the lock; when it was taken, and when released."""
    async with other.transaction():
        await other.execute(f"LOCK TABLE {plan.table} IN ACCESS EXCLUSIVE MODE")
        from_at = time.monotonic()
        await asyncio.sleep(plan.held_s)
        until_at = time.monotonic()
    return from_at, until_at


async def _count_usable(other: asyncpg.Connection, clients: _Clients, plan: _Plan) -> int:
    """How many connections the node still uses: the number that wait for the lock at once.

    Looking up an unknown key, which is of no tenant, may have all of them.
    """
    unknown = clients.key._replace(api_key=_UNKNOWN_KEY)
    strangers = _Clients(clients.node, unknown, clients.target)
    async with other.transaction():
        await other.execute("LOCK TABLE api_key_directory IN ACCESS EXCLUSIVE MODE")
        tasks = [asyncio.create_task(strangers.send()) for _ in range(3 * CONNECTIONS)]
        usable, until = 0, time.monotonic() + _USABLE_S
        while usable < CONNECTIONS and time.monotonic() < until:
            await asyncio.sleep(0.05)
            usable = max(usable, await other.fetchval(_WAITING, RUNTIME))
        strangers.is_finished = True
    await asyncio.gather(*tasks)
    return usable


async def _read_sessions(other: asyncpg.Connection) -> dict[str, Any]:
    (row,) = await other.fetch(
        "SELECT count(*) AS connections,"
        " count(*) FILTER (WHERE state LIKE 'idle in transaction%') AS idle_in_transaction,"
        " (SELECT deadlocks FROM pg_stat_database WHERE datname = current_database())"
        " AS deadlocks FROM pg_stat_activity WHERE usename = $1",
        RUNTIME,
    )
    return dict(row)


def _figures(clients: _Clients, stretches: Sequence[tuple[float, float]]) -> dict[str, Any]:
    refused = [a for a in clients.answers if not a.is_good]
    waiting = [a for a in refused if _IN_USE in a.body]
    before = [_p99_s(clients.begun(at - _STEADY_S, at - _APART_S)) for at, _ in stretches]
    after = [_p99_s(clients.begun(until + 1, until + 1 + _STEADY_S)) for _, until in stretches]
    normal = []
    for _, until in stretches:
        late = [a.ended_at - until for a in refused if until < a.ended_at < until + 1 + _STEADY_S]
        normal.append(round(max(late, default=0.0), 3))
    is_advised = [a.status == 503 and b"\r\nretry-after: " in a.head.lower() for a in refused]
    return {
        "requests": len(clients.answers),
        "refused": len(refused),
        "refused_for_a_connection": len(waiting),
        "longest_wait_for_a_connection_s": round(max((a.took_s for a in waiting), default=0), 3),
        "longest_request_s": round(max(a.took_s for a in clients.answers), 3),
        "normal_within_s": normal,
        "p99_before_ms": [round(1000 * s, 1) for s in before],
        "p99_after_ms": [round(1000 * s, 1) for s in after],
        # The median, because other processes may slow one interval down.
        "p99_after_over_before": round(median(map(truediv, after, before)), 2),
        "unexpected": is_advised.count(False),
        "first_unexpected": [
            f"{a.status} {a.body[:200]!r}"
            for a, is_right in zip(refused, is_advised, strict=True)
            if not is_right
        ][:3],
    }


def _p99_s(answers: list[Response]) -> float:
    taken = sorted(a.took_s for a in answers)
    return taken[int(0.99 * (len(taken) - 1))]
