"""What a run has found: figures against their bounds, and rounds of load."""

import statistics
from collections.abc import Iterable

import msgspec

POSTGRES = "PostgreSQL: "  # begins the names of what was driven on it
ON_POSTGRES = ", on PostgreSQL"  # ends those of figures that SQLite has too
# What ends the names of what others than the service did.
BARE = ", bare handler"
USUAL = ", conventional stack"


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


def joined(*parts: Results) -> Results:
    """One after the other."""
    figures = [figure for part in parts for figure in part.figures]
    return Results(figures, {name: rounds for part in parts for name, rounds in part.rates.items()})


def median_round(rounds: list[Round]) -> Round:
    """Each of its values the median of the rounds."""
    medians = {
        name: _median(getattr(round_, name) for round_ in rounds)
        for name in Round.__struct_fields__
    }
    return msgspec.convert(medians, Round)


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None
