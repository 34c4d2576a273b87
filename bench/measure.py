"""What is measured on SQLite: figures with bounds, and for the record what else a client does."""

from random import Random

from bench import servers
from bench.data import Data
from bench.plan import Plan
from bench.results import BARE, Figure, Results
from bench.rounds import CONNECTIONS, Rounds, Say
from bench.servers import Cores, Server
from bench.signed import TICKETS
from bench.work import CREATED, ONE, PAGE, Work

_FILTERS = ("status=open", "status=open,pending", "priority=high", "tag=refund")


def measure(plan: Plan, data: Data, say: Say) -> Results:
    """Run everything. Raises WrongAnswer when any answer is not what it must be."""
    with Cores() as cores:
        return _measured(plan, data, cores, say)


def _measured(plan: Plan, data: Data, cores: Cores, say: Say) -> Results:
    say("start and stop")
    starts = [_start(data, cores) for _ in range(plan.starts)]
    work = Work(plan, data)
    memory = work.sample.write_memory()
    with servers.bare(memory, cores) as bare, servers.sealdesk(data.settings, cores) as real:
        work.check_cursors(real)
        rounds = Rounds(plan, say)
        figures = [
            *_gets(work, bare, real, rounds),
            *_pages(work, real, rounds),
            *_posts(work, bare, real, rounds),
        ]
        _drive_others(work, real, rounds)
    ready, rss = zip(*starts, strict=True)
    figures.append(Figure("ready to answer after start", "s", False, 1.0, 0.5, list(ready)))
    figures.append(Figure("memory at start", "MiB", False, 80, 60, list(rss)))
    return Results(figures, rounds.kept)


def _start(data: Data, cores: Cores) -> tuple[float, float]:
    with servers.sealdesk(data.settings, cores) as server:
        return server.ready_s, server.rss_mib()


def _gets(work: Work, bare: Server, real: Server, rounds: Rounds) -> list[Figure]:
    """The newest 25 tickets of the big tenant."""
    name = "GET 25 tickets"
    players = {
        name + BARE: rounds.load(bare, work.first_page, PAGE),
        name: rounds.load(real, work.first_page, PAGE),
    }
    rounds.take_turns(name, players)
    ratios = rounds.ratios(name, name + BARE)
    tails = [kept.tail for kept in rounds.kept[name]]
    return [
        Figure("signed GET of 25 tickets ÷ bare handler", "", True, 0.30, 0.50, ratios),
        Figure(f"p99 ÷ p50 at {CONNECTIONS} connections, GET", "", False, 3, 2, tails),
    ]


def _pages(work: Work, real: Server, rounds: Rounds) -> list[Figure]:
    """The deep page, and the first page of the small tenant, beside the big tenant's first."""
    plan = work.plan
    by_depth = f"page at depth {plan.depth:,} ÷ first page"
    by_size = f"first page among {plan.big_tickets:,} ÷ among {plan.small_tickets:,}"
    first, small = work.first_page, work.small.gets(TICKETS)
    depths = rounds.in_turns(by_depth, real, (work.deep_page, first), PAGE)
    sizes = rounds.in_turns(by_size, real, (first, small), PAGE)
    return [
        Figure(by_depth, "", False, 1.2, 1.0, depths),
        Figure(by_size, "", False, 1.2, 1.0, sizes),
    ]


def _posts(work: Work, bare: Server, real: Server, rounds: Rounds) -> list[Figure]:
    """New tickets in all tenants alike; beside them, in the big tenant alone."""
    name, new = "POST a ticket", work.new_tickets()
    everywhere = work.in_all_tenants(new)
    players = {
        name + BARE: rounds.load(bare, everywhere, CREATED),
        name: rounds.load(real, everywhere, CREATED),
    }
    rounds.take_turns(name, players)
    rounds.drive(f"{name}, all in one tenant", real, work.in_one_tenant(new), CREATED)
    ratios = rounds.ratios(name, name + BARE)
    figure = "signed POST of a ticket, durable at FULL ÷ bare handler"
    return [Figure(figure, "", True, 0.25, 0.40, ratios)]


def _drive_others(work: Work, real: Server, rounds: Rounds) -> None:
    """What has no bounds."""
    big = work.big
    rounds.drive("GET 25 tickets, any depth", real, big.gets(*work.sample.pages()), PAGE)
    for query in _FILTERS:
        rounds.drive(f"GET 25 tickets, {query}", real, big.gets(f"{TICKETS}?{query}"), PAGE)
    tickets = work.sample.tickets()
    rounds.drive("GET a ticket", real, big.gets(*tickets), ONE)
    rounds.drive("PATCH a ticket", real, big.patches(tickets, Random(3)), ONE)
