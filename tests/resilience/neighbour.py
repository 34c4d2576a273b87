"""A quiet tenant's requests while another client of the same process does its worst: another
tenant, or somebody who is not logged in.
"""

import asyncio
import itertools
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median, quantiles
from typing import Any, NamedTuple

import msgspec
import uvloop

from tests.resilience.connections import Connection, Key
from tests.resilience.figures import Progress, Target, no_progress
from tests.resilience.nodes import Installation, Node, create_tenant_with_key, serving_sqlite
from tests.resilience.read_after_write import TICKETS

# Beside other tests a duration says nothing.
_ANY = float("inf")
TARGETS = (
    Target("read_p99_over_alone", "≤", 3, within=_ANY),
    Target("write_p99_over_alone", "≤", 3, within=_ANY),
    Target("refused", "=", 0),
    # Otherwise the other tenant did not do its worst.
    Target("flood_requests", "≥", 100, within=1),
)
# These are paced, so there are few.
ANONYMOUS_TARGETS = (*TARGETS[:3], Target("flood_requests", "≥", 10, within=1))
# What an installation has unless told otherwise: the flood is within it, or is refused.
_LIMIT = {"SEALDESK_TENANT_LIMIT": "30000"}
_CONNECTIONS = 6  # of each kind of request
_LARGE = 100  # tickets, which fill a page of 1 MiB
_BETWEEN_S = 0.005
_READS_PER_WRITE = 4
_UNINDEXED = f"{TICKETS}?status=open&tag=none"
_PAGE = f"{TICKETS}?per_page=100"
_NEW = {"subject": "S", "description": "D", "customer": {"email": "quiet@example.test"}}
# A log-in that fails, with a form to be kept.
_TYPED = b"email=a%40b.test&password=wrong&kept_to=%2Ftickets&kept.body=" + b"%41" * 330_000
_FORM = (
    b"POST /log-in HTTP/1.1\r\nhost: sealdesk.test\r\nsec-fetch-site: same-origin\r\n"
    b"content-type: application/x-www-form-urlencoded\r\ncontent-length: %d\r\n\r\n" % len(_TYPED)
) + _TYPED


class Flood(msgspec.Struct):
    """What the other client's process does until its input ends. key: None without a log-in."""

    port: int
    key: tuple[str, str, str] | None


class _Times(NamedTuple):
    """Seconds of each request, and how many were refused."""

    reads: list[float]
    writes: list[float]
    refused: Counter[int]


def run(
    installation: Installation | None,
    *,
    rounds: int = 7,
    for_s: float = 4.0,
    is_anonymous: bool = False,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Measure in rounds, alone and beside the flood by turns. None: on SQLite.

    is_anonymous: the flood is large forms of somebody who is not logged in.
    """
    with (
        _on_sqlite() if installation is None else _on_postgresql(installation) as (
            node,
            quiet,
            loud,
        ),
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(_fill(node, loud))
        alone, beside, floods = [], [], 0
        for number in range(rounds):
            alone.append(runner.run(_measure(node, quiet, for_s)))
            with _flooding(node, None if is_anonymous else loud) as count:
                beside.append(runner.run(_measure(node, quiet, for_s)))
            floods += count()
            progress(number + 1, rounds)
    refused = sum((times.refused for times in (*alone, *beside)), Counter[int]())
    return {
        "read_p99_over_alone": _ratio([t.reads for t in alone], [t.reads for t in beside]),
        "write_p99_over_alone": _ratio([t.writes for t in alone], [t.writes for t in beside]),
        "read_p99_alone_ms": _median_ms([t.reads for t in alone]),
        "write_p99_alone_ms": _median_ms([t.writes for t in alone]),
        "refused": refused.total(),
        "flood_requests": floods,
    }


def _ratio(alone: list[list[float]], beside: list[list[float]]) -> float:
    """The median of the rounds, because the machine may have something else to do in one."""
    pairs = zip(alone, beside, strict=True)
    return round(median(_p99(under) / _p99(before) for before, under in pairs), 2)


def _median_ms(rounds: list[list[float]]) -> float:
    return round(median(map(_p99, rounds)) * 1000, 2)


def _p99(seconds: list[float]) -> float:
    return quantiles(seconds, n=100)[98]


async def _fill(node: Node, loud: Key) -> None:
    connection = node.connection()
    for _ in range(_LARGE):
        large = {**_NEW, "description": "long " * 2_000}
        assert (await connection.send(loud.request("POST", TICKETS, large))).status == 201
    connection.close()


async def _measure(node: Node, quiet: Key, for_s: float) -> _Times:
    connection, times = node.connection(), _Times([], [], Counter())
    end_at = time.monotonic() + for_s
    for number in itertools.count():
        is_read = number % (_READS_PER_WRITE + 1) > 0
        request = quiet.request("GET", TICKETS) if is_read else quiet.request("POST", TICKETS, _NEW)
        response = await connection.send(request)
        (times.reads if is_read else times.writes).append(response.took_s)
        if not response.is_good:
            times.refused[response.status] += 1
        if time.monotonic() > end_at and len(times.writes) > 1:
            connection.close()
            return times
        await asyncio.sleep(_BETWEEN_S)
    raise AssertionError


@contextmanager
def _flooding(node: Node, loud: Key | None) -> Iterator[Callable[[], int]]:
    """The flood, in a process of its own; afterwards the function says how many it sent."""
    command = [sys.executable, "-m", "tests.resilience.neighbour"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        key = None if loud is None else (loud.id, loud.api_key, loud.api_secret)
        process.stdin.write(msgspec.json.encode(Flood(node.port, key)) + b"\n")
        process.stdin.flush()
        process.stdout.readline()  # the first responses have arrived
        try:
            yield lambda: int(sent)
        finally:
            sent = process.communicate()[0] or b"0"


async def _flood(flood: Flood) -> None:
    """Every kind of request at once, as fast as the service answers."""
    sent = itertools.count()
    kinds = [lambda: _FORM] if flood.key is None else _kinds_of(Key(*flood.key))

    async def repeat(make: Callable[[], bytes]) -> None:
        connection = Connection(flood.port)
        while True:
            await connection.send(make())
            if next(sent) == len(kinds):
                print(flush=True)  # noqa: T201 - tells the other process

    tasks = [asyncio.create_task(repeat(kind)) for kind in kinds * _CONNECTIONS]
    await asyncio.to_thread(sys.stdin.buffer.read)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    print(next(sent))  # noqa: T201 - tells the other process


def _kinds_of(key: Key) -> list[Callable[[], bytes]]:
    return [
        lambda: key.request("GET", _PAGE),
        lambda: key.request("GET", _UNINDEXED),
        lambda: key.request("POST", TICKETS, _NEW),
        lambda: key.request("POST", TICKETS, {**_NEW, "description": "x" * 900_000}),
    ]


@contextmanager
def _on_sqlite() -> Iterator[tuple[Node, Key, Key]]:
    with serving_sqlite(**_LIMIT) as (node, keys):
        yield node, *keys


@contextmanager
def _on_postgresql(installation: Installation) -> Iterator[tuple[Node, Key, Key]]:
    env = {**installation.env, **_LIMIT}
    loud = asyncio.run(create_tenant_with_key(env, f"loud{time.monotonic_ns()}@example.test"))
    with installation.nodes(1, **_LIMIT) as (node,):
        yield node, installation.key, loud


if __name__ == "__main__":
    uvloop.run(_flood(msgspec.json.decode(sys.stdin.buffer.readline(), type=Flood)))
