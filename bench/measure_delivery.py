"""How fast webhooks are delivered, also beside an endpoint that is dead."""

import time
from collections.abc import Mapping
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from bench import servers
from bench.clients import WrongResponse, quantile, send_paced
from bench.databases import DatabaseSet
from bench.plan import Plan
from bench.requests import CREATED
from bench.rounds import Figure, Results, Round, ShowProgress
from bench.servers import Cores, Service
from bench.webhook_installation import Installation, ReceiverClient

_PER_SECOND = 100
_WITHIN_S = 60.0
_QUIET_S = 0.2
_NO_DEAD = ""
_REFUSES, _HANGS = ", beside a dead one that refuses", ", beside a dead one that hangs"
_BACKLOG, _PACED = "deliver webhooks that wait", f"deliver webhooks at {_PER_SECOND}/s"


class _Created(msgspec.Struct):
    """The answer to a new ticket."""

    data: dict[str, Any]


def measure(
    plan: Plan, ground: DatabaseSet, cores: Cores, arrivals: ReceiverClient, say: ShowProgress
) -> Results:
    """Deliver what waits, then what happens: alone, and beside a dead endpoint with much waiting.

    Raises WrongResponse.
    """
    say(f"{ground.prefix}{plan.dead_deliveries:,} deliveries for a dead endpoint")
    alone, burdened = (Installation(place, arrivals.url) for place in ground.small)
    burdened.add_dead(plan.dead_deliveries)
    dead_urls = {_NO_DEAD: "", _REFUSES: arrivals.refusing_url, _HANGS: arrivals.hanging_url}
    kept: dict[str, list[Round]] = {}
    for number in range(1, plan.webhook_rounds + 1):
        for beside, dead_url in dead_urls.items():
            if beside == _HANGS and number > 1:
                continue  # requests that hang take seconds to be given up at the end
            say(f"{ground.prefix}webhooks{beside}: round {number} of {plan.webhook_rounds}")
            installation = burdened if dead_url else alone
            if dead_url:
                installation.turn_dead(dead_url)
            held = arrivals.held
            delivery = _DeliveryRounds(plan, ground, installation, arrivals)
            for name, round_ in delivery.play(cores).items():
                kept.setdefault(f"{ground.prefix}{name}{beside}", []).append(round_)
            if dead_url and not installation.is_dead_known() and arrivals.held == held:
                raise WrongResponse("nothing was sent to the dead endpoint")
    return Results(build_figures(plan, ground.prefix, ground.suffix, kept), kept)


def build_figures(
    plan: Plan, prefix: str, suffix: str, kept: Mapping[str, list[Round]], lacking: str = ""
) -> list[Figure]:
    """What the rounds say. lacking: why there are none."""

    def rounds(name: str, beside: str = _NO_DEAD) -> list[Round]:
        return kept.get(f"{prefix}{name}{beside}", [])

    rates = [round_.per_second for round_ in rounds(_BACKLOG)]
    delays = [round_.p50_ms or 0.0 for round_ in rounds(_PACED)]
    at_pace = f"commit to arrival of a webhook, median at {_PER_SECOND}/s"
    found = [
        Figure(f"webhooks that one worker delivers{suffix}", "/s", True, 800, 800, rates, lacking),
        Figure(f"{at_pace}{suffix}", "ms", False, 100, 100, delays, lacking),
    ]
    for beside in (_REFUSES, _HANGS):
        slower = [
            alone.per_second / burdened.per_second
            for alone, burdened in zip(rounds(_BACKLOG), rounds(_BACKLOG, beside), strict=False)
        ]
        later = [
            (burdened.p50_ms or 0.0) / (alone.p50_ms or 1.0)
            for alone, burdened in zip(rounds(_PACED), rounds(_PACED, beside), strict=False)
        ]
        dead = f"{beside.removeprefix(', ')} with {plan.dead_deliveries:,} waiting"
        found += [
            Figure(f"webhooks/s alone ÷ {dead}{suffix}", "", False, 1.5, 1, slower, lacking),
            Figure(f"delay {dead} ÷ alone{suffix}", "", False, 1.5, 1, later, lacking),
        ]
    return found


class _CpuTime(NamedTuple):
    """What was computed meanwhile, in seconds."""

    server_s: float
    database_s: float | None

    def since(self, before: "_CpuTime") -> "_CpuTime":
        server_s = self.server_s - before.server_s
        if self.database_s is None or before.database_s is None:
            return _CpuTime(server_s, None)
        return _CpuTime(server_s, self.database_s - before.database_s)

    def each_us(self, count: int) -> tuple[float, float | None]:
        """For each of so many, in microseconds."""
        database_us = None if self.database_s is None else self.database_s / count * 1e6
        return self.server_s / count * 1e6, database_us


class _DeliveryRounds:
    """One installation that delivers to the receiver."""

    def __init__(
        self, plan: Plan, ground: DatabaseSet, installation: Installation, arrivals: ReceiverClient
    ) -> None:
        self._plan = plan
        self._ground = ground
        self._installation = installation
        self._arrivals = arrivals

    def play(self, cores: Cores) -> dict[str, Round]:
        """Everything from the start to the end of the service. Raises WrongResponse."""
        installation, secret = self._installation, self._installation.made.secret
        event_ids = installation.add_events(self._plan.events)
        with servers.service(installation.settings, cores, installation.env) as running:
            rounds = {
                _BACKLOG: self._backlog(running, event_ids),
                _PACED: self._paced(running),
            }
            time.sleep(_QUIET_S)
        self._arrivals.take(secret, set(), attrgetter("webhook_id"))
        if undelivered := installation.undelivered():
            raise WrongResponse(f"{undelivered} deliveries have arrived and are not noted")
        return rounds

    def _backlog(self, running: Service, event_ids: set[str]) -> Round:
        """What waited for the start."""
        count = len(event_ids)
        come = self._arrivals.wait_for(1, _WITHIN_S)
        before = self._computed(running)
        self._arrivals.wait_for(count, _WITHIN_S)
        spent = self._computed(running).since(before)
        secret = self._installation.made.secret
        taken = self._arrivals.take(secret, event_ids, attrgetter("webhook_id"))
        elapsed_s = (taken[-1].at_ns - taken[0].at_ns) / 1e9
        cpu_us, database_us = spent.each_us(max(count - come, 1))
        return Round(
            per_second=(count - 1) / elapsed_s,
            cpu_us=cpu_us,
            database_us=database_us,
            server_share=spent.server_s / elapsed_s,
        )

    def _paced(self, running: Service) -> Round:
        """What happens meanwhile, at a fixed pace; from its answer to its arrival."""
        count = int(self._plan.paced_s * _PER_SECOND)
        requests = self._installation.tickets(count)
        before = self._computed(running)
        answers = send_paced(running.port, requests, CREATED, _PER_SECOND)
        self._arrivals.wait_for(count, _WITHIN_S)
        spent = self._computed(running).since(before)
        at_ns = {
            msgspec.json.decode(answer.body, type=_Created).data["id"]: answer.at_ns
            for answer in answers
        }
        secret = self._installation.made.secret
        taken = self._arrivals.take(secret, set(at_ns), attrgetter("object_id"))
        delays = sorted((arrival.at_ns - at_ns[arrival.object_id]) / 1e6 for arrival in taken)
        elapsed_s = (answers[-1].at_ns - answers[0].at_ns) / 1e9
        cpu_us, database_us = spent.each_us(count)
        return Round(
            per_second=(count - 1) / elapsed_s,
            p50_ms=quantile(delays, 0.5),
            p99_ms=quantile(delays, 0.99),
            cpu_us=cpu_us,
            database_us=database_us,
            server_share=spent.server_s / elapsed_s,
        )

    def _computed(self, running: Service) -> _CpuTime:
        database_s = self._ground.database_s
        return _CpuTime(running.cpu_s(), database_s() if database_s else None)
