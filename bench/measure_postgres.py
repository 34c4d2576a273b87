"""What is measured on PostgreSQL: against the database itself, and a conventional service."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import Any, NamedTuple

from bench import cluster, servers
from bench.cluster import Cluster
from bench.data import Data
from bench.load import WrongAnswer
from bench.pgbench import PgBench
from bench.plan import Plan
from bench.postgres_data import PostgresData
from bench.results import Figure, Results
from bench.rounds import Rounds, Say
from bench.servers import Cores, Server
from bench.signed import TICKETS
from bench.work import CREATED, PAGE, Work

_GET, _POST = "PostgreSQL: GET 25 tickets", "PostgreSQL: POST a ticket"
_PGBENCH, _CONVENTIONAL = ", pgbench", ", conventional"
_INSTANTS = ("created_at", "updated_at", "first_response_at", "resolved_at", "closed_at")


class _Bench(NamedTuple):
    """What runs, and what it is asked."""

    work: Work
    pgbench: PgBench
    real: Server
    conventional: Server
    rounds: Rounds


def measure(plan: Plan, data: Data, stored: PostgresData, say: Say) -> Results:
    """Run everything. Raises WrongAnswer when any answer is not what it must be."""
    with Cores() as cores, cluster.started(stored.directory, stored.passwords) as database:
        rounds = Rounds(plan, say, database.cpu_s)
        with _running(plan, data, database, cores, rounds) as bench:
            bench.work.check_cursors(bench.real)
            _check_alike(bench)
            figures = [*_gets(bench, data), *_posts(bench), _depth(bench)]
        return Results(figures, rounds.kept)


@contextmanager
def _running(
    plan: Plan, data: Data, database: Cluster, cores: Cores, rounds: Rounds
) -> Iterator[_Bench]:
    with ExitStack() as stack:
        real = servers.sealdesk(data.settings, cores, database.environment(data))
        other = servers.conventional(database.conventional_url, data.settings.data_dir, cores)
        yield _Bench(
            Work(plan, data),
            PgBench(plan, database),
            stack.enter_context(real),
            stack.enter_context(other),
            rounds,
        )


def _check_alike(bench: _Bench) -> None:
    """The conventional service must show the same tickets. Raises WrongAnswer."""
    ours, theirs = (
        bench.work.read(server, TICKETS)["data"] for server in (bench.real, bench.conventional)
    )
    if [_moments(ticket) for ticket in ours] != [_moments(ticket) for ticket in theirs]:
        raise WrongAnswer("the conventional service shows other tickets")


def _moments(ticket: dict[str, Any]) -> dict[str, Any]:
    """A ticket with its times as values: there are several right ways to write one."""
    times = {name: ticket[name] and datetime.fromisoformat(ticket[name]) for name in _INSTANTS}
    return ticket | times


def _gets(bench: _Bench, data: Data) -> list[Figure]:
    """The newest 25 tickets of the big tenant."""
    rounds, first = bench.rounds, bench.work.first_page
    players = {
        _GET + _PGBENCH: bench.pgbench.first_page(data.big, data.settings.data_dir),
        _GET + _CONVENTIONAL: rounds.load(bench.conventional, first, PAGE),
        _GET: rounds.load(bench.real, first, PAGE),
    }
    rounds.take_turns(_GET, players)
    by_pgbench = rounds.ratios(_GET, _GET + _PGBENCH)
    by_other = rounds.ratios(_GET, _GET + _CONVENTIONAL)
    name = "signed GET of 25 tickets on PostgreSQL"
    return [
        Figure(f"{name} ÷ pgbench with the same query", "", True, 0.15, 0.30, by_pgbench),
        Figure(f"{name} ÷ conventional stack", "", True, 4, 8, by_other),
    ]


def _posts(bench: _Bench) -> list[Figure]:
    """New tickets in all tenants alike; beside them, in the big tenant alone."""
    rounds, work = bench.rounds, bench.work
    new = work.new_tickets()
    alone = f"{_POST}, all in one tenant"
    theirs = work.in_all_tenants(work.new_tickets())
    players = {
        _POST + _PGBENCH: bench.pgbench.writes(),
        _POST + _CONVENTIONAL: rounds.load(bench.conventional, theirs, CREATED),
        _POST: rounds.load(bench.real, work.in_all_tenants(new), CREATED),
        alone: rounds.load(bench.real, work.in_one_tenant(new), CREATED),
    }
    rounds.take_turns(_POST, players)
    by_pgbench = rounds.ratios(_POST, _POST + _PGBENCH)
    by_other = rounds.ratios(_POST, _POST + _CONVENTIONAL)
    of_one = rounds.ratios(alone, _POST + _PGBENCH)
    name = "signed POST of a ticket on PostgreSQL"
    return [
        Figure(f"{name}, synchronous commit ÷ pgbench -N", "", True, 0.40, 0.60, by_pgbench),
        Figure("the same, all in one tenant", "", True, None, None, of_one),
        Figure(f"{name} ÷ conventional stack", "", True, 4, 8, by_other),
    ]


def _depth(bench: _Bench) -> Figure:
    work = bench.work
    name = f"page at depth {work.plan.depth:,} ÷ first page, on PostgreSQL"
    makes = (work.deep_page, work.first_page)
    ratios = bench.rounds.in_turns(name, bench.real, makes, PAGE)
    return Figure(name, "", False, 1.2, 1.0, ratios)
