"""The tables of the measurement."""

from statistics import median

from rich.table import Table

from bench.nodes.load import WORKS, Round
from bench.nodes.measuring import CITUS, COUNTS, PLAIN, Cell, Results


def rates(results: Results) -> Table:
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


def latencies(results: Results) -> Table:
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
