"""`python -m bench.nodes`: measures what 1, 2 and 3 nodes of SEALDESK_TEST_CITUS serve.

All servers run on this machine, and each gets the same share of a core.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from tests.servers import Postgres, server_directory
from tests.support.citus import distributed_database

from bench.nodes import report
from bench.nodes.measuring import Plan, TooFewNodes, measure
from bench.servers.quota import QuotaUnavailable
from sealdesk.db import schema_version

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
    console.print(report.rates(results))
    console.print(report.latencies(results))


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


if __name__ == "__main__":
    main()
