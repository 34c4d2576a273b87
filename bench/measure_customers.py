"""How long it takes to find customers of the big tenant by the beginnings of their words."""

from urllib.parse import urlencode

from bench.load import Expected, WrongAnswer
from bench.person import Person
from bench.plan import Plan
from bench.results import Figure
from bench.rounds import Rounds
from bench.servers import Server
from bench.work import Work

NAME = "GET customers found by two words, one connection"
_ROW = 'class="url" href="/customers/'
_SAMPLED = 15  # every so many of the searches must have found somebody before they are timed
_ASKED = 300


def figures(
    plan: Plan, rounds: Rounds, prefix: str, suffix: str, lacking: str = ""
) -> list[Figure]:
    # Each ticket has brought a customer.
    name = f"customers found by the beginnings of two words among {plan.big_tickets:,}"
    kept = rounds.kept.get(prefix + NAME, [])
    medians, p99s = [each.p50_ms or 0.0 for each in kept], [each.p99_ms or 0.0 for each in kept]
    return [
        Figure(f"{name}, median{suffix}", "ms", False, 150, 150, medians, lacking),
        Figure(f"{name}, p99{suffix}", "ms", False, None, None, p99s, lacking),
    ]


def drive_customers(work: Work, agent: Person, server: Server, rounds: Rounds, prefix: str) -> None:
    """Searches for a first and a last name, of each the beginning. Raises WrongAnswer."""
    targets = _targets(work)
    for target in targets[::_SAMPLED]:
        if _ROW not in agent.read(target):
            raise WrongAnswer(f"{target} finds nobody")
    play = rounds.load(server, agent.gets(*targets), Expected(200), connections=1)
    rounds.take_turns(prefix + NAME, {prefix + NAME: play})


def _targets(work: Work) -> list[str]:
    of_big = next(iter(work.sample.addresses().values()))
    names = [address.split(".")[:2] for address in of_big[-_ASKED:]]
    return [f"/customers?{urlencode({'q': f'{one[:3]} {two[:4]}'})}" for one, two in names]
