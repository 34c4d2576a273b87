"""How long a search of the big tenant's tickets takes, and what others notice of it."""

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlencode

from bench.load import Expected, Load, WrongAnswer, drive
from bench.person import Person
from bench.plan import Plan
from bench.results import Figure
from bench.rounds import Rounds
from bench.servers import Server
from bench.signed import TICKETS
from bench.work import PAGE, Work

NAME = "GET a search, one connection"
_ROW = "<li data-ticket"
_SAMPLED = 15  # every so many of the searches must have found something before they are timed


class Beside(NamedTuple):
    """How much longer others' requests take while somebody searches: median and slowest of 100."""

    p50: float
    p99: float


def figures(
    plan: Plan, rounds: Rounds, prefix: str, suffix: str, beside: list[Beside], lacking: str = ""
) -> list[Figure]:
    among = f"search among {plan.big_tickets:,}"
    medians = [round_.p50_ms or 0.0 for round_ in rounds.kept.get(prefix + NAME, [])]
    others = f"GET 25 tickets beside a {among} ÷ alone"
    p50s, p99s = [each.p50 for each in beside], [each.p99 for each in beside]
    return [
        Figure(f"{among}, median{suffix}", "ms", False, 150, 150, medians, lacking),
        Figure(f"{others}, median{suffix}", "", False, None, None, p50s, lacking),
        Figure(f"{others}, p99{suffix}", "", False, None, None, p99s, lacking),
    ]


def drive_search(
    work: Work, agent: Person, server: Server, rounds: Rounds, prefix: str
) -> list[Beside]:
    """Searches, then others' requests beside them. Raises WrongAnswer."""
    targets = _targets(work, server)
    for target in targets[::_SAMPLED]:
        if _ROW not in agent.read(target):
            raise WrongAnswer(f"{target} finds nothing")
    play = rounds.load(server, agent.gets(*targets), Expected(200), connections=1)
    rounds.take_turns(prefix + NAME, {prefix + NAME: play})
    return [_beside(work, agent, server, targets) for _ in range(work.plan.rounds)]


def _beside(work: Work, agent: Person, server: Server, targets: list[str]) -> Beside:
    alone = _load(work, server)
    with _searching(agent, targets):
        beside = _load(work, server)
    p50, p99 = (beside.quantile_us(share) / alone.quantile_us(share) for share in (0.5, 0.99))
    return Beside(p50, p99)


def _load(work: Work, server: Server) -> Load:
    return drive(server.port, work.first_page(work.plan.pairs), PAGE, 1)


@contextmanager
def _searching(agent: Person, targets: list[str]) -> Iterator[None]:
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


def _targets(work: Work, server: Server) -> list[str]:
    """Searches for what stands in some of the newest tickets of the data, and in some old ones."""
    depths = [1, work.plan.depth]
    pages = [f"{TICKETS}?cursor={work.sample.cursor_after(depth)}" for depth in depths]
    tickets = [ticket for target in pages for ticket in work.read(server, target)["data"]]
    said = [words for ticket in tickets for words in _words(ticket)]
    return [f"/tickets?{urlencode({'q': words})}" for words in said]


def _words(ticket: dict[str, Any]) -> list[str]:
    """Common words and rare ones."""
    words = ticket["subject"].split()
    return [words[0], " ".join(words[:2]), " ".join(words), ticket["customer"]["email"]]
