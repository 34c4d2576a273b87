"""Measures the searches for tickets and for customers."""

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlencode

from bench.clients import Browser, ExpectedResponse, LoadResult, WrongResponse, send_all
from bench.plan import Plan
from bench.requests import TICKET_PAGE, TICKETS, Workload
from bench.rounds import Figure, Rounds
from bench.servers import Server

_SEARCH_NAME = "GET a search, one connection"
_TICKET_ROW = "<li data-ticket"
_CHECK_EVERY = 15  # every so many of the searches must have found something before they are timed
_CUSTOMERS_NAME = "GET customers found by two words, one connection"
_CUSTOMER_ROW = 'class="url" href="/customers/'
_CHECK_EVERY = 15  # every so many of the searches must have found somebody before they are timed
_CUSTOMER_SEARCHES = 300


class Slowdown(NamedTuple):
    """How much longer others' requests take while somebody searches: median and slowest of 100."""

    p50: float
    p99: float


def build_search_figures(
    plan: Plan, rounds: Rounds, prefix: str, suffix: str, beside: list[Slowdown], lacking: str = ""
) -> list[Figure]:
    among = f"search among {plan.big_tickets:,}"
    medians = [round_.p50_ms or 0.0 for round_ in rounds.kept.get(prefix + _SEARCH_NAME, [])]
    others = f"GET 25 tickets beside a {among} ÷ alone"
    p50s, p99s = [each.p50 for each in beside], [each.p99 for each in beside]
    return [
        Figure(f"{among}, median{suffix}", "ms", False, 150, 150, medians, lacking),
        Figure(f"{others}, median{suffix}", "", False, None, None, p50s, lacking),
        Figure(f"{others}, p99{suffix}", "", False, None, None, p99s, lacking),
    ]


def measure_search(
    work: Workload, agent: Browser, server: Server, rounds: Rounds, prefix: str
) -> list[Slowdown]:
    """Searches, then others' requests beside them. Raises WrongResponse."""
    targets = _search_targets(work, server)
    for target in targets[::_CHECK_EVERY]:
        if _TICKET_ROW not in agent.read(target):
            raise WrongResponse(f"{target} finds nothing")
    play = rounds.load(server, agent.gets(*targets), ExpectedResponse(200), connections=1)
    rounds.take_turns(prefix + _SEARCH_NAME, {prefix + _SEARCH_NAME: play})
    return [_measure_slowdown(work, agent, server, targets) for _ in range(work.plan.rounds)]


def _measure_slowdown(
    work: Workload, agent: Browser, server: Server, targets: list[str]
) -> Slowdown:
    alone = _send_pages(work, server)
    with _searching(agent, targets):
        beside = _send_pages(work, server)
    p50, p99 = (beside.quantile_us(share) / alone.quantile_us(share) for share in (0.5, 0.99))
    return Slowdown(p50, p99)


def _send_pages(work: Workload, server: Server) -> LoadResult:
    return send_all(server.port, work.first_page(work.plan.pairs), TICKET_PAGE, 1)


@contextmanager
def _searching(agent: Browser, targets: list[str]) -> Iterator[None]:
    """Somebody searches for one thing after the other."""
    is_over = threading.Event()

    def search() -> None:
        for target in itertools.cycle(targets):
            if is_over.is_set():
                return
            agent.read(target)

    thread = threading.Thread(target=search)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _search_targets(work: Workload, server: Server) -> list[str]:
    """Searches for what stands in some of the newest tickets of the data, and in some old ones."""
    depths = [1, work.plan.depth]
    pages = [f"{TICKETS}?cursor={work.sample.cursor_after(depth)}" for depth in depths]
    tickets = [ticket for target in pages for ticket in work.read(server, target)["data"]]
    said = [words for ticket in tickets for words in _pick_queries(ticket)]
    return [f"/tickets?{urlencode({'q': words})}" for words in said]


def _pick_queries(ticket: dict[str, Any]) -> list[str]:
    """Common words and rare ones."""
    words = ticket["subject"].split()
    return [words[0], " ".join(words[:2]), " ".join(words), ticket["customer"]["email"]]


def build_customer_figures(
    plan: Plan, rounds: Rounds, prefix: str, suffix: str, lacking: str = ""
) -> list[Figure]:
    # Each ticket has brought a customer.
    name = f"customers found by the beginnings of two words among {plan.big_tickets:,}"
    kept = rounds.kept.get(prefix + _CUSTOMERS_NAME, [])
    medians, p99s = [each.p50_ms or 0.0 for each in kept], [each.p99_ms or 0.0 for each in kept]
    return [
        Figure(f"{name}, median{suffix}", "ms", False, 150, 150, medians, lacking),
        Figure(f"{name}, p99{suffix}", "ms", False, None, None, p99s, lacking),
    ]


def measure_customers(
    work: Workload, agent: Browser, server: Server, rounds: Rounds, prefix: str
) -> None:
    """Searches for a first and a last name, of each the beginning. Raises WrongResponse."""
    targets = _customer_targets(work)
    for target in targets[::_CHECK_EVERY]:
        if _CUSTOMER_ROW not in agent.read(target):
            raise WrongResponse(f"{target} finds nobody")
    play = rounds.load(server, agent.gets(*targets), ExpectedResponse(200), connections=1)
    rounds.take_turns(prefix + _CUSTOMERS_NAME, {prefix + _CUSTOMERS_NAME: play})


def _customer_targets(work: Workload) -> list[str]:
    of_big = next(iter(work.sample.addresses().values()))
    names = [address.split(".")[:2] for address in of_big[-_CUSTOMER_SEARCHES:]]
    return [f"/customers?{urlencode({'q': f'{one[:3]} {two[:4]}'})}" for one, two in names]
