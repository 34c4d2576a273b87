"""The figures of a scenario, by name, and the targets that they must meet."""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Figures = Mapping[str, Any]
# Reports progress: progress(done, of).
Progress = Callable[[int, int], None]
_MEETS = {"≤": operator.le, "=": operator.eq, "≥": operator.ge}


class Target(NamedTuple):
    """A figure and its bound. within: the bound beside other tests, on a busy machine."""

    figure: str
    relation: str
    bound: float
    within: float | None = None

    def is_met(self, figures: Figures, *, is_short: bool) -> bool:
        bound = self.bound if self.within is None or not is_short else self.within
        found = figures[self.figure]
        values = found if isinstance(found, list) else [found]
        return all(_MEETS[self.relation](value, bound) for value in values)

    def __str__(self) -> str:
        return f"{self.relation} {self.bound:g}"


def missed_targets(
    figures: Figures, targets: Sequence[Target], *, is_short: bool = True
) -> list[str]:
    """The targets that were missed, as text."""
    return [
        f"{target.figure} = {figures[target.figure]}, must be {target}"
        for target in targets
        if not target.is_met(figures, is_short=is_short)
    ]


def no_progress(done: int, of: int) -> None:
    """Report nothing."""
