"""Measures the searches for tickets and for customers."""

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlencode

from bench.figures.figure import Figure
from bench.load.clients import Browser, ExpectedResponse, LoadResult, WrongResponse, send_all
from bench.load.requests import TICKET_PAGE, Workload
from bench.load.rounds import Rounds
from bench.load.signer import TICKETS
from bench.plan import Plan
from bench.servers.processes import Server

_SEARCH_NAME = "GET a search, one connection"
_TICKET_ROW = "<li data-ticket"
_CHECK_EVERY = 15  # one search in 15 must find something before the searches are measured
_CUSTOMERS_NAME = "GET customers found by two words, one connection"
_CUSTOMER_ROW = 'class="url" href="/customers/'
_CUSTOMER_SEARCHES = 300


class Slowdown(NamedTuple):
    """Ratios of latencies of other requests during searches to those without."""

    p50: float
    p99: float


def build_search_figures(
    plan: Plan,
    rounds: Rounds,
    prefix: str,
    suffix: str,
    slowdowns: list[Slowdown],
) -> list[Figure]:
    among = f"search among {plan.big_tickets:,}"
    medians = [round_.p50_ms or 0.0 for round_ in rounds.by_name.get(prefix + _SEARCH_NAME, [])]
    others_name = f"GET 25 tickets beside a {among} ÷ alone"
    p50s, p99s = [each.p50 for each in slowdowns], [each.p99 for each in slowdowns]
    return [
        Figure(f"{among}, median{suffix}", "ms", False, 150, 150, medians),
        Figure(f"{others_name}, median{suffix}", "", False, None, None, p50s),
        Figure(f"{others_name}, p99{suffix}", "", False, None, None, p99s),
    ]


def measure_search(
    workload: Workload, browser: Browser, server: Server, rounds: Rounds, prefix: str
) -> list[Slowdown]:
    """Searches, then other requests during searches. Raises WrongResponse."""
    targets = _search_targets(workload, server)
    for target in targets[::_CHECK_EVERY]:
        if _TICKET_ROW not in browser.read(target):
            raise WrongResponse(f"{target} finds nothing")
    name, gets = prefix + _SEARCH_NAME, (browser.make_gets(*targets), ExpectedResponse(200))
    rounds.run_gets(name, server, {name: gets})
    return [
        _measure_slowdown(workload, browser, server, targets) for _ in range(workload.plan.rounds)
    ]


def _measure_slowdown(
    workload: Workload, browser: Browser, server: Server, targets: list[str]
) -> Slowdown:
    alone = _send_pages(workload, server)
    with _searching(browser, targets):
        during = _send_pages(workload, server)
    p50, p99 = (during.quantile_us(share) / alone.quantile_us(share) for share in (0.5, 0.99))
    return Slowdown(p50, p99)


def _send_pages(workload: Workload, server: Server) -> LoadResult:
    return send_all(server.port, workload.first_page(workload.plan.pairs), TICKET_PAGE, 1)


@contextmanager
def _searching(browser: Browser, targets: list[str]) -> Iterator[None]:
    """Searches continuously in another thread."""
    is_over = threading.Event()

    def search() -> None:
        for target in itertools.cycle(targets):
            if is_over.is_set():
                return
            browser.read(target)

    thread = threading.Thread(target=search)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _search_targets(workload: Workload, server: Server) -> list[str]:
    """Searches for words of some new tickets and of some old ones."""
    depths = [1, workload.plan.depth]
    pages = [f"{TICKETS}?cursor={workload.sample.make_cursor_after(depth)}" for depth in depths]
    tickets = [ticket for target in pages for ticket in workload.read(server, target)["data"]]
    queries = [words for ticket in tickets for words in _pick_queries(ticket)]
    return [f"/tickets?{urlencode({'q': words})}" for words in queries]


def _pick_queries(ticket: dict[str, Any]) -> list[str]:
    """Queries of common words and of rare ones."""
    words = ticket["subject"].split()
    return [words[0], " ".join(words[:2]), " ".join(words), ticket["customer"]["email"]]


def build_customer_figures(plan: Plan, rounds: Rounds, prefix: str, suffix: str) -> list[Figure]:
    # The data has one customer for each ticket.
    name = f"customers found by the beginnings of two words among {plan.big_tickets:,}"
    found_rounds = rounds.by_name.get(prefix + _CUSTOMERS_NAME, [])
    medians, p99s = (
        [each.p50_ms or 0.0 for each in found_rounds],
        [each.p99_ms or 0.0 for each in found_rounds],
    )
    return [
        Figure(f"{name}, median{suffix}", "ms", False, 150, 150, medians),
        Figure(f"{name}, p99{suffix}", "ms", False, None, None, p99s),
    ]


def measure_customers(
    workload: Workload, browser: Browser, server: Server, rounds: Rounds, prefix: str
) -> None:
    """Searches for the beginnings of a first and a last name. Raises WrongResponse."""
    targets = _customer_targets(workload)
    for target in targets[::_CHECK_EVERY]:
        if _CUSTOMER_ROW not in browser.read(target):
            raise WrongResponse(f"{target} finds no customer")
    name, gets = prefix + _CUSTOMERS_NAME, (browser.make_gets(*targets), ExpectedResponse(200))
    rounds.run_gets(name, server, {name: gets})


def _customer_targets(workload: Workload) -> list[str]:
    emails = next(iter(workload.sample.list_customer_emails().values()))
    names = [address.split(".")[:2] for address in emails[-_CUSTOMER_SEARCHES:]]
    return [f"/customers?{urlencode({'q': f'{first[:3]} {last[:4]}'})}" for first, last in names]
