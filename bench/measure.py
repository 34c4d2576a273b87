"""What is measured: the issue's figures, and for the record what else a client does."""

from random import Random
from typing import Any

import msgspec

from bench import servers
from bench.data import Data
from bench.load import Expected, WrongAnswer, drive
from bench.plan import Plan
from bench.results import Figure, Results
from bench.rounds import CONNECTIONS, Rounds, Say
from bench.sample import Sample
from bench.servers import Cores, Server
from bench.signed import TICKETS, NewTickets, Signer

_PAGE = Expected(200, b'"reply_count":', 25)
_ONE = Expected(200, b'"reply_count":', 1)
_CREATED = Expected(201)
_WALKED_PAGES = 4
_FILTERS = ("status=open", "status=open,pending", "priority=high", "tag=refund")


def measure(plan: Plan, data: Data, say: Say) -> Results:
    """Run everything. Raises WrongAnswer when any answer is not what it must be."""
    with Cores() as cores:
        return _measured(plan, data, cores, say)


def _measured(plan: Plan, data: Data, cores: Cores, say: Say) -> Results:
    say("start and stop")
    starts = [_start(data, cores) for _ in range(plan.starts)]
    sample = Sample(plan, data, Random(1))
    memory = sample.write_memory()
    with servers.bare(memory, cores) as bare, servers.sealdesk(data.settings, cores) as real:
        _check_cursors(plan, data, sample, real)
        rounds = Rounds(plan, bare, real, say)
        figures = [
            *_gets(data, rounds),
            *_pages(plan, data, sample, rounds),
            *_posts(plan, data, sample, rounds),
        ]
        _drive_others(data, sample, rounds)
    ready, rss = zip(*starts, strict=True)
    figures.append(Figure("ready to answer after start", "s", False, 1.0, 0.5, list(ready)))
    figures.append(Figure("memory at start", "MiB", False, 80, 60, list(rss)))
    return Results(figures, rounds.kept)


def _start(data: Data, cores: Cores) -> tuple[float, float]:
    with servers.sealdesk(data.settings, cores) as server:
        return server.ready_s, server.rss_mib()


def _check_cursors(plan: Plan, data: Data, sample: Sample, real: Server) -> None:
    """The cursors made here must be the server's: walk a little, then look at the deep page."""
    signer = Signer(data.keys_of(data.big))
    target = TICKETS
    for page in range(1, _WALKED_PAGES + 1):
        walked = _read(signer, target, real)["meta"]["next_cursor"]
        if walked != sample.cursor_after(25 * page):
            raise WrongAnswer(f"the cursor after page {page} is not the one made here")
        target = f"{TICKETS}?cursor={walked}"
    deep = _read(signer, f"{TICKETS}?cursor={sample.cursor_after(plan.depth)}", real)
    if deep["data"][0]["number"] != plan.big_tickets - plan.depth:
        raise WrongAnswer("the deep page is not as deep as it should be")


def _read(signer: Signer, target: str, server: Server) -> Any:
    (request,) = signer.gets(target)(1)
    return msgspec.json.decode(drive(server.port, [request], _PAGE, 1).body)


def _gets(data: Data, rounds: Rounds) -> list[Figure]:
    """The newest 25 tickets of the big tenant."""
    name = "GET 25 tickets"
    ratios = rounds.compare(name, Signer(data.keys_of(data.big)).gets(TICKETS), _PAGE)
    tails = [round_.p99_ms / round_.p50_ms for round_ in rounds.kept[name]]
    return [
        Figure("signed GET of 25 tickets ÷ bare handler", "", True, 0.30, 0.50, ratios),
        Figure(f"p99 ÷ p50 at {CONNECTIONS} connections, GET", "", False, 3, 2, tails),
    ]


def _pages(plan: Plan, data: Data, sample: Sample, rounds: Rounds) -> list[Figure]:
    """The deep page, and the first page of the small tenant, beside the big tenant's first."""
    big, small = Signer(data.keys_of(data.big)), Signer(data.keys_of(data.small))
    deep = f"{TICKETS}?cursor={sample.cursor_after(plan.depth)}"
    by_depth = f"page at depth {plan.depth:,} ÷ first page"
    by_size = f"first page among {plan.big_tickets:,} ÷ among {plan.small_tickets:,}"
    first = big.gets(TICKETS)
    depths = rounds.in_turns(by_depth, big.gets(deep), first, _PAGE)
    sizes = rounds.in_turns(by_size, first, small.gets(TICKETS), _PAGE)
    return [
        Figure(by_depth, "", False, 1.2, 1.0, depths),
        Figure(by_size, "", False, 1.2, 1.0, sizes),
    ]


def _posts(plan: Plan, data: Data, sample: Sample, rounds: Rounds) -> list[Figure]:
    """New tickets in all tenants alike; beside them, in the big tenant alone."""
    new = NewTickets(Random(2), sample.addresses())
    by_tenant = [data.keys_of(tenant)[: plan.keys_each] for tenant in data.stamp.tenant_ids]
    everywhere = Signer([key for turn in zip(*by_tenant, strict=True) for key in turn])
    ratios = rounds.compare("POST a ticket", everywhere.posts(new), _CREATED)
    one = Signer(data.keys_of(data.big))
    rounds.drive("POST a ticket, all in one tenant", one.posts(new), _CREATED)
    name = "signed POST of a ticket, durable at FULL ÷ bare handler"
    return [Figure(name, "", True, 0.25, 0.40, ratios)]


def _drive_others(data: Data, sample: Sample, rounds: Rounds) -> None:
    """What has no bounds."""
    big = Signer(data.keys_of(data.big))
    rounds.drive("GET 25 tickets, any depth", big.gets(*sample.pages()), _PAGE)
    for query in _FILTERS:
        rounds.drive(f"GET 25 tickets, {query}", big.gets(f"{TICKETS}?{query}"), _PAGE)
    tickets = sample.tickets()
    rounds.drive("GET a ticket", big.gets(*tickets), _ONE)
    rounds.drive("PATCH a ticket", big.patches(tickets, Random(3)), _ONE)
