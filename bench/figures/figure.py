"""A figure with its bounds, and the results of a run."""

import statistics

import msgspec

from bench.load.rounds import Round

Bounds = tuple[float, float] | tuple[None, None]  # floor and aim
NO_BOUNDS: Bounds = (None, None)


class Figure(msgspec.Struct, frozen=True):
    """A figure: the median of `values`, one for each round.

    floor, aim: its bounds; None for a figure without bounds. reason: why there are no values.
    by_cpu: the same ratios by CPU time; empty if one side is no server process.
    """

    name: str
    unit: str
    higher_is_better: bool
    floor: float | None
    aim: float | None
    values: list[float]
    by_cpu: list[float] = []
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

    def because(self, reason: object) -> "Results":
        """The same, with the reason why figures have no values."""
        figures = [
            each if each.values else msgspec.structs.replace(each, reason=str(reason))
            for each in self.figures
        ]
        return Results(figures, self.rates)


def merge_results(*parts: Results) -> Results:
    """The results of all parts in their order."""
    figures = [figure for part in parts for figure in part.figures]
    return Results(figures, {name: rounds for part in parts for name, rounds in part.rates.items()})
