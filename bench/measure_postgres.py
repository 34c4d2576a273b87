"""Measures on PostgreSQL: compared with pgbench and with a conventional service."""

from collections.abc import Mapping
from contextlib import ExitStack
from datetime import datetime
from typing import Any, NamedTuple

from bench import cluster, servers
from bench.clients import WrongResponse
from bench.cluster import PgBench
from bench.data import Data
from bench.plan import Plan
from bench.postgres_data import PostgresData
from bench.requests import CREATED, TICKET_PAGE, TICKETS, Workload
from bench.rounds import CONVENTIONAL_SUFFIX, POSTGRES_PREFIX, Figure, Results, Rounds, ShowProgress
from bench.servers import Cores, QuotaUnavailable, Server

_GET, _POST = f"{POSTGRES_PREFIX}GET 25 tickets", f"{POSTGRES_PREFIX}POST a ticket"
_GET_PGBENCH, _POST_PGBENCH = f"{_GET}, pgbench", f"{_POST}, pgbench -N"
_GET_CONVENTIONAL, _POST_CONVENTIONAL = _GET + CONVENTIONAL_SUFFIX, _POST + CONVENTIONAL_SUFFIX
_POST_ONE_TENANT = f"{_POST}, all in one tenant"
_TIMES = ("created_at", "updated_at", "first_response_at", "resolved_at", "closed_at")
_GET = f"{POSTGRES_PREFIX}GET 25 tickets"
_QUOTA_ROUNDS = (f"{_GET}, two processes with a CPU quota", f"{_GET}, one with a CPU quota")
# Of the servers' core for each process, so that two leave most of it idle, and the database, which
# shares the other core with the client, has time for both.
_QUOTA_SHARE = 0.2
_QUOTA_ENV = {"SEALDESK_PER_PROCESS_LIMITS": "accept"}


class _Ratio(NamedTuple):
    """A figure that is one player's rate over another's."""

    name: str
    floor: float | None
    aim: float | None
    player: str
    other: str


_RATIOS = (
    _Ratio("GET of 25 on PostgreSQL ÷ pgbench with its query", 0.15, 0.30, _GET, _GET_PGBENCH),
    _Ratio("GET of 25 on PostgreSQL ÷ conventional stack", 4, 8, _GET, _GET_CONVENTIONAL),
    _Ratio("POST on PostgreSQL ÷ pgbench -N", 0.40, 0.60, _POST, _POST_PGBENCH),
    _Ratio("the same, all in one tenant", None, None, _POST_ONE_TENANT, _POST_PGBENCH),
    _Ratio("POST on PostgreSQL ÷ conventional stack", 4, 8, _POST, _POST_CONVENTIONAL),
    _Ratio("two processes ÷ one, the same CPU quota each", 1.6, 1.9, *_QUOTA_ROUNDS),
)


_DEPTH = "page at depth {:,} ÷ first page, on PostgreSQL"


class _Running(NamedTuple):
    """What runs, and what it is asked."""

    work: Workload
    pgbench: PgBench
    real: Server
    conventional: Server
    rounds: Rounds


def measure(plan: Plan, data: Data, stored: PostgresData, say: ShowProgress) -> Results:
    """Run everything. Raises WrongResponse when any answer is not what it must be."""
    lacking = {}
    with Cores() as cores, cluster.running_cluster(stored.directory, stored.passwords) as database:
        work, rounds = Workload(plan, data), Rounds(plan, say, database.cpu_s)
        env = database.environment(data)
        with ExitStack() as stack:
            real = servers.sealdesk(data.settings, cores, env)
            usual = servers.conventional_service(
                database.conventional_url, data.settings.data_dir, cores
            )
            pgbench = PgBench(plan, database)
            bench = _Running(
                work, pgbench, stack.enter_context(real), stack.enter_context(usual), rounds
            )
            work.check_cursors(bench.real)
            _check_same_tickets(bench)
            _measure_gets(bench, data)
            _measure_posts(bench)
            depths = _measure_depths(bench)
        try:
            _measure_two_processes(work, data, env, cores, rounds)
        except QuotaUnavailable as reason:
            lacking[_QUOTA_ROUNDS[0]] = str(reason)
    return Results(_build_figures(plan, rounds, depths, lacking), rounds.kept)


def not_measured(plan: Plan, reason: str) -> Results:
    """The same figures without values."""
    lacking = {ratio.player: reason for ratio in _RATIOS} | {_DEPTH: reason}
    return Results(_build_figures(plan, Rounds(plan, print), [], lacking), {})


def _build_figures(
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


def _check_same_tickets(bench: _Running) -> None:
    """The conventional service must show the same tickets. Raises WrongResponse."""
    ours, theirs = (
        bench.work.read(server, TICKETS)["data"] for server in (bench.real, bench.conventional)
    )
    if list(map(_parse_times, ours)) != list(map(_parse_times, theirs)):
        raise WrongResponse("the conventional service shows other tickets")


def _parse_times(ticket: dict[str, Any]) -> dict[str, Any]:
    """A ticket with its times as values: there are several right ways to write one."""
    times = {name: ticket[name] and datetime.fromisoformat(ticket[name]) for name in _TIMES}
    return ticket | times


def _measure_gets(bench: _Running, data: Data) -> None:
    """The newest 25 tickets of the big tenant."""
    rounds, first = bench.rounds, bench.work.first_page
    players = {
        _GET_PGBENCH: bench.pgbench.first_page(data.big, data.settings.data_dir),
        _GET_CONVENTIONAL: rounds.load(bench.conventional, first, TICKET_PAGE),
        _GET: rounds.load(bench.real, first, TICKET_PAGE),
    }
    rounds.take_turns(_GET, players)


def _measure_posts(bench: _Running) -> None:
    """New tickets in all tenants alike; beside them, in the big tenant alone."""
    rounds, work = bench.rounds, bench.work
    new, theirs = work.new_tickets(), work.new_tickets()
    players = {
        _POST_PGBENCH: bench.pgbench.writes(),
        _POST_CONVENTIONAL: rounds.load(bench.conventional, work.in_all_tenants(theirs), CREATED),
        _POST: rounds.load(bench.real, work.in_all_tenants(new), CREATED),
        _POST_ONE_TENANT: rounds.load(bench.real, work.in_one_tenant(new), CREATED),
    }
    rounds.take_turns(_POST, players)


def _measure_depths(bench: _Running) -> list[float]:
    work = bench.work
    makes = (work.deep_page, work.first_page)
    return bench.rounds.in_turns(_DEPTH.format(work.plan.depth), bench.real, makes, TICKET_PAGE)


class _ServerGroup:
    """Server processes over which the load is spread."""

    def __init__(self, started: list[Server]) -> None:
        self._servers = started

    @property
    def port(self) -> list[int]:
        return [server.port for server in self._servers]

    def cpu_s(self) -> float:
        return sum(server.cpu_s() for server in self._servers)


def _measure_two_processes(
    work: Workload, data: Data, env: Mapping[str, str], cores: Cores, rounds: Rounds
) -> None:
    """Signed pages of 25, from two processes and from one. Raises NoQuota."""
    players = {}
    with ExitStack() as stack:
        for name, count in zip(_QUOTA_ROUNDS, (2, 1), strict=True):
            started = [
                stack.enter_context(servers.sealdesk(data.settings, cores, {**env, **_QUOTA_ENV}))
                for _ in range(count)
            ]
            stack.enter_context(servers.limit_cpu([server.pid for server in started], _QUOTA_SHARE))
            players[name] = rounds.load(_ServerGroup(started), work.first_page, TICKET_PAGE)
        rounds.take_turns("processes", players)
