"""What is measured on SQLite: figures with bounds, and for the record what else a client does."""

from random import Random

from bench import servers
from bench.data import Data
from bench.plan import Plan
from bench.requests import CREATED, ONE_TICKET, TICKET_PAGE, TICKETS, Workload
from bench.rounds import BARE_SUFFIX, CONNECTIONS, Figure, Results, Rounds, ShowProgress
from bench.servers import Cores, Server

_FILTERS = ("status=open", "status=open,pending", "priority=high", "tag=refund")


def measure(plan: Plan, data: Data, say: ShowProgress) -> Results:
    """Run everything. Raises WrongResponse when any answer is not what it must be."""
    with Cores() as cores:
        return _measure(plan, data, cores, say)


def _measure(plan: Plan, data: Data, cores: Cores, say: ShowProgress) -> Results:
    say("start and stop")
    starts = [_start_once(data, cores) for _ in range(plan.starts)]
    work = Workload(plan, data)
    memory = work.sample.write_memory()
    with (
        servers.bare_handler(memory, cores) as bare,
        servers.sealdesk(data.settings, cores) as real,
    ):
        work.check_cursors(real)
        rounds = Rounds(plan, say)
        figures = [
            *_measure_gets(work, bare, real, rounds),
            *_compare_pages(work, real, rounds),
            *_measure_posts(work, bare, real, rounds),
        ]
        _measure_without_bounds(work, real, rounds)
    ready, rss = zip(*starts, strict=True)
    figures.append(Figure("ready to answer after start", "s", False, 1.0, 0.5, list(ready)))
    figures.append(Figure("memory at start", "MiB", False, 80, 60, list(rss)))
    return Results(figures, rounds.kept)


def _start_once(data: Data, cores: Cores) -> tuple[float, float]:
    with servers.sealdesk(data.settings, cores) as server:
        return server.ready_s, server.rss_mib()


def _measure_gets(work: Workload, bare: Server, real: Server, rounds: Rounds) -> list[Figure]:
    """The newest 25 tickets of the big tenant."""
    name = "GET 25 tickets"
    players = {
        name + BARE_SUFFIX: rounds.load(bare, work.first_page, TICKET_PAGE),
        name: rounds.load(real, work.first_page, TICKET_PAGE),
    }
    rounds.take_turns(name, players)
    ratios = rounds.ratios(name, name + BARE_SUFFIX)
    tails = [kept.tail for kept in rounds.kept[name]]
    return [
        Figure("signed GET of 25 tickets ÷ bare handler", "", True, 0.30, 0.50, ratios),
        Figure(f"p99 ÷ p50 at {CONNECTIONS} connections, GET", "", False, 3, 2, tails),
    ]


def _compare_pages(work: Workload, real: Server, rounds: Rounds) -> list[Figure]:
    """The deep page, and the first page of the small tenant, beside the big tenant's first."""
    plan = work.plan
    by_depth = f"page at depth {plan.depth:,} ÷ first page"
    by_size = f"first page among {plan.big_tickets:,} ÷ among {plan.small_tickets:,}"
    first, small = work.first_page, work.small.gets(TICKETS)
    depths = rounds.in_turns(by_depth, real, (work.deep_page, first), TICKET_PAGE)
    sizes = rounds.in_turns(by_size, real, (first, small), TICKET_PAGE)
    return [
        Figure(by_depth, "", False, 1.2, 1.0, depths),
        Figure(by_size, "", False, 1.2, 1.0, sizes),
    ]


def _measure_posts(work: Workload, bare: Server, real: Server, rounds: Rounds) -> list[Figure]:
    """New tickets in all tenants alike; beside them, in the big tenant alone."""
    name, new = "POST a ticket", work.new_tickets()
    everywhere = work.in_all_tenants(new)
    players = {
        name + BARE_SUFFIX: rounds.load(bare, everywhere, CREATED),
        name: rounds.load(real, everywhere, CREATED),
    }
    rounds.take_turns(name, players)
    rounds.run_once(f"{name}, all in one tenant", real, work.in_one_tenant(new), CREATED)
    ratios = rounds.ratios(name, name + BARE_SUFFIX)
    figure = "signed POST of a ticket, durable at FULL ÷ bare handler"
    return [Figure(figure, "", True, 0.25, 0.40, ratios)]


def _measure_without_bounds(work: Workload, real: Server, rounds: Rounds) -> None:
    """Requests for which the figures have no bounds."""
    big = work.big
    deep = big.gets(*work.sample.pages())
    rounds.run_once("GET 25 tickets, any depth", real, deep, TICKET_PAGE)
    for query in _FILTERS:
        filtered = big.gets(f"{TICKETS}?{query}")
        rounds.run_once(f"GET 25 tickets, {query}", real, filtered, TICKET_PAGE)
    tickets = work.sample.tickets()
    rounds.run_once("GET a ticket", real, big.gets(*tickets), ONE_TICKET)
    rounds.run_once("PATCH a ticket", real, big.patches(tickets, Random(3)), ONE_TICKET)
