"""Rounds of load on several servers, one after the other."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from bench.load import Expected, Load, drive
from bench.plan import Plan
from bench.results import Round
from bench.servers import Server
from bench.signed import Make

CONNECTIONS = 32
_BATCH = 50
_FIFTHS = 5

Say = Callable[[str], None]
Play = Callable[[], Round]


class Driven(Protocol):
    """What is driven."""

    @property
    def port(self) -> int | Sequence[int]: ...

    def cpu_s(self) -> float: ...


class Rounds:
    """Drives servers and keeps what came of it, by name."""

    def __init__(self, plan: Plan, say: Say, database_s: Callable[[], float] | None = None) -> None:
        """database_s: the time that the servers' database server has computed."""
        self._plan = plan
        self._say = say
        self._database_s = database_s
        self.kept: dict[str, list[Round]] = {}

    def take_turns(self, title: str, players: Mapping[str, Play]) -> None:
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
        server: Driven,
        make: Make,
        expected: Expected,
        settle: Callable[[], None] = lambda: None,
        *,
        connections: int = CONNECTIONS,
    ) -> Play:
        """A player that drives a server for as long as a round takes.

        settle: waits for what the server still does then, which belongs to the round.
        """
        warm = drive(server.port, make(self._plan.warm_up), expected, connections)
        count = max(int(warm.per_second * self._plan.round_s), connections)
        return lambda: self._round(server, make(count), expected, settle, connections)

    def drive(self, name: str, server: Server, make: Make, expected: Expected) -> None:
        """One round."""
        self._say(name)
        self.kept.setdefault(name, []).append(self.load(server, make, expected)())

    def in_turns(
        self, name: str, server: Server, makes: tuple[Make, Make], expected: Expected
    ) -> list[float]:
        """One's median latency over the other's on one connection, asked in turns; of fifths."""
        self._say(name)
        make, other = makes
        each = self._plan.pairs // _FIFTHS
        batch = min(each, _BATCH)
        ratios = []
        for _ in range(_FIFTHS):
            these: list[float] = []
            those: list[float] = []
            for _ in range(each // batch):
                these += drive(server.port, make(batch), expected, 1).latencies_us
                those += drive(server.port, other(batch), expected, 1).latencies_us
            ratios.append(statistics.median(these) / statistics.median(those))
        return ratios

    def _round(
        self,
        server: Driven,
        requests: list[bytes],
        expected: Expected,
        settle: Callable[[], None],
        connections: int,
    ) -> Round:
        before_s = server.cpu_s()
        database_before_s = self._database_s() if self._database_s else 0.0
        load = drive(server.port, requests, expected, connections)
        settle()
        cpu_s = server.cpu_s() - before_s
        if self._database_s is None:
            return _round_of(load, cpu_s, None)
        return _round_of(load, cpu_s, self._database_s() - database_before_s)


def _round_of(load: Load, cpu_s: float, database_s: float | None) -> Round:
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
