"""How long views of the inbox take that ask for something, and what opening a ticket fetches."""

import re
from urllib.parse import urlencode

from bench.load import Expected, WrongAnswer
from bench.person import Loaded, Person
from bench.plan import Plan
from bench.results import Figure
from bench.rounds import Rounds
from bench.servers import Server
from bench.signed import TICKETS
from bench.work import Work

NAME = "GET views of the inbox in turn, one connection"
_TICKET = "GET a ticket, one connection"
_WHOLE = Expected(200, b"</html>", 1)
_ROW = "<li data-ticket"
_OPENS = re.compile(r'href="(/tickets/[0-9a-f-]{36})"')


def figures(
    plan: Plan, rounds: Rounds, prefix: str, suffix: str, lacking: str = ""
) -> list[Figure]:
    """Of views by one filter, by two, and far behind."""
    kept = rounds.kept.get(prefix + NAME, [])
    name = f"views of the inbox by filters, and {plan.depth:,} deep"
    medians, tails = [r.p50_ms or 0.0 for r in kept], [r.tail for r in kept]
    return [
        Figure(f"{name}, median{suffix}", "ms", False, 15, 15, medians, lacking),
        Figure(f"{name}, p99 ÷ p50{suffix}", "", False, 3, 3, tails, lacking),
    ]


def opening(agent: Person, inbox: Loaded) -> Figure:
    """What a browser that shows the inbox fetches to show a ticket of it."""
    loaded = agent.load(_first_ticket(inbox.text), inbox.kept)
    name = "requests to open a ticket from the inbox"
    return Figure(name, "", False, 1, 1, [loaded.requests])


def drive_views(work: Work, agent: Person, server: Server, rounds: Rounds, prefix: str) -> None:
    """The views, and for the record a ticket. Raises WrongAnswer."""
    targets = _targets(work, server)
    for target in targets:
        if _ROW not in agent.read(target):
            raise WrongAnswer(f"{target} shows no ticket")
    ticket = _first_ticket(agent.read(targets[0]))
    players = {
        prefix + name: rounds.load(server, agent.gets(*asked), _WHOLE, connections=1)
        for name, asked in ((NAME, targets), (_TICKET, [ticket]))
    }
    rounds.take_turns(prefix + NAME, players)


def _targets(work: Work, server: Server) -> list[str]:
    """What agents look at: by a ticket that was answered long ago, and from it on."""
    deep = work.read(server, f"{TICKETS}?cursor={work.sample.cursor_after(work.plan.depth)}")
    ticket = next(t for t in deep["data"] if t["tags"] and t["assignee_id"])
    mine = {"assignee": ticket["assignee_id"]}
    filters = [
        {"before": ticket["id"]},
        {"priority": "urgent"},
        mine,
        {"customer": ticket["customer"]["id"]},
        {"tag": ticket["tags"][0]},
        {**mine, "status": "pending"},
        {"assignee": "nobody", "status": "open"},
    ]
    return [f"/tickets?{urlencode({'status': 'all', **wanted})}" for wanted in filters]


def _first_ticket(page: str) -> str:
    found = _OPENS.search(page)
    if found is None:
        raise WrongAnswer("the inbox leads to no ticket")
    return found[1]
