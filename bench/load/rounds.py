"""Rounds of load on several servers."""

import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from bench.load.clients import (
    ExpectedResponse,
    LoadResult,
    RequestMaker,
    WrongResponse,
    send_all,
)
from bench.plan import Plan
from bench.servers.processes import HttpProtocol, Server

POSTGRES_PREFIX = "PostgreSQL: "  # begins the names of rounds on PostgreSQL
POSTGRES_SUFFIX = ", on PostgreSQL"  # ends the names of figures that exist for SQLite too
# End the names of rounds on servers other than the service.
BARE_SUFFIX = ", bare handler"
UVICORN_SUFFIX = ", bare handler on uvicorn"
CONVENTIONAL_SUFFIX = ", conventional stack"
HELPDESK_SUFFIX = ", django-helpdesk"
TIGHT_SUFFIX = ", tight loop"
# The HTTP protocols of the bare handlers, by what ends the names of their rounds.
BARE_PROTOCOLS: dict[str, HttpProtocol] = {UVICORN_SUFFIX: "uvicorn", BARE_SUFFIX: "sealdesk"}
CONNECTIONS = 32
_BATCH_REQUESTS = 50
_PARTS = 5
_WARM_UP_PARTS = 10
# An idle server uses at most this share of a core: it asks its database for new events. The clock
# of CPU time ticks every 10 ms.
_IDLE_SHARE = 0.05
_IDLE_WITHIN_S = 120.0
ShowProgress = Callable[[str], None]


class Round(msgspec.Struct, frozen=True):
    """One round of load; a value that was not measured is None.

    cpu_us, database_us: CPU time per request of the server and of its database server, from the
    first request until both are idle again, so that it includes what follows a write.
    """

    per_second: float
    p50_ms: float | None = None
    p99_ms: float | None = None
    cpu_us: float | None = None
    database_us: float | None = None
    server_share: float | None = None
    client_share: float | None = None

    @property
    def tail(self) -> float:
        """p99 ÷ p50."""
        return (self.p99_ms or 0.0) / (self.p50_ms or 1.0)


RunRound = Callable[[], Round]


def compute_median_round(rounds: list[Round]) -> Round:
    """A round whose values are the medians of all rounds."""
    medians = {
        name: _median(getattr(round_, name) for round_ in rounds)
        for name in Round.__struct_fields__
    }
    return msgspec.convert(medians, Round)


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


class Comparison(NamedTuple):
    """One side over the other, for each round. by_cpu: empty if it was not measured."""

    by_rate: list[float]
    by_cpu: list[float]


def compare_rounds(rounds: Sequence[Round], others: Sequence[Round]) -> Comparison:
    """The rates of rounds over those of others; empty without rounds.

    By CPU time it is the time of the others over that of the rounds, so that more is better too.
    """
    pairs = list(zip(rounds, others, strict=True))
    by_rate = [one.per_second / other.per_second for one, other in pairs]
    by_cpu = [
        other.cpu_us / one.cpu_us for one, other in pairs if one.cpu_us and other.cpu_us is not None
    ]
    return Comparison(by_rate, by_cpu)


class LoadTarget(Protocol):
    """What load is sent to: a server process or several."""

    @property
    def port(self) -> int | Sequence[int]: ...

    def cpu_s(self) -> float: ...


class Rounds:
    """Sends load to servers, and stores the rounds by name."""

    def __init__(
        self, plan: Plan, show_progress: ShowProgress, database_s: Callable[[], float] | None = None
    ) -> None:
        """database_s: the CPU time of the database server so far."""
        self.plan = plan
        self._show_progress = show_progress
        self._database_s = database_s
        self._targets: list[LoadTarget] = []
        self._has_written = False
        self.by_name: dict[str, list[Round]] = {}

    def run_alternately(self, title: str, runs: Mapping[str, RunRound]) -> None:
        """Run each of these once per round, in turn, when all servers are idle."""
        for number in range(self.plan.rounds):
            self._show_progress(f"{title}: round {number + 1} of {self.plan.rounds}")
            for name, run_round in runs.items():
                self.wait_until_idle()
                self.by_name.setdefault(name, []).append(run_round())

    def compare(self, name: str, other: str) -> Comparison:
        """The rounds of these names; empty without rounds of both."""
        others = self.by_name.get(other, ())
        return compare_rounds(self.by_name.get(name, ()) if others else (), others)

    def wait_until_idle(self) -> None:
        """Wait until the servers have finished what earlier writes left. Raises WrongResponse."""
        deadline = time.monotonic() + _IDLE_WITHIN_S
        share = _IDLE_SHARE * (len(self._targets) + 1)
        while self._has_written:
            before_s, started = self._cpu_s_of_all(), time.monotonic()
            time.sleep(self.plan.idle_s)
            elapsed_s = time.monotonic() - started
            self._has_written = self._cpu_s_of_all() - before_s > share * elapsed_s
            if time.monotonic() > deadline:
                raise WrongResponse(f"the servers are not idle within {_IDLE_WITHIN_S:g} s")

    def _cpu_s_of_all(self) -> float:
        database_s = self._database_s() if self._database_s else 0.0
        return database_s + sum(target.cpu_s() for target in self._targets)

    def prepare(
        self,
        server: LoadTarget,
        make: RequestMaker,
        expected: ExpectedResponse,
        wait_until_done: Callable[[], None] = lambda: None,
        *,
        connections: int = CONNECTIONS,
    ) -> RunRound:
        """Warm up a server, and return a function that runs one round on it.

        wait_until_done: waits for background work of the server, whose time belongs to the round.
        """
        per_second = self._warm_up(server, make, expected, connections)
        count = max(int(per_second * self.plan.round_s), connections)
        return lambda: self._round(server, make(count), expected, wait_until_done, connections)

    def prepare_each(
        self,
        servers: Mapping[str, LoadTarget],
        name: str,
        make: RequestMaker,
        expected: ExpectedResponse,
    ) -> dict[str, RunRound]:
        """`prepare` for each of these servers, by what ends the names of their rounds."""
        return {
            name + suffix: self.prepare(server, make, expected)
            for suffix, server in servers.items()
        }

    def _warm_up(
        self, server: LoadTarget, make: RequestMaker, expected: ExpectedResponse, connections: int
    ) -> float:
        """The requests per second, of all requests or as many as fit into the time of a round."""
        each = max(self.plan.warm_up // _WARM_UP_PARTS, connections)
        count, elapsed_s = 0, 0.0
        while count < self.plan.warm_up and elapsed_s <= self.plan.round_s:
            elapsed_s += self.send(server, make(each), expected, connections).elapsed_s
            count += each
        return count / elapsed_s

    def send(
        self,
        server: LoadTarget,
        requests: list[bytes],
        expected: ExpectedResponse,
        connections: int = CONNECTIONS,
    ) -> LoadResult:
        """Send all requests, also outside of a round. Raises WrongResponse."""
        if server not in self._targets:
            self._targets.append(server)
        self._has_written |= not requests[0].startswith(b"GET ")
        return send_all(server.port, requests, expected, connections)

    def run_gets(
        self, title: str, server: Server, gets: Mapping[str, tuple[RequestMaker, ExpectedResponse]]
    ) -> None:
        """Run rounds of these requests, by name, in turn on one connection."""
        runs = {
            name: self.prepare(server, make, expected, connections=1)
            for name, (make, expected) in gets.items()
        }
        self.run_alternately(title, runs)

    def run_once(
        self, name: str, server: Server, make: RequestMaker, expected: ExpectedResponse
    ) -> None:
        """Run one round."""
        self._show_progress(name)
        run_round = self.prepare(server, make, expected)
        self.wait_until_idle()
        self.by_name.setdefault(name, []).append(run_round())

    def compare_latencies(
        self,
        name: str,
        server: Server,
        request_makers: tuple[RequestMaker, RequestMaker],
        expected: ExpectedResponse,
    ) -> list[float]:
        """The median latency of one request over that of the other, on one connection.

        Both are sent alternately in batches. Gives one ratio for each fifth of the requests.
        """
        self._show_progress(name)
        self.wait_until_idle()
        make, other = request_makers
        each = self.plan.pairs // _PARTS
        batch = min(each, _BATCH_REQUESTS)
        ratios = []
        for _ in range(_PARTS):
            first_latencies_us: list[float] = []
            other_latencies_us: list[float] = []
            for _ in range(each // batch):
                first_latencies_us += send_all(server.port, make(batch), expected, 1).latencies_us
                other_latencies_us += send_all(server.port, other(batch), expected, 1).latencies_us
            ratios.append(
                statistics.median(first_latencies_us) / statistics.median(other_latencies_us)
            )
        return ratios

    def _round(
        self,
        server: LoadTarget,
        requests: list[bytes],
        expected: ExpectedResponse,
        wait_until_done: Callable[[], None],
        connections: int,
    ) -> Round:
        before_s = server.cpu_s()
        database_before_s = self._database_s() if self._database_s else 0.0
        load = self.send(server, requests, expected, connections)
        sent = time.perf_counter()
        wait_until_done()
        elapsed_s = load.elapsed_s + time.perf_counter() - sent
        share = (server.cpu_s() - before_s) / elapsed_s
        self.wait_until_idle()
        cpu_s = server.cpu_s() - before_s
        database_s = self._database_s() - database_before_s if self._database_s else None
        return _build_round(load, elapsed_s, share, cpu_s, database_s)


def _build_round(
    load: LoadResult, elapsed_s: float, share: float, cpu_s: float, database_s: float | None
) -> Round:
    count = len(load.latencies_us)
    return Round(
        per_second=count / elapsed_s,
        p50_ms=load.quantile_us(0.5) / 1000,
        p99_ms=load.quantile_us(0.99) / 1000,
        cpu_us=cpu_s / count * 1e6,
        database_us=None if database_s is None else database_s / count * 1e6,
        server_share=share,
        client_share=load.client_cpu_s / elapsed_s,
    )
