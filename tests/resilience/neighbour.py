"""A quiet tenant's requests while another client of the same process does its worst: another
tenant, or somebody who is not logged in.

Each load runs in a process of its own, by turns against a second server beside and against the
quiet tenant's, so that only what the server shares makes a difference.
"""

import asyncio
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from statistics import median, quantiles
from typing import Any, NamedTuple

import msgspec
import uvloop
from rich.console import Console
from rich.table import Table

from tests.resilience.connections import Key
from tests.resilience.figures import Progress, Target, no_progress
from tests.resilience.neighbour_loads import LOADS, Desk, Flood, prepare
from tests.resilience.nodes import (
    Installation,
    Node,
    create_tenant_with_key,
    new_installation,
    serving_sqlite,
)
from tests.resilience.read_after_write import TICKETS
from tests.support.receiver import LOOPBACK, receiving
from tests.support.service import PASSWORD

# Beside other tests a duration says nothing.
_ANY = float("inf")
TARGETS = (
    Target("worst_p50_over_alone", "≤", 2, within=_ANY),
    Target("worst_p99_over_alone", "≤", 2, within=_ANY),
    Target("refused", "=", 0),
    Target("loads", "≥", 16, within=1),
    # Otherwise somebody did not do their worst.
    Target("least_flood_requests", "≥", 1),
)
CONNECTIONS = (1, 2, 6, 16)
# Limits of work would make the load smaller.
_ENV = {"SEALDESK_TENANT_LIMIT": "100000000", **LOOPBACK}
_BETWEEN_S = 0.005
_LOUD = "other@example.test"


class Server(NamedTuple):
    """A server with a quiet tenant, and the desk whose load it is under."""

    node: Node
    quiet: Key
    desk: Desk


class Figures(NamedTuple):
    """Of one load and number of connections, in seconds, by rounds."""

    load: str
    connections: int
    alone: list[list[float]]
    beside: list[list[float]]
    refused: int
    flood_requests: int

    def ratio(self, of: Callable[[list[float]], float]) -> float:
        """The median of the rounds, because the machine may have something else to do in one."""
        pairs = zip(self.alone, self.beside, strict=True)
        return round(median(of(under) / of(before) for before, under in pairs), 2)


def run(
    installation: Installation | None,
    *,
    rounds: int = 2,
    for_s: float = 1.0,
    loads: Iterable[str] = tuple(LOADS),
    connections: Iterable[int] = CONNECTIONS,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Measure each load with each number of connections, and print the table. None: on SQLite."""
    plan = [(load, count) for load in loads for count in connections]
    found = list[Figures]()
    with _servers(installation) as servers:
        for number, (load, count) in enumerate(plan):
            found.append(_measure_load(servers, load, count, rounds, for_s))
            progress(number + 1, len(plan))
    _show(found)
    return {
        "worst_p50_over_alone": max(each.ratio(_p50) for each in found),
        "worst_p99_over_alone": max(each.ratio(_p99) for each in found),
        "median_p50_over_alone": median(each.ratio(_p50) for each in found),
        "median_p99_over_alone": median(each.ratio(_p99) for each in found),
        "refused": sum(each.refused for each in found),
        "loads": len({each.load for each in found}),
        "least_flood_requests": min(each.flood_requests for each in found),
    }


def _measure_load(
    servers: tuple[Server, Server], load: str, connections: int, rounds: int, for_s: float
) -> Figures:
    measured, other = servers
    alone, beside = list[list[float]](), list[list[float]]()
    refused, floods = Counter[int](), 0
    for _ in range(rounds):
        for loaded, times in ((other, alone), (measured, beside)):
            with _flooding(Flood(loaded.desk, load, connections)) as count:
                times.append(uvloop.run(_measure(measured, for_s, refused)))
            floods += count() if loaded is measured else 0
    return Figures(load, connections, alone, beside, refused.total(), floods)


async def _measure(server: Server, for_s: float, refused: Counter[int]) -> list[float]:
    connection, times = server.node.connection(), list[float]()
    end_at = time.monotonic() + for_s
    while time.monotonic() < end_at or len(times) < 2:
        # Another query each time: a page that was asked for before comes from memory.
        minutes, seconds = divmod(len(times) % 3600, 60)
        since = f"2020-01-01T00:{minutes:02}:{seconds:02}Z"
        read = server.quiet.request("GET", f"{TICKETS}?sort_by=updated_at&updated_after={since}")
        response = await connection.send(read)
        times.append(response.took_s)
        if not response.is_good:
            refused[response.status] += 1
        await asyncio.sleep(_BETWEEN_S)
    connection.close()
    return times


def _p50(seconds: list[float]) -> float:
    return median(seconds)


def _p99(seconds: list[float]) -> float:
    return quantiles(seconds, n=100)[98]


@contextmanager
def _flooding(flood: Flood) -> Iterator[Callable[[], int]]:
    """The flood, in a process of its own; afterwards the function says how many it sent."""
    command = [sys.executable, "-m", "tests.resilience.neighbour_loads"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(msgspec.json.encode(flood) + b"\n")
        process.stdin.flush()
        process.stdout.readline()  # the first response has arrived
        try:
            yield lambda: int(sent)
        finally:
            sent = process.communicate()[0] or b"0"


@contextmanager
def _servers(installation: Installation | None) -> Iterator[tuple[Server, Server]]:
    with ExitStack() as stack:
        receiver = stack.enter_context(receiving())
        receiver.holds(1_000_000)
        if installation is None:
            pairs = [_on_sqlite(stack) for _ in range(2)]
        else:
            others = stack.enter_context(new_installation())
            pairs = [_on_postgresql(stack, each) for each in (installation, others)]
        servers = [_prepared(*pair, receiver.url) for pair in pairs]
        yield servers[0], servers[1]


def _on_sqlite(stack: ExitStack) -> tuple[Node, Key, Key]:
    node, (quiet, loud) = stack.enter_context(serving_sqlite(**_ENV))
    return node, quiet, loud


def _on_postgresql(stack: ExitStack, installation: Installation) -> tuple[Node, Key, Key]:
    loud = asyncio.run(create_tenant_with_key({**installation.env, **_ENV}, _LOUD))
    (node,) = stack.enter_context(installation.nodes(1, **_ENV))
    return node, installation.key, loud


def _prepared(node: Node, quiet: Key, loud: Key, receiver: str) -> Server:
    async def fill() -> Desk:
        connection = node.connection()
        new = {"subject": "S", "description": "D", "customer": {"email": "quiet@example.test"}}
        for _ in range(25):
            assert (await connection.send(quiet.request("POST", TICKETS, new))).is_good
        connection.close()
        desk = Desk(node.port, _LOUD, PASSWORD, (loud.id, loud.api_key, loud.api_secret), receiver)
        return await prepare(desk)

    return Server(node, quiet, uvloop.run(fill()))


def _show(found: list[Figures]) -> None:
    table = Table("load", "", "alone: p50, p99 ms", "beside", "over alone", "sent")
    for each in found:
        alone, beside = (_ms(times) for times in (each.alone, each.beside))
        ratios = f"{each.ratio(_p50)}, {each.ratio(_p99)}"
        sent = str(each.flood_requests)
        table.add_row(each.load, str(each.connections), alone, beside, ratios, sent)
    Console(width=110).print(table)


def _ms(rounds: list[list[float]]) -> str:
    p50, p99 = (median(map(of, rounds)) * 1000 for of in (_p50, _p99))
    return f"{p50:.1f}, {p99:.1f}"
