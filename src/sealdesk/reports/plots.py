"""Plots as numbers for SVG elements, in a box of some width and HEIGHT; no I/O."""

from collections.abc import Sequence
from typing import NamedTuple

WIDTH, HEIGHT = 960, 220
_LEFT, _BOTTOM, _TOP = 44, 22, 8
_MAX_LABELS, _MAX_LONG_LABELS = 8, 4
_YEAR, _DAY = len("2027-"), len("2027-11-29 ")
_LINE_WIDTH, _LINE_HEIGHT = 72, 24


class Bar(NamedTuple):
    """A rectangle, and the number that it shows."""

    x: float
    y: float
    width: float
    height: float
    number: int


class Plot(NamedTuple):
    """Bars of each series, numbers beside the axis with their heights, labels with their places."""

    series: list[list[Bar]]
    ticks: list[tuple[int, float]]
    labels: list[tuple[str, float]]
    width: int
    height: int


def bars(
    series: Sequence[Sequence[int]],
    labels: Sequence[str],
    width: int = WIDTH,
    height: int = HEIGHT,
) -> Plot:
    """Bars side by side, one of each series for each label. width, height: of the box."""
    top = _round_up(max((number for each in series for number in each), default=0))
    foot = height - _BOTTOM
    scale = (foot - _TOP) / top
    step = (width - _LEFT) / max(1, len(labels))
    bar_width = 0.8 * step / max(1, len(series))
    drawn = [
        [
            Bar(
                round(_LEFT + place * step + 0.1 * step + order * bar_width, 2),
                round(foot - number * scale, 2),
                round(bar_width, 2),
                round(number * scale, 2),
                number,
            )
            for place, number in enumerate(each)
        ]
        for order, each in enumerate(series)
    ]
    ticks = [(number, round(foot - number * scale, 2)) for number in _ticks(top)]
    most = _MAX_LONG_LABELS if labels and len(labels[0]) >= _DAY else _MAX_LABELS
    every = -(-len(labels) // most) or 1
    shown = [
        (label, round(_LEFT + (place + 0.5) * step, 2))
        for place, label in enumerate(labels)
        if place % every == 0
    ]
    return Plot(drawn, ticks, shown, width, height)


def short_labels(labels: Sequence[str]) -> list[str]:
    """Days and hours without the year; hours of one day without the day."""
    is_one_day = labels[0][:_DAY] == labels[-1][:_DAY] and len(labels[0]) > _DAY
    return [each[_DAY if is_one_day else _YEAR :] for each in labels]


def line(numbers: Sequence[float | None]) -> list[tuple[float, float]]:
    """The points of a line in a box of 72 by 24. None leaves one out; zeros alone have none."""
    top = max((number for number in numbers if number is not None), default=0)
    if not top:
        return []
    step = _LINE_WIDTH / max(1, len(numbers) - 1)
    return [
        (round(place * step, 1), round(_LINE_HEIGHT - 2 - (_LINE_HEIGHT - 4) * number / top, 1))
        for place, number in enumerate(numbers)
        if number is not None
    ]


def _ticks(top: int) -> list[int]:
    return [0, top] if top % 2 else [0, top // 2, top]


def _round_up(most: int) -> int:
    """The next of 1, 2, 5, 10, 20, 50 and so on."""
    power = 1
    while True:
        for digit in (1, 2, 5):
            if digit * power >= most:
                return digit * power
        power *= 10
