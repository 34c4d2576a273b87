"""`python -m bench.nodes`: measures what 1, 2 and 3 nodes of SEALDESK_TEST_CITUS serve.

All servers run on this machine, and each gets the same share of a core.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from rich.console import Console
from rich.table import Table
from tests.servers import Postgres, server_directory
from tests.support.citus import distributed_database

from bench.nodes.load import WORKS, Round
from bench.nodes.measuring import CITUS, COUNTS, PLAIN, Cell, Plan, Results, TooFewNodes, measure
from bench.servers.quota import QuotaUnavailable
from sealdesk.db.migrations import schema_version

_SHARDS = 6  # as many on each of 1, 2 and 3 nodes


def main() -> None:
    arguments, console = _parser().parse_args(), Console(width=140)
    if not (superuser_url := os.environ.get("SEALDESK_TEST_CITUS")):
        sys.exit("SEALDESK_TEST_CITUS is missing: a superuser's URL of a coordinator of Citus")
    counts = (3, 2, 1) if arguments.once else (3, 2, 1, 1, 2, 3)
    plan = Plan(arguments.quota, arguments.tenants, arguments.rounds, arguments.seconds, counts)
    with _plain() as plain, distributed_database(_SHARDS) as env:
        try:
            results = asyncio.run(measure(plan, env, (superuser_url, plain), console.log))
        except (QuotaUnavailable, TooFewNodes) as error:
            sys.exit(str(error))
    console.print(_rates(results))
    console.print(_latencies(results))


@contextmanager
def _plain() -> Iterator[tuple[str, str]]:
    """A plain PostgreSQL server: the URLs of a superuser, and of the role that serves."""
    with server_directory() as directory:
        server = Postgres.start(directory / "plain", settings={"wal_level": "logical"})
        runtime_url, worker_url = (server.url(name, name, "desk") for name in ("serve", "work"))
        schema_version.migrate_postgres(
            server.create_database("desk"), runtime_url=runtime_url, worker_url=worker_url
        )
        yield server.superuser_url(), runtime_url


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bench.nodes", description=__doc__)
    parser.add_argument("--quota", type=float, default=0.12, help="of a core, for each server")
    parser.add_argument("--tenants", type=int, default=6, help="in each of the 6 shards")
    parser.add_argument("--rounds", type=int, default=2, help="for each number of nodes")
    parser.add_argument("--seconds", type=float, default=2.0, help="of a round")
    parser.add_argument("--once", action="store_true", help="do not measure again from 1 to 3")
    return parser


def _rates(results: Results) -> Table:
    """Requests a second with quotas, their ratio to one node, and the CPU of each request."""
    table = Table(title="requests/s: median (smallest … largest), ÷ 1 node; CPU of a request")
    headings = ("database", "request", "nodes", "requests/s", "÷ 1 node", "ms coordinator",
                "ms nodes", "ms plain")  # fmt: skip
    for heading in headings:
        table.add_column(heading, justify="left" if heading in headings[:2] else "right")
    for way in (PLAIN, CITUS):
        for name in WORKS:
            for count in COUNTS:
                if (cell := Cell(way, name, count)) in results.rounds:
                    table.add_row(way, name, str(count), *_rate(results, cell))
    return table


def _rate(results: Results, cell: Cell) -> list[str]:
    rounds = results.rounds[cell]
    found = sorted(each.requests_per_s for each in rounds)
    ratio = median(found) / _median(results.rounds[cell._replace(node_count=1)])
    plain, coordinator, *nodes = (
        median(each) for each in zip(*[each.cpu_ms for each in rounds], strict=True)
    )
    return [
        f"{median(found):.0f} ({found[0]:.0f} … {found[-1]:.0f})",
        f"{ratio:.2f}",
        *(f"{each:.2f}" for each in (coordinator, sum(nodes), plain)),
    ]


def _median(rounds: list[Round]) -> float:
    return median(each.requests_per_s for each in rounds)


def _latencies(results: Results) -> Table:
    """Milliseconds of one request at a time, on servers that are otherwise idle."""
    table = Table(title="ms of one request at a time: median, and slowest of 20")
    for heading in ("request", PLAIN, CITUS):
        table.add_column(heading, justify="left" if heading == "request" else "right")
    for name in WORKS:
        plain = median(results.latencies[PLAIN, name])
        found = [results.latencies[way, name] for way in (PLAIN, CITUS)]
        table.add_row(name, *(_latency(each, plain) for each in found))
    return table


def _latency(found: list[float], plain: float) -> str:
    slow = sorted(found)[len(found) * 19 // 20]
    return f"{median(found):.2f}, {slow:.2f} ({median(found) / plain:.1f} times)"


if __name__ == "__main__":
    main()
