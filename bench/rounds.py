"""Rounds of load on several servers, and the figures that a run yields."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from bench.clients import ExpectedResponse, LoadResult, RequestMaker, send_all
from bench.plan import Plan
from bench.servers import Server

POSTGRES_PREFIX = "PostgreSQL: "  # begins the names of what was driven on it
POSTGRES_SUFFIX = ", on PostgreSQL"  # ends those of figures that SQLite has too
# What ends the names of what others than the service did.
BARE_SUFFIX = ", bare handler"
CONVENTIONAL_SUFFIX = ", conventional stack"
CONNECTIONS = 32
_BATCH_REQUESTS = 50
_PARTS = 5
ShowProgress = Callable[[str], None]


class Round(msgspec.Struct, frozen=True):
    """One round of load; None is what was not measured.

    cpu_us: what the server computed for each request. database_us: what its database server did.
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
        """How much longer the slowest of a hundred take than the middle one."""
        return (self.p99_ms or 0.0) / (self.p50_ms or 1.0)


RunRound = Callable[[], Round]


class Figure(msgspec.Struct, frozen=True):
    """A figure, with bounds or beside one that has them. values: of each round.

    The figure is their median. lacking: why there are none.
    """

    name: str
    unit: str
    is_least: bool
    floor: float | None
    aim: float | None
    values: list[float]
    lacking: str = ""

    @property
    def value(self) -> float | None:
        return statistics.median(self.values) if self.values else None

    @property
    def verdict(self) -> str:
        """`aim`, `floor` (met, but not the aim), `missed`, `not measured`; empty: no bounds."""
        if self.value is None:
            return "not measured"
        if self.floor is None or self.aim is None:
            return ""
        if self._reaches(self.value, self.aim):
            return "aim"
        return "floor" if self._reaches(self.value, self.floor) else "missed"

    def _reaches(self, value: float, bound: float) -> bool:
        return value >= bound if self.is_least else value <= bound


class Results(msgspec.Struct, frozen=True):
    """All figures, and the rounds of everything that was driven, by its name."""

    figures: list[Figure]
    rates: dict[str, list[Round]]


def merge_results(*parts: Results) -> Results:
    """One after the other."""
    figures = [figure for part in parts for figure in part.figures]
    return Results(figures, {name: rounds for part in parts for name, rounds in part.rates.items()})


def find_median_round(rounds: list[Round]) -> Round:
    """Each of its values the median of the rounds."""
    medians = {
        name: _median(getattr(round_, name) for round_ in rounds)
        for name in Round.__struct_fields__
    }
    return msgspec.convert(medians, Round)


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


class LoadTarget(Protocol):
    """What is driven."""

    @property
    def port(self) -> int | Sequence[int]: ...

    def cpu_s(self) -> float: ...


class Rounds:
    """Drives servers and keeps what came of it, by name."""

    def __init__(
        self, plan: Plan, say: ShowProgress, database_s: Callable[[], float] | None = None
    ) -> None:
        """database_s: the time that the servers' database server has computed."""
        self._plan = plan
        self._say = say
        self._database_s = database_s
        self.kept: dict[str, list[Round]] = {}

    def take_turns(self, title: str, players: Mapping[str, RunRound]) -> None:
        """Everybody once in every round; kept by the players' names."""
        for number in range(self._plan.rounds):
            self._say(f"{title}: round {number + 1} of {self._plan.rounds}")
            for name, play in players.items():
                self.kept.setdefault(name, []).append(play())

    def ratios(self, name: str, other: str) -> list[float]:
        """One player's rate over another's, round by round; empty when they did not play."""
        pairs = zip(self.kept.get(name, ()), self.kept.get(other, ()), strict=True)
        return [one.per_second / two.per_second for one, two in pairs]

    def load(
        self,
        server: LoadTarget,
        make: RequestMaker,
        expected: ExpectedResponse,
        settle: Callable[[], None] = lambda: None,
        *,
        connections: int = CONNECTIONS,
    ) -> RunRound:
        """A player that drives a server for as long as a round takes.

        settle: waits for what the server still does then, which belongs to the round.
        """
        warm = send_all(server.port, make(self._plan.warm_up), expected, connections)
        count = max(int(warm.per_second * self._plan.round_s), connections)
        return lambda: self._round(server, make(count), expected, settle, connections)

    def run_once(
        self, name: str, server: Server, make: RequestMaker, expected: ExpectedResponse
    ) -> None:
        """One round."""
        self._say(name)
        self.kept.setdefault(name, []).append(self.load(server, make, expected)())

    def in_turns(
        self,
        name: str,
        server: Server,
        makes: tuple[RequestMaker, RequestMaker],
        expected: ExpectedResponse,
    ) -> list[float]:
        """One's median latency over the other's on one connection, asked in turns; of fifths."""
        self._say(name)
        make, other = makes
        each = self._plan.pairs // _PARTS
        batch = min(each, _BATCH_REQUESTS)
        ratios = []
        for _ in range(_PARTS):
            these: list[float] = []
            those: list[float] = []
            for _ in range(each // batch):
                these += send_all(server.port, make(batch), expected, 1).latencies_us
                those += send_all(server.port, other(batch), expected, 1).latencies_us
            ratios.append(statistics.median(these) / statistics.median(those))
        return ratios

    def _round(
        self,
        server: LoadTarget,
        requests: list[bytes],
        expected: ExpectedResponse,
        settle: Callable[[], None],
        connections: int,
    ) -> Round:
        before_s = server.cpu_s()
        database_before_s = self._database_s() if self._database_s else 0.0
        load = send_all(server.port, requests, expected, connections)
        settle()
        cpu_s = server.cpu_s() - before_s
        if self._database_s is None:
            return _to_round(load, cpu_s, None)
        return _to_round(load, cpu_s, self._database_s() - database_before_s)


def _to_round(load: LoadResult, cpu_s: float, database_s: float | None) -> Round:
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
