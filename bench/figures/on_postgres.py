"""Measures on PostgreSQL: compared with pgbench and with a conventional service."""

from collections.abc import Mapping
from contextlib import ExitStack
from datetime import datetime
from typing import Any, NamedTuple

from bench.databases import cluster
from bench.databases.postgres_data import PostgresData
from bench.databases.sqlite_data import Data
from bench.figures.figure import Figure, Results
from bench.load.clients import WrongResponse
from bench.load.requests import CREATED, TICKET_PAGE, Workload
from bench.load.rounds import CONVENTIONAL_SUFFIX, POSTGRES_PREFIX, Rounds, ShowProgress
from bench.load.signer import TICKETS
from bench.peers.pgbench import PgBench
from bench.plan import Plan
from bench.servers import processes
from bench.servers.processes import Cores, Server
from bench.servers.quota import QuotaUnavailable, limit_cpu

_GET, _POST = f"{POSTGRES_PREFIX}GET 25 tickets", f"{POSTGRES_PREFIX}POST a ticket"
_GET_PGBENCH, _POST_PGBENCH = f"{_GET}, pgbench", f"{_POST}, pgbench -N"
_GET_CONVENTIONAL, _POST_CONVENTIONAL = _GET + CONVENTIONAL_SUFFIX, _POST + CONVENTIONAL_SUFFIX
_POST_ONE_TENANT = f"{_POST}, all in one tenant"
_TIMES = ("created_at", "updated_at", "first_response_at", "resolved_at", "closed_at")
_GET = f"{POSTGRES_PREFIX}GET 25 tickets"
_QUOTA_ROUNDS = (f"{_GET}, two processes with a CPU quota", f"{_GET}, one with a CPU quota")
# The share of the servers' core for each process: two processes leave most of the core idle, and
# the database, which shares the other core with the client, is not the bottleneck.
_QUOTA_SHARE = 0.2
_QUOTA_ENV = {"SEALDESK_PER_PROCESS_LIMITS": "accept"}


class _Ratio(NamedTuple):
    """A figure: the rate of one kind of round over that of another. has_cpu: also by CPU time."""

    name: str
    floor: float | None
    aim: float | None
    numerator: str
    denominator: str
    has_cpu: bool = True


_RATIOS = (
    _Ratio("GET of 25 on PostgreSQL ÷ pgbench with its query", 0.15, 0.30, _GET, _GET_PGBENCH),
    _Ratio("GET of 25 on PostgreSQL ÷ conventional stack", 10, 15, _GET, _GET_CONVENTIONAL),
    _Ratio("POST on PostgreSQL ÷ pgbench -N", 0.45, 0.60, _POST, _POST_PGBENCH),
    _Ratio("the same, all in one tenant", None, None, _POST_ONE_TENANT, _POST_PGBENCH),
    _Ratio("POST on PostgreSQL ÷ conventional stack", 8, 10, _POST, _POST_CONVENTIONAL),
    _Ratio("two processes ÷ one, the same CPU quota each", 1.6, 1.9, *_QUOTA_ROUNDS, has_cpu=False),
)


_DEPTH = "page at depth {:,} ÷ first page, on PostgreSQL"


class _Running(NamedTuple):
    """The running servers, and their requests."""

    workload: Workload
    pgbench: PgBench
    sealdesk: Server
    conventional: Server
    rounds: Rounds


def measure(plan: Plan, data: Data, postgres: PostgresData, show_progress: ShowProgress) -> Results:
    """Measure everything. Raises WrongResponse."""
    unavailable: object = ""
    with (
        Cores() as cores,
        cluster.running_cluster(postgres.directory, postgres.passwords) as database,
    ):
        workload, rounds = Workload(plan, data), Rounds(plan, show_progress, database.cpu_s)
        env = database.environment(data)
        with ExitStack() as stack:
            sealdesk = processes.sealdesk(data.settings, cores, env)
            conventional = processes.conventional_service(
                database.conventional_url, data.settings.data_dir, cores
            )
            pgbench = PgBench(plan, database)
            bench = _Running(
                workload,
                pgbench,
                stack.enter_context(sealdesk),
                stack.enter_context(conventional),
                rounds,
            )
            workload.check_cursors(bench.sealdesk)
            _check_same_tickets(bench)
            _measure_gets(bench, data)
            _measure_posts(bench)
            depths = _measure_depths(bench)
        try:
            _measure_two_processes(workload, data, env, cores, rounds)
        except QuotaUnavailable as error:
            unavailable = error
    return Results(_build_figures(plan, rounds, depths), rounds.by_name).because(unavailable)


def not_measured(plan: Plan) -> Results:
    """The same figures without values."""
    return Results(_build_figures(plan, Rounds(plan, print), []), {})


def _build_figures(plan: Plan, rounds: Rounds, depths: list[float]) -> list[Figure]:
    figures = []
    for ratio in _RATIOS:
        compared = rounds.compare(ratio.numerator, ratio.denominator)
        figures.append(
            Figure(
                ratio.name,
                "",
                True,
                ratio.floor,
                ratio.aim,
                compared.by_rate,
                compared.by_cpu if ratio.has_cpu else [],
            )
        )
    depth = _DEPTH.format(plan.depth)
    figures.insert(-1, Figure(depth, "", False, 1.2, 1.0, depths))
    return figures


def _check_same_tickets(bench: _Running) -> None:
    """Check that the conventional service lists the same tickets. Raises WrongResponse."""
    tickets, other_tickets = (
        bench.workload.read(server, TICKETS)["data"]
        for server in (bench.sealdesk, bench.conventional)
    )
    # Its tickets have no fields that were added to the service after it was written.
    same_fields = [
        {name: ticket[name] for name in other}
        for ticket, other in zip(tickets, other_tickets, strict=True)
    ]
    if list(map(_parse_times, same_fields)) != list(map(_parse_times, other_tickets)):
        raise WrongResponse("the conventional service lists other tickets")


def _parse_times(ticket: dict[str, Any]) -> dict[str, Any]:
    """A ticket with parsed times: the services format them differently."""
    times = {name: ticket[name] and datetime.fromisoformat(ticket[name]) for name in _TIMES}
    return ticket | times


def _measure_gets(bench: _Running, data: Data) -> None:
    """The newest 25 tickets of the big tenant."""
    rounds, first = bench.rounds, bench.workload.first_page
    runs = {
        _GET_PGBENCH: bench.pgbench.prepare_first_page(data.big, data.settings.data_dir),
        _GET_CONVENTIONAL: rounds.prepare(bench.conventional, first, TICKET_PAGE),
        _GET: rounds.prepare(bench.sealdesk, first, TICKET_PAGE),
    }
    rounds.run_alternately(_GET, runs)


def _measure_posts(bench: _Running) -> None:
    """New tickets in all tenants, and in the big tenant alone."""
    rounds, workload = bench.rounds, bench.workload
    bodies, other_tickets = workload.make_ticket_bodies(), workload.make_ticket_bodies()
    runs = {
        _POST_PGBENCH: bench.pgbench.prepare_writes(),
        _POST_CONVENTIONAL: rounds.prepare(
            bench.conventional, workload.make_posts_in_all_tenants(other_tickets), CREATED
        ),
        _POST: rounds.prepare(bench.sealdesk, workload.make_posts_in_all_tenants(bodies), CREATED),
        _POST_ONE_TENANT: rounds.prepare(
            bench.sealdesk, workload.make_posts_in_one_tenant(bodies), CREATED
        ),
    }
    rounds.run_alternately(_POST, runs)


def _measure_depths(bench: _Running) -> list[float]:
    workload = bench.workload
    makes = (workload.deep_page, workload.first_page)
    return bench.rounds.compare_latencies(
        _DEPTH.format(workload.plan.depth), bench.sealdesk, makes, TICKET_PAGE
    )


class _ServerGroup:
    """Several server processes that share the load."""

    def __init__(self, servers: list[Server]) -> None:
        self._servers = servers

    @property
    def port(self) -> list[int]:
        return [server.port for server in self._servers]

    def cpu_s(self) -> float:
        return sum(server.cpu_s() for server in self._servers)


def _measure_two_processes(
    workload: Workload, data: Data, env: Mapping[str, str], cores: Cores, rounds: Rounds
) -> None:
    """Signed pages of 25 from two processes and from one. Raises QuotaUnavailable."""
    runs = {}
    with ExitStack() as stack:
        for name, count in zip(_QUOTA_ROUNDS, (2, 1), strict=True):
            group = [
                stack.enter_context(processes.sealdesk(data.settings, cores, {**env, **_QUOTA_ENV}))
                for _ in range(count)
            ]
            stack.enter_context(limit_cpu([server.pid for server in group], _QUOTA_SHARE))
            runs[name] = rounds.prepare(_ServerGroup(group), workload.first_page, TICKET_PAGE)
        rounds.run_alternately("processes", runs)
