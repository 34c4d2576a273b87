"""The bar chart of a key's usage; no IO."""

import msgspec

from sealdesk.telemetry.counters import HOUR_US

DAY_US = 24 * HOUR_US
WIDTH, HEIGHT = 720, 120
KINDS = ("good", "refused", "slow", "failed")  # of responses, from the bottom up
_GAP = 2


class Span(msgspec.Struct, frozen=True):
    """A time range of equal steps, the current one included."""

    name: str
    step_us: int
    steps: int

    def since_us(self, now_us: int) -> int:
        """The start of its first step."""
        return now_us // self.step_us * self.step_us - (self.steps - 1) * self.step_us


DAY = Span("day", HOUR_US, 24)
FORTNIGHT = Span("fortnight", DAY_US, 14)
MONTH = Span("month", DAY_US, 30)


class Bar(msgspec.Struct):
    """One step: its counts by kind of response, and its rectangles as (kind, y, height)."""

    at: int
    x: float
    width: float
    counts: dict[str, int]
    parts: list[tuple[str, float, float]]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


class Plot(msgspec.Struct, frozen=True):
    """The bars of a span. totals: by kind. statuses: by status."""

    bars: list[Bar]
    totals: dict[str, int]
    statuses: dict[str, int]
    highest: int

    @property
    def total(self) -> int:
        return sum(self.totals.values())


def kind_of(status: str) -> str:
    """The kind of a response status: good, slow (429), refused or failed."""
    if status == "429":
        return "slow"
    return {"4": "refused", "5": "failed"}.get(status[:1], "good")


def plot(rows: list[tuple[int, str, int]], span: Span, now_us: int) -> Plot:
    """The plot of (start of the step, status, count)."""
    since, step_width = span.since_us(now_us), WIDTH / span.steps
    bars = [
        Bar(
            since + n * span.step_us, n * step_width, step_width - _GAP, dict.fromkeys(KINDS, 0), []
        )
        for n in range(span.steps)
    ]
    totals, statuses = dict.fromkeys(KINDS, 0), dict[str, int]()
    for at, status, count in rows:
        place = (at - since) // span.step_us
        if 0 <= place < span.steps:
            bars[place].counts[kind_of(status)] += count
            totals[kind_of(status)] += count
            statuses[status] = statuses.get(status, 0) + count
    max_count = max(bar.total for bar in bars)
    for bar in bars:
        bar.parts = _stack_parts(bar.counts, max_count)
    return Plot(bars, totals, dict(sorted(statuses.items())), max_count)


def _stack_parts(counts: dict[str, int], max_count: int) -> list[tuple[str, float, float]]:
    """The rectangles from the bottom up; each kind that occurs is at least 2 units high."""
    parts, y = [], float(HEIGHT)
    for kind, count in counts.items():
        if count:
            height = max(round(count / max_count * (HEIGHT - 8), 2), 2.0)
            y = round(y - height, 2)
            parts.append((kind, y, height))
    return parts
