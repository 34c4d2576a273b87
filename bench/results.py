"""What a run has found: figures against their bounds, and rounds of load."""

import statistics

import msgspec

BARE = ", bare handler"  # ends the name of what the bare handler did


class Round(msgspec.Struct, frozen=True):
    """One round of load. cpu_us: what the server computed for each request."""

    per_second: float
    p50_ms: float
    p99_ms: float
    cpu_us: float
    server_share: float
    client_share: float


class Figure(msgspec.Struct, frozen=True):
    """A figure with bounds. values: of each round; the figure is their median."""

    name: str
    unit: str
    is_least: bool
    floor: float
    aim: float
    values: list[float]

    @property
    def value(self) -> float:
        return statistics.median(self.values)

    @property
    def verdict(self) -> str:
        """`aim`, `floor` (met, but not the aim) or `missed`."""
        if self._reaches(self.aim):
            return "aim"
        return "floor" if self._reaches(self.floor) else "missed"

    def _reaches(self, bound: float) -> bool:
        return self.value >= bound if self.is_least else self.value <= bound


class Results(msgspec.Struct, frozen=True):
    """All figures, and the rounds of everything that was driven, by its name."""

    figures: list[Figure]
    rates: dict[str, list[Round]]


def median_round(rounds: list[Round]) -> Round:
    """Each of its values the median of the rounds."""
    return Round(
        *(
            statistics.median(getattr(round_, name) for round_ in rounds)
            for name in Round.__struct_fields__
        )
    )
