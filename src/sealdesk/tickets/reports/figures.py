"""Figures of a report from its sums, in pieces that let other requests run."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from sealdesk.tickets.reports import rules
from sealdesk.tickets.reports.responses import ReportFigures
from sealdesk.tickets.reports.types import Sums

_SECOND_US = 1_000_000
_ROWS_AT_ONCE = 100  # 1 ms of the event loop
_decode = msgspec.json.Decoder(dict[str, int]).decode


class Figures(NamedTuple):
    """The numbers of a part of a report. Durations in microseconds, None without any; *_work_* are
    those within business hours.

    promises: of SLA policies, kept or missed, of which `missed` were. ratings: of customers;
    satisfied are 4 and 5.
    """

    created: int
    answered: int
    resolved: int
    reopened: int
    answer_us: int | None
    answer_p90_us: int | None
    resolution_us: int | None
    resolution_p90_us: int | None
    answer_work_us: int | None
    answer_work_p90_us: int | None
    resolution_work_us: int | None
    resolution_work_p90_us: int | None
    promises: int
    missed: int
    kept_percent: int | None
    ratings: int
    satisfied_percent: int | None


def figures_of(sums: Sums) -> Figures:
    answers = rules.numbers(sums, rules.ANSWER)
    resolutions = rules.numbers(sums, rules.RESOLUTION)
    answers_work = rules.numbers(sums, rules.ANSWER.upper())
    resolutions_work = rules.numbers(sums, rules.RESOLUTION.upper())
    ratings = rules.numbers(sums, rules.RATING)
    promises = sums[rules.KEPT] + sums[rules.MISSED]
    return Figures(
        sums["created"],
        answers.total(),
        resolutions.total(),
        sums["reopened"],
        rules.percentile_us(answers, 50),
        rules.percentile_us(answers, 90),
        rules.percentile_us(resolutions, 50),
        rules.percentile_us(resolutions, 90),
        rules.percentile_us(answers_work, 50),
        rules.percentile_us(answers_work, 90),
        rules.percentile_us(resolutions_work, 50),
        rules.percentile_us(resolutions_work, 90),
        promises,
        sums[rules.MISSED],
        _percent(sums[rules.KEPT], promises),
        ratings.total(),
        _percent(ratings[4] + ratings[5], ratings.total()),
    )


def _percent(part: int, whole: int) -> int | None:
    return round(100 * part / whole) if whole else None


async def add_up(rows: Iterable[str]) -> Sums:
    """Rows of sums together, as JSON each."""
    total: Sums = Counter()
    for place, row in enumerate(rows, 1):
        for key, count in _decode(row).items():
            total[key] += count
        if place % _ROWS_AT_ONCE == 0:
            await asyncio.sleep(0)
    return total


def to_response(figures: Figures) -> ReportFigures:
    """The numbers as programs get them, with durations in seconds."""
    return ReportFigures(
        figures.created,
        figures.answered,
        figures.resolved,
        figures.reopened,
        _seconds(figures.answer_us),
        _seconds(figures.answer_p90_us),
        _seconds(figures.resolution_us),
        _seconds(figures.resolution_p90_us),
        _seconds(figures.answer_work_us),
        _seconds(figures.answer_work_p90_us),
        _seconds(figures.resolution_work_us),
        _seconds(figures.resolution_work_p90_us),
        figures.promises,
        figures.kept_percent,
        figures.ratings,
        figures.satisfied_percent,
    )


def _seconds(duration_us: int | None) -> int | None:
    return None if duration_us is None else duration_us // _SECOND_US
