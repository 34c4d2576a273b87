"""Measures the delivery of webhooks, alone and with a dead endpoint."""

import time
from collections.abc import Mapping
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from bench.databases.webhook_databases import DatabaseSet
from bench.figures.figure import Figure, Results
from bench.load.clients import WrongResponse, quantile, send_paced
from bench.load.requests import CREATED
from bench.load.rounds import Round, ShowProgress, compare_rounds
from bench.plan import Plan
from bench.servers import processes
from bench.servers.processes import Cores, Service
from bench.servers.webhook_installation import Installation, ReceiverClient

_PER_SECOND = 100
_WITHIN_S = 60.0
_QUIET_S = 0.2
_NO_DEAD = ""
_REFUSES, _HANGS = ", beside a dead one that refuses", ", beside a dead one that hangs"
_TWO_HANG = ", beside two dead ones that hang"
_AIMS = {_REFUSES: 1.0, _HANGS: 1.2, _TWO_HANG: 1.2}
_BACKLOG, _PACED = "deliver webhooks that wait", f"deliver webhooks at {_PER_SECOND}/s"


class _Created(msgspec.Struct):
    """The response to a new ticket."""

    data: dict[str, Any]


def measure(
    plan: Plan,
    databases: DatabaseSet,
    cores: Cores,
    receiver: ReceiverClient,
    show_progress: ShowProgress,
) -> Results:
    """Deliver waiting events, then new ones: alone, and with dead endpoints in the same tenant.

    Raises WrongResponse.
    """
    show_progress(f"{databases.prefix}{plan.dead_deliveries:,} deliveries for dead endpoints")
    alone, with_dead = (Installation(database, receiver.url) for database in databases.empty)
    with_dead.add_dead_deliveries(plan.dead_deliveries)
    dead_urls = {
        _NO_DEAD: [],
        _REFUSES: [receiver.refusing_url],
        _HANGS: [receiver.hanging_url],
        _TWO_HANG: [receiver.hanging_url] * 2,
    }
    by_name: dict[str, list[Round]] = {}
    for number in range(1, plan.webhook_rounds + 1):
        for condition, urls in dead_urls.items():
            if condition in (_HANGS, _TWO_HANG) and number > plan.hanging_rounds:
                continue
            show_progress(
                f"{databases.prefix}webhooks{condition}: round {number} of {plan.webhook_rounds}"
            )
            installation = with_dead if urls else alone
            if urls:
                installation.set_dead_urls(urls)
            hanging_count = receiver.hanging_count
            delivery = _DeliveryRounds(plan, databases, installation, receiver)
            for name, round_ in delivery.run(cores).items():
                by_name.setdefault(f"{databases.prefix}{name}{condition}", []).append(round_)
            if (
                urls
                and not installation.is_dead_endpoint_failing()
                and receiver.hanging_count == hanging_count
            ):
                raise WrongResponse("no request was sent to the dead endpoint")
    return Results(build_figures(plan, databases.prefix, databases.suffix, by_name), by_name)


def build_figures(
    plan: Plan, prefix: str, suffix: str, by_name: Mapping[str, list[Round]]
) -> list[Figure]:
    """The figures of these rounds."""

    def rounds(name: str, condition: str = _NO_DEAD) -> list[Round]:
        return by_name.get(f"{prefix}{name}{condition}", [])

    rates = [round_.per_second for round_ in rounds(_BACKLOG)]
    delays = [round_.p50_ms or 0.0 for round_ in rounds(_PACED)]
    at_pace = f"commit to arrival of a webhook, median at {_PER_SECOND}/s"
    results = [
        Figure(f"webhooks that one worker delivers{suffix}", "/s", True, 800, 800, rates),
        Figure(f"{at_pace}{suffix}", "ms", False, 100, 100, delays),
    ]
    for condition, aim in _AIMS.items():
        with_dead = rounds(_BACKLOG, condition)
        slower = compare_rounds(rounds(_BACKLOG)[: len(with_dead)], with_dead)
        later = [
            (with_dead.p50_ms or 0.0) / (alone.p50_ms or 1.0)
            for alone, with_dead in zip(rounds(_PACED), rounds(_PACED, condition), strict=False)
        ]
        dead = f"{condition.removeprefix(', ')} with {plan.dead_deliveries:,} waiting"
        results += [
            Figure(
                f"webhooks/s alone ÷ {dead}{suffix}",
                "",
                False,
                1.5,
                aim,
                slower.by_rate,
                by_cpu=slower.by_cpu,
            ),
            Figure(f"delay {dead} ÷ alone{suffix}", "", False, 1.5, aim, later),
        ]
    return results


class _CpuTime(NamedTuple):
    """CPU time of the service and of its database server."""

    server_s: float
    database_s: float | None

    def since(self, before: "_CpuTime") -> "_CpuTime":
        server_s = self.server_s - before.server_s
        if self.database_s is None or before.database_s is None:
            return _CpuTime(server_s, None)
        return _CpuTime(server_s, self.database_s - before.database_s)

    def each_us(self, count: int) -> tuple[float, float | None]:
        """CPU time per delivery, in microseconds."""
        database_us = None if self.database_s is None else self.database_s / count * 1e6
        return self.server_s / count * 1e6, database_us


class _DeliveryRounds:
    """The rounds of one installation that delivers to the receiver."""

    def __init__(
        self,
        plan: Plan,
        databases: DatabaseSet,
        installation: Installation,
        receiver: ReceiverClient,
    ) -> None:
        self._plan = plan
        self._databases = databases
        self._installation = installation
        self._receiver = receiver

    def run(self, cores: Cores) -> dict[str, Round]:
        """Start the service, measure both rounds, and stop it. Raises WrongResponse."""
        installation, secret = self._installation, self._installation.created.secret
        event_ids = installation.add_events(self._plan.events)
        with processes.service(installation.settings, cores, installation.env) as service:
            rounds = {
                _BACKLOG: self._measure_backlog(service, event_ids),
                _PACED: self._measure_paced(service),
            }
            time.sleep(_QUIET_S)
        self._receiver.take_deliveries(secret, set(), attrgetter("webhook_id"))
        if undelivered := installation.count_undelivered():
            raise WrongResponse(f"{undelivered} received deliveries are not stored as delivered")
        return rounds

    def _measure_backlog(self, service: Service, event_ids: set[str]) -> Round:
        """Deliver the events that wait when the service starts."""
        count = len(event_ids)
        early_count = self._receiver.wait_for(1, _WITHIN_S)
        before = self._read_cpu_time(service)
        self._receiver.wait_for(count, _WITHIN_S)
        cpu = self._read_cpu_time(service).since(before)
        secret = self._installation.created.secret
        deliveries = self._receiver.take_deliveries(secret, event_ids, attrgetter("webhook_id"))
        elapsed_s = (deliveries[-1].at_ns - deliveries[0].at_ns) / 1e9
        cpu_us, database_us = cpu.each_us(max(count - early_count, 1))
        return Round(
            per_second=(count - 1) / elapsed_s,
            cpu_us=cpu_us,
            database_us=database_us,
            server_share=cpu.server_s / elapsed_s,
        )

    def _measure_paced(self, service: Service) -> Round:
        """Create tickets at a fixed rate; the latency is from a response to its delivery."""
        count = int(self._plan.paced_s * _PER_SECOND)
        requests = self._installation.make_posts(count)
        before = self._read_cpu_time(service)
        responses = send_paced(service.port, requests, CREATED, _PER_SECOND)
        self._receiver.wait_for(count, _WITHIN_S)
        cpu = self._read_cpu_time(service).since(before)
        at_ns = {
            msgspec.json.decode(response.body, type=_Created).data["id"]: response.at_ns
            for response in responses
        }
        secret = self._installation.created.secret
        deliveries = self._receiver.take_deliveries(secret, set(at_ns), attrgetter("object_id"))
        delays = sorted(
            (delivery.at_ns - at_ns[delivery.object_id]) / 1e6 for delivery in deliveries
        )
        elapsed_s = (responses[-1].at_ns - responses[0].at_ns) / 1e9
        cpu_us, database_us = cpu.each_us(count)
        return Round(
            per_second=(count - 1) / elapsed_s,
            p50_ms=quantile(delays, 0.5),
            p99_ms=quantile(delays, 0.99),
            cpu_us=cpu_us,
            database_us=database_us,
            server_share=cpu.server_s / elapsed_s,
        )

    def _read_cpu_time(self, service: Service) -> _CpuTime:
        database_s = self._databases.database_s
        return _CpuTime(service.cpu_s(), database_s() if database_s else None)
