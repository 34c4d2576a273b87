"""How long the inbox and the searches take, and how much a browser fetches for it."""

from collections.abc import Mapping
from html import unescape

from bench import cluster, measure_customers, measure_search, measure_views, person, servers
from bench.data import Data
from bench.load import Expected, WrongAnswer
from bench.measure_search import Beside
from bench.person import Person
from bench.plan import Plan
from bench.postgres_data import PostgresData
from bench.results import ON_POSTGRES, POSTGRES, Figure, Results
from bench.rounds import Rounds, Say
from bench.servers import Cores, Server
from bench.work import Work

_INBOX, _ALL = "/tickets", "/tickets?status=all"
_ROW, _ROWS = b"<li data-ticket", 50
_NAME = "GET the inbox, one connection"
_KIB = 1024


def on_sqlite(plan: Plan, data: Data, say: Say) -> Results:
    """Raises WrongAnswer when any answer is not what it must be."""
    rounds = Rounds(plan, say)
    with Cores() as cores:
        email, password = person.let_in(data, {})
        with servers.sealdesk(data.settings, cores) as server:
            agent = Person(server.port, email, password)
            loads = _loads(agent)
            beside = _drive(Work(plan, data), agent, server, rounds, "")
    return Results([*_figures(plan, rounds, "", "", beside), *loads], rounds.kept)


def on_postgres(plan: Plan, data: Data, stored: PostgresData, say: Say) -> Results:
    """Raises WrongAnswer. What a browser fetches is the same there."""
    with Cores() as cores, cluster.started(stored.directory, stored.passwords) as database:
        env, rounds = database.environment(data), Rounds(plan, say, database.cpu_s)
        email, password = person.let_in(data, env)
        with servers.sealdesk(data.settings, cores, env) as server:
            agent = Person(server.port, email, password)
            beside = _drive(Work(plan, data), agent, server, rounds, POSTGRES)
    return Results(_figures(plan, rounds, POSTGRES, ON_POSTGRES, beside), rounds.kept)


def not_measured(plan: Plan, reason: str) -> Results:
    """The figures on PostgreSQL without values."""
    return Results(_figures(plan, Rounds(plan, print), POSTGRES, ON_POSTGRES, [], reason), {})


def _figures(
    plan: Plan, rounds: Rounds, prefix: str, suffix: str, beside: list[Beside], lacking: str = ""
) -> list[Figure]:
    kept = rounds.kept.get(prefix + _NAME, [])
    name = f"inbox page of {_ROWS} among {plan.big_tickets:,}"
    medians = [round_.p50_ms or 0.0 for round_ in kept]
    tails = [round_.tail for round_ in kept]
    return [
        Figure(f"{name}, median{suffix}", "ms", False, 15, 15, medians, lacking),
        Figure(f"{name}, p99 ÷ p50{suffix}", "", False, 3, 3, tails, lacking),
        *measure_views.figures(plan, rounds, prefix, suffix, lacking),
        *measure_search.figures(plan, rounds, prefix, suffix, beside, lacking),
        *measure_customers.figures(plan, rounds, prefix, suffix, lacking),
    ]


def _loads(agent: Person) -> list[Figure]:
    """The first load of the inbox by a browser that knows nothing of it."""
    loaded = agent.load(_ALL)
    values: Mapping[str, tuple[str, float, float]] = {
        "first load of the inbox": ("KiB", 120, loaded.size / _KIB),
        "requests of the first load": ("", 8, loaded.requests),
        "requests to other sites": ("", 0, len(loaded.foreign)),
    }
    figures = [
        Figure(name, unit, False, most, most, [value])
        for name, (unit, most, value) in values.items()
    ]
    return [*figures, measure_views.opening(agent, loaded)]


def _drive(work: Work, agent: Person, server: Server, rounds: Rounds, prefix: str) -> list[Beside]:
    """The big tenant's newest tickets; for the record the page behind, and the open ones."""
    first = agent.read(_ALL)
    if first.encode().count(_ROW) != _ROWS:
        raise WrongAnswer(f"the inbox does not show {_ROWS} tickets")
    targets = {_NAME: _ALL, f"{_NAME}, older": _older(first), f"{_NAME}, open": _INBOX}
    players = {
        prefix + name: rounds.load(
            server, agent.gets(target), _expected(agent, target), connections=1
        )
        for name, target in targets.items()
    }
    rounds.take_turns(prefix + _NAME, players)
    measure_views.drive_views(work, agent, server, rounds, prefix)
    measure_customers.drive_customers(work, agent, server, rounds, prefix)
    return measure_search.drive_search(work, agent, server, rounds, prefix)


def _expected(agent: Person, target: str) -> Expected:
    """As many tickets as a look at the page has shown."""
    return Expected(200, _ROW, agent.read(target).encode().count(_ROW))


def _older(page: str) -> str:
    """The address of the page behind. Raises WrongAnswer."""
    before, mark, _ = page.partition('" rel="next"')
    if not mark:
        raise WrongAnswer("the inbox leads to no older tickets")
    return unescape(before.rpartition('"')[2])
