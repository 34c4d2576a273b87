"""Measures on SQLite: figures with bounds, and the rates of other requests."""

from random import Random

from bench.databases.sqlite_data import Data
from bench.load.requests import CREATED, ONE_TICKET, TICKET_PAGE, TICKETS, Workload
from bench.load.rounds import BARE_SUFFIX, CONNECTIONS, Figure, Results, Rounds, ShowProgress
from bench.plan import Plan
from bench.servers import processes
from bench.servers.processes import Cores, Server

_FILTERS = ("status=open", "status=open,pending", "priority=high", "tag=refund")


def measure(plan: Plan, data: Data, show_progress: ShowProgress) -> Results:
    """Measure everything. Raises WrongResponse."""
    with Cores() as cores:
        return _measure(plan, data, cores, show_progress)


def _measure(plan: Plan, data: Data, cores: Cores, show_progress: ShowProgress) -> Results:
    show_progress("start and stop")
    starts = [_start_once(data, cores) for _ in range(plan.starts)]
    workload = Workload(plan, data)
    memory = workload.sample.write_memory()
    with (
        processes.bare_handler(memory, cores) as bare,
        processes.sealdesk(data.settings, cores) as sealdesk,
    ):
        workload.check_cursors(sealdesk)
        rounds = Rounds(plan, show_progress)
        figures = [
            *_measure_gets(workload, bare, sealdesk, rounds),
            *_compare_pages(workload, sealdesk, rounds),
            *_measure_posts(workload, bare, sealdesk, rounds),
        ]
        _measure_without_bounds(workload, sealdesk, rounds)
    ready, rss = zip(*starts, strict=True)
    figures.append(Figure("ready to answer after start", "s", False, 1.0, 0.5, list(ready)))
    figures.append(Figure("memory at start", "MiB", False, 80, 60, list(rss)))
    return Results(figures, rounds.by_name)


def _start_once(data: Data, cores: Cores) -> tuple[float, float]:
    with processes.sealdesk(data.settings, cores) as server:
        return server.ready_s, server.rss_mib()


def _measure_gets(
    workload: Workload, bare: Server, sealdesk: Server, rounds: Rounds
) -> list[Figure]:
    """The newest 25 tickets of the big tenant."""
    name = "GET 25 tickets"
    runs = {
        name + BARE_SUFFIX: rounds.prepare(bare, workload.first_page, TICKET_PAGE),
        name: rounds.prepare(sealdesk, workload.first_page, TICKET_PAGE),
    }
    rounds.run_alternately(name, runs)
    ratios = rounds.compute_ratios(name, name + BARE_SUFFIX)
    tails = [round_.tail for round_ in rounds.by_name[name]]
    return [
        Figure("signed GET of 25 tickets ÷ bare handler", "", True, 0.30, 0.50, ratios),
        Figure(f"p99 ÷ p50 at {CONNECTIONS} connections, GET", "", False, 3, 2, tails),
    ]


def _compare_pages(workload: Workload, sealdesk: Server, rounds: Rounds) -> list[Figure]:
    """Compare the first page of the big tenant with its deep page and with the small tenant."""
    plan = workload.plan
    by_depth = f"page at depth {plan.depth:,} ÷ first page"
    by_size = f"first page among {plan.big_tickets:,} ÷ among {plan.small_tickets:,}"
    first, small = workload.first_page, workload.small.make_gets(TICKETS)
    depths = rounds.compare_latencies(by_depth, sealdesk, (workload.deep_page, first), TICKET_PAGE)
    sizes = rounds.compare_latencies(by_size, sealdesk, (first, small), TICKET_PAGE)
    return [
        Figure(by_depth, "", False, 1.2, 1.0, depths),
        Figure(by_size, "", False, 1.2, 1.0, sizes),
    ]


def _measure_posts(
    workload: Workload, bare: Server, sealdesk: Server, rounds: Rounds
) -> list[Figure]:
    """New tickets in all tenants, and in the big tenant alone."""
    name, new = "POST a ticket", workload.make_ticket_bodies()
    everywhere = workload.make_posts_in_all_tenants(new)
    runs = {
        name + BARE_SUFFIX: rounds.prepare(bare, everywhere, CREATED),
        name: rounds.prepare(sealdesk, everywhere, CREATED),
    }
    rounds.run_alternately(name, runs)
    rounds.run_once(
        f"{name}, all in one tenant", sealdesk, workload.make_posts_in_one_tenant(new), CREATED
    )
    ratios = rounds.compute_ratios(name, name + BARE_SUFFIX)
    figure = "signed POST of a ticket, durable at FULL ÷ bare handler"
    return [Figure(figure, "", True, 0.25, 0.40, ratios)]


def _measure_without_bounds(workload: Workload, sealdesk: Server, rounds: Rounds) -> None:
    """Requests for which the figures have no bounds."""
    big = workload.big
    deep = big.make_gets(*workload.sample.list_page_targets())
    rounds.run_once("GET 25 tickets, any depth", sealdesk, deep, TICKET_PAGE)
    for query in _FILTERS:
        filtered = big.make_gets(f"{TICKETS}?{query}")
        rounds.run_once(f"GET 25 tickets, {query}", sealdesk, filtered, TICKET_PAGE)
    tickets = workload.sample.list_ticket_targets()
    rounds.run_once("GET a ticket", sealdesk, big.make_gets(*tickets), ONE_TICKET)
    rounds.run_once("PATCH a ticket", sealdesk, big.make_patches(tickets, Random(3)), ONE_TICKET)
