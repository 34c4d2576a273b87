"""`python -m bench.simulation`: computes how evenly tenants fill nodes, and what they serve."""

import argparse
from collections.abc import Iterator

from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.simulation import rules

_NODES = (2, 3, 4, 8, 16, 32)
_MEAN_TICKETS = 10_000_000
_SEED = 20_260_101
# docs/figures.md of 2026-11-21, CPU of PostgreSQL: GET 25 tickets, and POST a ticket.
_READ_US, _WRITE_US, _READ_SHARE = 390, 815, 0.8
# A trial with Citus 13.2 on PostgreSQL 15: 3.5 to 14 times the CPU for each statement.
_LOW_FACTOR, _HIGH_FACTOR = 3.5, 14.0
_BAR = 20


def main() -> None:
    arguments = _parser().parse_args()
    console = Console()
    sizes = rules.zipf_sizes(arguments.tenants, _MEAN_TICKETS, arguments.exponent)
    layouts = {
        "32 shards": rules.fill_shards(sizes, 32, _SEED),
        "32, and 20 tenants isolated": rules.isolate_largest(sizes, 32, _SEED, 20),
        "256 shards": rules.fill_shards(sizes, 256, _SEED),
        "256, and 20 tenants isolated": rules.isolate_largest(sizes, 256, _SEED, 20),
    }
    share = sizes[0] / sum(sizes)
    console.print(
        f"{len(sizes):,} tenants, exponent {arguments.exponent}: the largest has {share:.1%} of all"
        f" tickets, so no more than {1 / share:.1f} nodes' worth can be used."
    )
    tables = [
        _describe(name, shards, arguments)
        for name, shards in track(layouts.items(), "placing", console=console)
    ]
    for table in tables:
        console.print(table)


def _describe(name: str, shards: list[float], arguments: argparse.Namespace) -> Table:
    table = Table(title=name)
    for heading in ("nodes", "largest ÷ mean", "of linear", "", "moves", "TB moved", "TB largest",
                    "requests/s", "connections"):  # fmt: skip
        table.add_column(heading, justify="left" if heading == "" else "right")
    for row in _rows(shards, arguments):
        table.add_row(*row)
    return table


def _rows(shards: list[float], arguments: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    placed = rules.place(shards, 1)
    terabytes = arguments.bytes_per_ticket / 1e12
    for nodes in _NODES:
        moves = rules.rebalance(shards, placed, nodes)
        placed = moves.nodes
        filled = rules.fill_nodes(shards, placed, nodes)
        uneven = rules.imbalance(filled)
        slow, fast = (
            rules.requests_per_s(
                filled,
                arguments.cores,
                rules.request_cpu_us(_READ_US, _WRITE_US, _READ_SHARE, factor),
            )
            for factor in (_HIGH_FACTOR, _LOW_FACTOR)
        )
        peers = rules.connections(nodes, arguments.processes, arguments.pool)
        yield (
            f"{nodes}", f"{uneven:.2f}", f"{1 / uneven:.0%}", "█" * round(_BAR / uneven),
            f"{moves.shard_count}", f"{moves.tickets * terabytes:.1f}",
            f"{max(filled) * terabytes:.1f}", f"{slow:,.0f} … {fast:,.0f}",
            f"{peers.from_processes} + {peers.from_nodes}",
        )  # fmt: skip


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bench.simulation", description=__doc__)
    parser.add_argument("--tenants", type=int, default=1_000)
    parser.add_argument("--exponent", type=float, default=1.0, help="of Zipf's law; 0: all equal")
    parser.add_argument("--cores", type=int, default=8, help="of each node, for PostgreSQL alone")
    parser.add_argument("--processes", type=int, default=4, help="that serve, on each node")
    parser.add_argument("--pool", type=int, default=10, help="connections of each process")
    parser.add_argument("--bytes-per-ticket", type=float, default=2_000, help="assumed: 2,000")
    return parser


if __name__ == "__main__":
    main()
