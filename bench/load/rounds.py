"""Rounds of load on several servers, and the figures that a run yields."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from bench.load.clients import ExpectedResponse, LoadResult, RequestMaker, send_all
from bench.plan import Plan
from bench.servers.processes import Server

POSTGRES_PREFIX = "PostgreSQL: "  # begins the names of rounds on PostgreSQL
POSTGRES_SUFFIX = ", on PostgreSQL"  # ends the names of figures that exist for SQLite too
# End the names of rounds on servers other than the service.
BARE_SUFFIX = ", bare handler"
CONVENTIONAL_SUFFIX = ", conventional stack"
CONNECTIONS = 32
_BATCH_REQUESTS = 50
_PARTS = 5
ShowProgress = Callable[[str], None]


class Round(msgspec.Struct, frozen=True):
    """One round of load; a value that was not measured is None.

    cpu_us, database_us: CPU time per request of the server and of its database server.
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


class Figure(msgspec.Struct, frozen=True):
    """A figure: the median of `values`, one for each round.

    floor, aim: its bounds; None for a figure without bounds. reason: why there are no values.
    """

    name: str
    unit: str
    higher_is_better: bool
    floor: float | None
    aim: float | None
    values: list[float]
    reason: str = ""

    @property
    def value(self) -> float | None:
        return statistics.median(self.values) if self.values else None

    @property
    def verdict(self) -> str:
        """`aim`, `floor` (reached, but not the aim), `missed`, `not measured`; empty: no bounds."""
        if self.value is None:
            return "not measured"
        if self.floor is None or self.aim is None:
            return ""
        if self._reaches(self.value, self.aim):
            return "aim"
        return "floor" if self._reaches(self.value, self.floor) else "missed"

    def _reaches(self, value: float, bound: float) -> bool:
        return value >= bound if self.higher_is_better else value <= bound


class Results(msgspec.Struct, frozen=True):
    """All figures, and all rounds by name."""

    figures: list[Figure]
    rates: dict[str, list[Round]]


def merge_results(*parts: Results) -> Results:
    """The results of all parts in their order."""
    figures = [figure for part in parts for figure in part.figures]
    return Results(figures, {name: rounds for part in parts for name, rounds in part.rates.items()})


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
        self._plan = plan
        self._show_progress = show_progress
        self._database_s = database_s
        self.by_name: dict[str, list[Round]] = {}

    def run_alternately(self, title: str, runs: Mapping[str, RunRound]) -> None:
        """Run each of these once per round, in turn."""
        for number in range(self._plan.rounds):
            self._show_progress(f"{title}: round {number + 1} of {self._plan.rounds}")
            for name, run_round in runs.items():
                self.by_name.setdefault(name, []).append(run_round())

    def compute_ratios(self, name: str, other: str) -> list[float]:
        """The rate of one over the rate of the other for each round; empty without rounds."""
        pairs = zip(self.by_name.get(name, ()), self.by_name.get(other, ()), strict=True)
        return [one.per_second / two.per_second for one, two in pairs]

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

        wait_until_done: waits for background work of the server that belongs to the round.
        """
        warm = send_all(server.port, make(self._plan.warm_up), expected, connections)
        count = max(int(warm.per_second * self._plan.round_s), connections)
        return lambda: self._round(server, make(count), expected, wait_until_done, connections)

    def run_once(
        self, name: str, server: Server, make: RequestMaker, expected: ExpectedResponse
    ) -> None:
        """Run one round."""
        self._show_progress(name)
        self.by_name.setdefault(name, []).append(self.prepare(server, make, expected)())

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
        make, other = request_makers
        each = self._plan.pairs // _PARTS
        batch = min(each, _BATCH_REQUESTS)
        compute_ratios = []
        for _ in range(_PARTS):
            first_latencies_us: list[float] = []
            other_latencies_us: list[float] = []
            for _ in range(each // batch):
                first_latencies_us += send_all(server.port, make(batch), expected, 1).latencies_us
                other_latencies_us += send_all(server.port, other(batch), expected, 1).latencies_us
            compute_ratios.append(
                statistics.median(first_latencies_us) / statistics.median(other_latencies_us)
            )
        return compute_ratios

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
        load = send_all(server.port, requests, expected, connections)
        wait_until_done()
        cpu_s = server.cpu_s() - before_s
        if self._database_s is None:
            return _build_round(load, cpu_s, None)
        return _build_round(load, cpu_s, self._database_s() - database_before_s)


def _build_round(load: LoadResult, cpu_s: float, database_s: float | None) -> Round:
    count = len(load.latencies_us)
    return Round(
        per_second=load.per_second,
        p50_ms=load.quantile_us(0.5) / 1000,
        p99_ms=load.quantile_us(0.99) / 1000,
        cpu_us=cpu_s / count * 1e6,
        database_us=None if database_s is None else database_s / count * 1e6,
        server_share=cpu_s / load.elapsed_s,
        client_share=load.client_cpu_s / load.elapsed_s,
    )
