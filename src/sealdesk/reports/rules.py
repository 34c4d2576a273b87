"""What a ticket adds to which sums, and durations as numbers; no I/O."""

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import msgspec

from sealdesk.reports.types import Age, Dimension, Facts, Place, Range, Sums
from sealdesk.tickets.hours.rules import MAX_DAYS, worked_us
from sealdesk.tickets.hours.types import Hours

HOUR_US = 3600 * 1_000_000
_DAY_US = 24 * HOUR_US
# In hours. A year has 8,760 hours; with days and blocks of 16 days, a report of it reads some 60
# rows for each value.
LENGTHS = (384, 24, 1)
ANSWER, RESOLUTION, RATING = "a", "r", "s"
KINDS_OF_DURATIONS = ANSWER + RESOLUTION + ANSWER.upper() + RESOLUTION.upper()
KEPT, MISSED = "kept", "missed"
_SECOND_US = 1_000_000
# The longest duration of a number is 4 % longer than the shortest, and 2 % than their middle.
_PER_DOUBLING = 16
_MOST = 27 * _PER_DOUBLING  # four years
NUMBERS = _MOST + 1
_Hours = dict[tuple[int, Dimension, str], Sums]
_Values = tuple[tuple[Dimension, str], ...]


def number_of(duration_us: int) -> int:
    """The number of a duration."""
    seconds = max(1.0, duration_us / _SECOND_US)
    return min(_MOST, int(_PER_DOUBLING * math.log2(seconds)))


def duration_us(number: int) -> int:
    """The middle of the durations that have a number."""
    return round(_SECOND_US * math.exp2((number + 0.5) / _PER_DOUBLING))


def work_number(hours: Hours, start_us: int, end_us: int) -> int:
    """The number of the business hours between two instants, within the first four years."""
    end_us = min(end_us, start_us + duration_us(_MOST))
    stride_us = (MAX_DAYS - 1) * _DAY_US  # less than what one call looks at
    return number_of(
        sum(
            worked_us(hours, at, min(at + stride_us, end_us))
            for at in range(start_us, end_us, stride_us)
        )
    )


def have_intervals(hours: Hours | None) -> bool:
    """Whether there are business hours at all, and not only a time zone."""
    return hours is not None and any(hours.week)


def with_work(facts: Facts, before: Facts | None, hours: Hours | None) -> Facts:
    """The same with business hours. What was counted before stays, so that new hours change nothing
    that is over."""

    if before is None and not have_intervals(hours):
        return facts

    def work(end: int | None, end_before: int | None, known: int | None) -> int | None:
        if end is None or hours is None or not have_intervals(hours):
            return known if end == end_before else None
        is_known = known is not None and end == end_before
        return known if is_known else work_number(hours, facts.created_at, end)

    old = before or Facts(facts.created_at, facts.source)
    return msgspec.structs.replace(
        facts,
        answered_work=work(facts.answered_at, old.answered_at, old.answered_work),
        resolved_work=work(facts.resolved_at, old.resolved_at, old.resolved_work),
    )


def percentile_us(counts: Sequence[int], percent: int) -> int | None:
    """The duration within which so many percent were done; None if there are none.

    counts: how often there is each number of a duration.
    """
    reached = [*accumulate(counts)]
    rank = math.ceil(reached[-1] * percent / 100)
    return duration_us(bisect_left(reached, rank)) if rank else None


def differences(
    changes: Iterable[tuple[Facts | None, Facts | None]],
) -> dict[Place, Sums]:
    """What is added to the sums, or is taken out of them below 0.

    changes: what was counted of each ticket before, and what is now.
    """
    hours: _Hours = defaultdict(Counter)
    for (hour, key, values), count in _alike(changes).items():
        for dimension, value in values:
            hours[hour, dimension, value][key] += count
    found: dict[Place, Sums] = defaultdict(Counter)
    for (hour, dimension, value), sums in hours.items():
        for key, count in sums.items() if any(sums.values()) else ():
            for length in LENGTHS:
                found[Place(dimension, length, hour - hour % length, value)][key] += count
    kept = {place: _without_zeros(sums) for place, sums in sorted(found.items())}
    return {place: sums for place, sums in kept.items() if sums}


def ranges_of(first: int, end: int) -> list[Range]:
    """The rows that together are the hours from the first up to the end: as few as can be."""
    found: list[Range] = []
    while first < end:
        length = next(each for each in LENGTHS if first % each == 0 and first + each <= end)
        if found and found[-1].length == length:
            found[-1] = found[-1]._replace(end=first + length)
        else:
            found.append(Range(length, first, first + length))
        first += length
    return found


def created_between(age: Age, now_us: int) -> tuple[int, int]:
    """When tickets of an age were created: from a time up to another."""
    first = 0 if age.end is None else now_us - age.end * _DAY_US + 1
    return first, now_us - age.days * _DAY_US + 1


def _alike(
    changes: Iterable[tuple[Facts | None, Facts | None]],
) -> Counter[tuple[int, str, _Values]]:
    # Most tickets of a step are alike: they are told apart by value and length only in the end.
    found: Counter[tuple[int, str, _Values]] = Counter()
    for before, after in changes:
        for facts, sign in ((before, -1), (after, 1)):
            if facts is not None:
                values = _values(facts)
                for at, key in _happenings(facts):
                    found[at // HOUR_US, key, values] += sign
    return found


def _values(facts: Facts) -> _Values:
    return (
        ("desk", ""),
        ("team", facts.team_id),
        ("assignee", facts.assignee_id),
        ("source", facts.source),
        *(("tag", tag) for tag in facts.tags),
        ("key", facts.key_id),
        *facts.fields.items(),
    )


def _happenings(facts: Facts) -> Iterator[tuple[int, str]]:
    yield facts.created_at, "created"
    for at in facts.reopened_at:
        yield at, "reopened"
    for kind, end, work, is_kept in (
        (ANSWER, facts.answered_at, facts.answered_work, facts.answered_in_time),
        (RESOLUTION, facts.resolved_at, facts.resolved_work, facts.resolved_in_time),
    ):
        if end is not None:
            yield end, f"{kind}{number_of(end - facts.created_at)}"
            if work is not None:
                yield end, f"{kind.upper()}{work}"
            if is_kept is not None:
                yield end, KEPT if is_kept else MISSED
    if facts.rated_at is not None:
        yield facts.rated_at, f"{RATING}{facts.rating}"


def _without_zeros(sums: Sums) -> Sums:
    return Counter({key: count for key, count in sums.items() if count})
