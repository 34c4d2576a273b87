"""Measures on SQLite: compared with a bare handler and with django-helpdesk."""

from contextlib import ExitStack
from random import Random
from typing import NamedTuple

from bench.databases.sqlite_data import Data
from bench.figures.figure import NO_BOUNDS, Bounds, Figure, Results
from bench.load import tight
from bench.load.clients import ExpectedResponse, RequestMaker
from bench.load.requests import CHANGED, CREATED, ONE_TICKET, TICKET_PAGE, Workload
from bench.load.rounds import (
    BARE_PROTOCOLS,
    BARE_SUFFIX,
    CONNECTIONS,
    HELPDESK_SUFFIX,
    TIGHT_SUFFIX,
    UVICORN_SUFFIX,
    Rounds,
    ShowProgress,
)
from bench.load.signer import TICKETS
from bench.load.tight import TightLoop
from bench.peers.django_helpdesk import load as helpdesk_load
from bench.peers.django_helpdesk.installation import Helpdesk, HelpdeskUnavailable
from bench.plan import Plan
from bench.servers import processes
from bench.servers.processes import Cores, Server

_FILTERS = ("status=open", "status=open,pending", "priority=high", "tag=refund")
_GET, _POST, _PATCH, _REPLY = "GET 25 tickets", "POST a ticket", "PATCH a ticket", "POST a reply"
_DEEP = "GET 25 tickets, any depth"

_GET_FIGURE = "signed GET of 25 tickets"
_AGAIN_FIGURE = "signed GET of the same 25 tickets again"
_POST_FIGURE = "signed POST of a ticket, durable at FULL"


class _RunningHelpdesk(NamedTuple):
    """The running django-helpdesk, and its requests."""

    server: Server
    gets: RequestMaker
    posts: RequestMaker


class _Running(NamedTuple):
    """The running servers, and their requests.

    bare: the bare handlers, by what ends the names of their rounds. helpdesk: None if it cannot be
    installed.
    """

    workload: Workload
    bare: dict[str, Server]
    sealdesk: Server
    helpdesk: _RunningHelpdesk | None
    tight: TightLoop
    rounds: Rounds


def measure(
    plan: Plan, data: Data, helpdesk: Helpdesk | HelpdeskUnavailable, show_progress: ShowProgress
) -> Results:
    """Measure everything. Raises WrongResponse."""
    with Cores() as cores:
        show_progress("start and stop")
        starts = [_start_once(data, cores) for _ in range(plan.starts)]
        workload, rounds = Workload(plan, data), Rounds(plan, show_progress)
        with ExitStack() as stack:
            memory = workload.sample.write_memory()
            bench = _Running(
                workload,
                {
                    suffix: stack.enter_context(processes.bare_handler(memory, cores, protocol))
                    for suffix, protocol in BARE_PROTOCOLS.items()
                },
                stack.enter_context(processes.sealdesk(data.settings, cores)),
                _start_helpdesk(helpdesk, stack, cores),
                stack.enter_context(tight.prepared(data, memory, plan, cores)),
                rounds,
            )
            workload.check_cursors(bench.sealdesk)
            _measure_gets(bench)
            pages = _compare_pages(bench)
            _measure_posts(bench)
            _measure_changes(bench)
            _measure_without_bounds(bench)
    figures = [*_build_ratios(rounds), *_build_tails(rounds), *pages, *_build_starts(starts)]
    return Results(figures, rounds.by_name).because(helpdesk)


def _start_once(data: Data, cores: Cores) -> tuple[float, float]:
    with processes.sealdesk(data.settings, cores) as server:
        return server.ready_s, server.rss_mib()


def _start_helpdesk(
    helpdesk: Helpdesk | HelpdeskUnavailable, stack: ExitStack, cores: Cores
) -> _RunningHelpdesk | None:
    if isinstance(helpdesk, HelpdeskUnavailable):
        return None
    return _RunningHelpdesk(
        stack.enter_context(processes.django_helpdesk(helpdesk, cores)),
        helpdesk_load.make_gets(helpdesk),
        helpdesk_load.make_posts(helpdesk),
    )


def _measure_gets(bench: _Running) -> None:
    """25 tickets of the big tenant: the newest, asked for again and again, and at random depths."""
    rounds, make = bench.rounds, bench.workload.first_page
    deep = bench.workload.big.make_gets(*bench.workload.sample.list_page_targets())
    runs = rounds.prepare_each(bench.bare, _GET, make, TICKET_PAGE)
    if bench.helpdesk is not None:
        runs[_GET + HELPDESK_SUFFIX] = rounds.prepare(
            bench.helpdesk.server, bench.helpdesk.gets, helpdesk_load.TICKET_PAGE
        )
    runs[_GET] = rounds.prepare(bench.sealdesk, make, TICKET_PAGE)
    runs[_DEEP] = rounds.prepare(bench.sealdesk, deep, TICKET_PAGE)
    rounds.run_alternately(_GET, runs)


def _compare_pages(bench: _Running) -> list[Figure]:
    """Compare the first page of the big tenant with its deep page and with the small tenant."""
    workload, rounds, plan = bench.workload, bench.rounds, bench.workload.plan
    by_depth = f"page at depth {plan.depth:,} ÷ first page"
    by_size = f"first page among {plan.big_tickets:,} ÷ among {plan.small_tickets:,}"
    first, small = workload.first_page, workload.small.make_gets(TICKETS)
    deep = workload.deep_page
    depths = rounds.compare_latencies(by_depth, bench.sealdesk, (deep, first), TICKET_PAGE)
    sizes = rounds.compare_latencies(by_size, bench.sealdesk, (first, small), TICKET_PAGE)
    return [
        Figure(by_depth, "", False, 1.2, 1.0, depths),
        Figure(by_size, "", False, 1.2, 1.0, sizes),
    ]


def _measure_posts(bench: _Running) -> None:
    """New tickets in all tenants, and in the big tenant alone."""
    workload, rounds = bench.workload, bench.rounds
    new = workload.make_ticket_bodies()
    everywhere = workload.make_posts_in_all_tenants(new)
    runs = rounds.prepare_each(bench.bare, _POST, everywhere, CREATED)
    if bench.helpdesk is not None:
        runs[_POST + HELPDESK_SUFFIX] = rounds.prepare(
            bench.helpdesk.server, bench.helpdesk.posts, CREATED
        )
    runs[_POST] = rounds.prepare(bench.sealdesk, everywhere, CREATED)
    runs[_POST + TIGHT_SUFFIX] = bench.tight.prepare(
        workload.make_posts_in_all_tenants(workload.make_ticket_bodies())
    )
    rounds.run_alternately(_POST, runs)
    in_one = workload.make_posts_in_one_tenant(new)
    rounds.run_once(f"{_POST}, all in one tenant", bench.sealdesk, in_one, CREATED)


def _measure_changes(bench: _Running) -> None:
    """Changes of tickets of the big tenant, and replies to its open ones."""
    workload, rounds = bench.workload, bench.rounds
    targets = workload.sample.list_ticket_targets()
    kinds: dict[str, tuple[RequestMaker, ExpectedResponse, ExpectedResponse]] = {
        _PATCH: (workload.big.make_patches(targets, Random(3)), CHANGED, ONE_TICKET),
        _REPLY: (
            workload.big.make_replies(workload.sample.list_open_ticket_targets()),
            CREATED,
            CREATED,
        ),
    }
    for name, (make, from_bare, expected) in kinds.items():
        runs = rounds.prepare_each(bench.bare, name, make, from_bare)
        runs[name] = rounds.prepare(bench.sealdesk, make, expected)
        runs[name + TIGHT_SUFFIX] = bench.tight.prepare(make)
        rounds.run_alternately(name, runs)


def _measure_without_bounds(bench: _Running) -> None:
    """Requests for which the figures have no bounds."""
    workload, rounds, sealdesk = bench.workload, bench.rounds, bench.sealdesk
    big = workload.big
    for query in _FILTERS:
        filtered = big.make_gets(f"{TICKETS}?{query}")
        rounds.run_once(f"GET 25 tickets, {query}", sealdesk, filtered, TICKET_PAGE)
    tickets = workload.sample.list_ticket_targets()
    rounds.run_once("GET a ticket", sealdesk, big.make_gets(*tickets), ONE_TICKET)


class _Ratio(NamedTuple):
    """A figure: the rate of the service over that of another server. bounds: floor and aim.

    name, other: of their rounds.
    """

    figure: str
    bounds: Bounds
    name: str
    other: str


# Reads have bounds against the bare handler, which stores nothing, and writes against the tight
# loop, which stores the same.
_READS: tuple[tuple[str, Bounds, str], ...] = (
    (_AGAIN_FIGURE, (0.60, 0.80), _GET),
    (_GET_FIGURE, (0.35, 0.50), _DEEP),
)
_WRITES: tuple[tuple[str, Bounds, str], ...] = (
    (_POST_FIGURE, (0.45, 0.60), _POST),
    ("signed PATCH of a ticket", (0.40, 0.55), _PATCH),
    ("signed POST of a reply", (0.40, 0.55), _REPLY),
)
_RATIOS = (
    *(
        _Ratio(f"{what} ÷ bare handler", bounds, name, _GET + BARE_SUFFIX)
        for what, bounds, name in _READS
    ),
    *(
        _Ratio(f"{what} ÷ tight loop", bounds, name, name + TIGHT_SUFFIX)
        for what, bounds, name in _WRITES
    ),
    *(
        _Ratio(f"{what} ÷ bare handler", NO_BOUNDS, name, name + BARE_SUFFIX)
        for what, _, name in _WRITES
    ),
    *(
        _Ratio(f"{what} ÷ bare handler on uvicorn", NO_BOUNDS, name, other + UVICORN_SUFFIX)
        for what, name, other in (
            (_GET_FIGURE, _DEEP, _GET),
            *((what, name, name) for what, _, name in _WRITES),
        )
    ),
    _Ratio(f"{_GET_FIGURE} ÷ django-helpdesk", (60, 100), _DEEP, _GET + HELPDESK_SUFFIX),
    _Ratio(f"{_POST_FIGURE} ÷ django-helpdesk", (35, 50), _POST, _POST + HELPDESK_SUFFIX),
)


def _build_ratios(rounds: Rounds) -> list[Figure]:
    figures = []
    for figure, (floor, aim), name, other in _RATIOS:
        compared = rounds.compare(name, other)
        figures.append(Figure(figure, "", True, floor, aim, compared.by_rate, compared.by_cpu))
    return figures


def _build_tails(rounds: Rounds) -> list[Figure]:
    tails = {name: [round_.tail for round_ in rounds.by_name[name]] for name in (_GET, _POST)}
    name = f"p99 ÷ p50 at {CONNECTIONS} connections"
    return [
        Figure(f"{name}, GET", "", False, 3, 2, tails[_GET]),
        Figure(f"{name}, POST", "", False, 3, 2, tails[_POST]),
    ]


def _build_starts(starts: list[tuple[float, float]]) -> list[Figure]:
    ready, rss = zip(*starts, strict=True)
    return [
        Figure("ready to answer after start", "s", False, 0.8, 0.5, list(ready)),
        Figure("memory at start", "MiB", False, 80, 60, list(rss)),
    ]
