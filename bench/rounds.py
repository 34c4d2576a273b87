"""Rounds of load on the real server and the bare handler, one after the other."""

import statistics
from collections.abc import Callable, Sequence

from bench.load import Expected, Load, drive
from bench.plan import Plan
from bench.results import BARE, Round
from bench.servers import Server
from bench.signed import Make

CONNECTIONS = 32
_BATCH = 50
_FIFTHS = 5

Say = Callable[[str], None]


class Rounds:
    """Drives both servers and keeps what came of it, by name."""

    def __init__(self, plan: Plan, bare: Server, real: Server, say: Say) -> None:
        self._plan = plan
        self._bare = bare
        self._real = real
        self._say = say
        self.kept: dict[str, list[Round]] = {}

    def compare(self, name: str, make: Make, expected: Expected) -> list[float]:
        """The real server's rate over the bare handler's, round by round."""
        bare_count = self._count(self._bare, make, expected)
        real_count = self._count(self._real, make, expected)
        bare_name = name + BARE
        for number in range(self._plan.rounds):
            self._say(f"{name}: round {number + 1} of {self._plan.rounds}")
            self._round(bare_name, self._bare, make(bare_count), expected)
            self._round(name, self._real, make(real_count), expected)
        pairs = zip(self.kept[name], self.kept[bare_name], strict=True)
        return [real.per_second / bare.per_second for real, bare in pairs]

    def drive(self, name: str, make: Make, expected: Expected) -> None:
        """One round on the real server."""
        self._say(name)
        requests = make(self._count(self._real, make, expected))
        self._round(name, self._real, requests, expected)

    def in_turns(self, name: str, make: Make, other: Make, expected: Expected) -> list[float]:
        """Median latency over another's on one connection, asked in turns; for each fifth."""
        self._say(name)
        each = self._plan.pairs // _FIFTHS
        batch = min(each, _BATCH)
        ratios = []
        for _ in range(_FIFTHS):
            these: list[float] = []
            those: list[float] = []
            for _ in range(each // batch):
                these += drive(self._real.port, make(batch), expected, 1).latencies_us
                those += drive(self._real.port, other(batch), expected, 1).latencies_us
            ratios.append(statistics.median(these) / statistics.median(those))
        return ratios

    def _count(self, server: Server, make: Make, expected: Expected) -> int:
        """How many requests fill a round, from the rate of a warm-up."""
        rate = drive(server.port, make(self._plan.warm_up), expected, CONNECTIONS).per_second
        return max(int(rate * self._plan.round_s), CONNECTIONS)

    def _round(
        self, name: str, server: Server, requests: Sequence[bytes], expected: Expected
    ) -> None:
        before_s = server.cpu_s()
        load = drive(server.port, requests, expected, CONNECTIONS)
        self.kept.setdefault(name, []).append(_round_of(load, server.cpu_s() - before_s))


def _round_of(load: Load, cpu_s: float) -> Round:
    return Round(
        per_second=load.per_second,
        p50_ms=load.quantile_us(0.5) / 1000,
        p99_ms=load.quantile_us(0.99) / 1000,
        cpu_us=cpu_s / len(load.latencies_us) * 1e6,
        server_share=cpu_s / load.elapsed_s,
        client_share=load.client_cpu_s / load.elapsed_s,
    )
