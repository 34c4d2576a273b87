"""What is measured on PostgreSQL: against the database itself, and a conventional service."""

from collections.abc import Mapping
from contextlib import ExitStack
from datetime import datetime
from typing import Any, NamedTuple

from bench import cluster, scaling, servers
from bench.data import Data
from bench.load import WrongAnswer
from bench.pgbench import PgBench
from bench.plan import Plan
from bench.postgres_data import PostgresData
from bench.quota import NoQuota
from bench.results import POSTGRES, USUAL, Figure, Results
from bench.rounds import Rounds, Say
from bench.servers import Cores, Server
from bench.signed import TICKETS
from bench.work import CREATED, PAGE, Work

_GET, _POST = f"{POSTGRES}GET 25 tickets", f"{POSTGRES}POST a ticket"
_GET_BY_ITSELF, _POST_BY_ITSELF = f"{_GET}, pgbench", f"{_POST}, pgbench -N"
_GET_USUAL, _POST_USUAL = _GET + USUAL, _POST + USUAL
_POST_IN_ONE = f"{_POST}, all in one tenant"
_INSTANTS = ("created_at", "updated_at", "first_response_at", "resolved_at", "closed_at")


class _Ratio(NamedTuple):
    """A figure that is one player's rate over another's."""

    name: str
    floor: float | None
    aim: float | None
    player: str
    other: str


_RATIOS = (
    _Ratio("GET of 25 on PostgreSQL ÷ pgbench with its query", 0.15, 0.30, _GET, _GET_BY_ITSELF),
    _Ratio("GET of 25 on PostgreSQL ÷ conventional stack", 4, 8, _GET, _GET_USUAL),
    _Ratio("POST on PostgreSQL ÷ pgbench -N", 0.40, 0.60, _POST, _POST_BY_ITSELF),
    _Ratio("the same, all in one tenant", None, None, _POST_IN_ONE, _POST_BY_ITSELF),
    _Ratio("POST on PostgreSQL ÷ conventional stack", 4, 8, _POST, _POST_USUAL),
    _Ratio("two processes ÷ one, the same CPU quota each", 1.6, 1.9, *scaling.PLAYERS),
)
_DEPTH = "page at depth {:,} ÷ first page, on PostgreSQL"


class _Bench(NamedTuple):
    """What runs, and what it is asked."""

    work: Work
    pgbench: PgBench
    real: Server
    conventional: Server
    rounds: Rounds


def measure(plan: Plan, data: Data, stored: PostgresData, say: Say) -> Results:
    """Run everything. Raises WrongAnswer when any answer is not what it must be."""
    lacking = {}
    with Cores() as cores, cluster.started(stored.directory, stored.passwords) as database:
        work, rounds = Work(plan, data), Rounds(plan, say, database.cpu_s)
        env = database.environment(data)
        with ExitStack() as stack:
            real = servers.sealdesk(data.settings, cores, env)
            usual = servers.conventional(database.conventional_url, data.settings.data_dir, cores)
            pgbench = PgBench(plan, database)
            bench = _Bench(
                work, pgbench, stack.enter_context(real), stack.enter_context(usual), rounds
            )
            work.check_cursors(bench.real)
            _check_alike(bench)
            _gets(bench, data)
            _posts(bench)
            depths = _depths(bench)
        try:
            scaling.two_processes(work, data, env, cores, rounds)
        except NoQuota as reason:
            lacking[scaling.PLAYERS[0]] = str(reason)
    return Results(_figures(plan, rounds, depths, lacking), rounds.kept)


def not_measured(plan: Plan, reason: str) -> Results:
    """The same figures without values."""
    lacking = {ratio.player: reason for ratio in _RATIOS} | {_DEPTH: reason}
    return Results(_figures(plan, Rounds(plan, print), [], lacking), {})


def _figures(
    plan: Plan, rounds: Rounds, depths: list[float], lacking: Mapping[str, str]
) -> list[Figure]:
    """lacking: player → why it did not play."""
    figures = [
        Figure(
            ratio.name,
            "",
            True,
            ratio.floor,
            ratio.aim,
            rounds.ratios(ratio.player, ratio.other),
            lacking.get(ratio.player, ""),
        )
        for ratio in _RATIOS
    ]
    depth = _DEPTH.format(plan.depth)
    figures.insert(-1, Figure(depth, "", False, 1.2, 1.0, depths, lacking.get(_DEPTH, "")))
    return figures


def _check_alike(bench: _Bench) -> None:
    """The conventional service must show the same tickets. Raises WrongAnswer."""
    ours, theirs = (
        bench.work.read(server, TICKETS)["data"] for server in (bench.real, bench.conventional)
    )
    if list(map(_moments, ours)) != list(map(_moments, theirs)):
        raise WrongAnswer("the conventional service shows other tickets")


def _moments(ticket: dict[str, Any]) -> dict[str, Any]:
    """A ticket with its times as values: there are several right ways to write one."""
    times = {name: ticket[name] and datetime.fromisoformat(ticket[name]) for name in _INSTANTS}
    return ticket | times


def _gets(bench: _Bench, data: Data) -> None:
    """The newest 25 tickets of the big tenant."""
    rounds, first = bench.rounds, bench.work.first_page
    players = {
        _GET_BY_ITSELF: bench.pgbench.first_page(data.big, data.settings.data_dir),
        _GET_USUAL: rounds.load(bench.conventional, first, PAGE),
        _GET: rounds.load(bench.real, first, PAGE),
    }
    rounds.take_turns(_GET, players)


def _posts(bench: _Bench) -> None:
    """New tickets in all tenants alike; beside them, in the big tenant alone."""
    rounds, work = bench.rounds, bench.work
    new, theirs = work.new_tickets(), work.new_tickets()
    players = {
        _POST_BY_ITSELF: bench.pgbench.writes(),
        _POST_USUAL: rounds.load(bench.conventional, work.in_all_tenants(theirs), CREATED),
        _POST: rounds.load(bench.real, work.in_all_tenants(new), CREATED),
        _POST_IN_ONE: rounds.load(bench.real, work.in_one_tenant(new), CREATED),
    }
    rounds.take_turns(_POST, players)


def _depths(bench: _Bench) -> list[float]:
    work = bench.work
    makes = (work.deep_page, work.first_page)
    return bench.rounds.in_turns(_DEPTH.format(work.plan.depth), bench.real, makes, PAGE)
