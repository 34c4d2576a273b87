"""Figures of a report from its sums, in pieces that let other requests run."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from sealdesk.reports import rules, sums
from sealdesk.reports.responses import ReportFigures
from sealdesk.reports.sums import Totals

_SECOND_US = 1_000_000
_ROWS_AT_ONCE = 50  # 1 ms of the event loop


class Figures(NamedTuple):
    """The numbers of a part of a report. Durations in microseconds, None without any; *_work_* are
    those within business hours.

    promises: of SLA policies, kept or missed, of which `missed` were. ratings: of customers;
    satisfied are 4 and 5. reopened_percent: of all resolutions, also of those that reopening ended.
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
    reopened_percent: int | None


def figures_of(totals: Totals) -> Figures:
    counts = totals.counts
    answers, resolutions, answers_work, resolutions_work = (
        totals.durations[kind] for kind in rules.KINDS_OF_DURATIONS
    )
    ratings = [counts[f"{rules.RATING}{rating}"] for rating in range(1, 6)]
    promises = counts[rules.KEPT] + counts[rules.MISSED]
    return Figures(
        counts["created"],
        sum(answers),
        sum(resolutions),
        counts["reopened"],
        rules.percentile_us(answers, 50),
        rules.percentile_us(answers, 90),
        rules.percentile_us(resolutions, 50),
        rules.percentile_us(resolutions, 90),
        rules.percentile_us(answers_work, 50),
        rules.percentile_us(answers_work, 90),
        rules.percentile_us(resolutions_work, 50),
        rules.percentile_us(resolutions_work, 90),
        promises,
        counts[rules.MISSED],
        _percent(counts[rules.KEPT], promises),
        sum(ratings),
        _percent(sum(ratings[3:]), sum(ratings)),
        # A reopened ticket has no resolution any more, until the next one.
        _percent(counts["reopened"], sum(resolutions) + counts["reopened"]),
    )


def _percent(part: int, whole: int) -> int | None:
    return round(100 * part / whole) if whole else None


async def add_up(rows: Sequence[str]) -> Totals:
    """Rows of sums together, as JSON each."""
    parts = []
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        parts.append(sums.total_of(rows[first : first + _ROWS_AT_ONCE]))
        await asyncio.sleep(0)
    return parts[0] if len(parts) == 1 else sums.together(parts)


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
        figures.reopened_percent,
    )


def _seconds(duration_us: int | None) -> int | None:
    return None if duration_us is None else duration_us // _SECOND_US
