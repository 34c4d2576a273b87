"""Business hours as instants: when so many minutes of them have passed; no I/O."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from sealdesk.tickets.hours.types import Hours

MINUTE_US = 60 * 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DAY_MINUTES = 24 * 60
# Fifty deadlines over so many days of six intervals take 16 ms (2026-11-27).
MAX_DAYS = 92


def deadline(hours: Hours, start_us: int, minutes: int) -> int | None:
    """When so many minutes of business hours have passed since an instant, at least one.

    Clocks on the wall go by the zone; of an hour that they show twice, the first begins or ends
    business hours. None if they do not pass within three months, or before the year 10000.
    """
    return instant_after(hours, start_us, minutes * MINUTE_US)


def instant_after(hours: Hours, start_us: int, left_us: int) -> int | None:
    """The same for microseconds."""
    try:
        for opens_us, closes_us in _openings(hours, start_us):
            from_us = max(opens_us, start_us)
            if closes_us - from_us >= left_us:
                return from_us + left_us
            left_us -= max(0, closes_us - from_us)
    except OverflowError:
        pass
    return None


def worked_us(hours: Hours, start_us: int, end_us: int) -> int:
    """How much of business hours lies between two instants, within three months of the first."""
    worked = 0
    try:
        for opens_us, closes_us in _openings(hours, start_us):
            if opens_us >= end_us:
                break
            worked += max(0, min(closes_us, end_us) - max(opens_us, start_us))
    except OverflowError:
        pass
    return worked


def is_open(hours: Hours, at_us: int) -> bool:
    """Whether an instant lies within business hours."""
    return worked_us(hours, at_us, at_us + 1) > 0


def _openings(hours: Hours, start_us: int) -> Iterator[tuple[int, int]]:
    """The intervals of the days from that of an instant, in order. Raises OverflowError."""
    zone = ZoneInfo(hours.time_zone)
    first = (_EPOCH + timedelta(microseconds=start_us)).astimezone(zone).date()
    for count in range(MAX_DAYS):
        day = first + timedelta(days=count)
        if day in hours.holidays:
            continue
        for interval in hours.week[day.weekday()]:
            yield instant_at(zone, day, interval.begin), instant_at(zone, day, interval.end)


@lru_cache(maxsize=4096)
def instant_at(zone: ZoneInfo, day: date, minute: int) -> int:
    """When the clock on the wall first shows a time, or passes it where the zone skips it."""
    days, minute = divmod(minute, _DAY_MINUTES)
    wall = datetime.combine(day + timedelta(days=days), time(minute // 60, minute % 60), zone)
    at, other = wall.astimezone(UTC), wall.replace(fold=1).astimezone(UTC)
    if other < at:  # skipped: `other` is before the jump, `at` behind it
        at = _jump(zone, other, at)
    return (at - _EPOCH) // _MICROSECOND


def _jump(zone: ZoneInfo, before: datetime, after: datetime) -> datetime:
    """The second between two instants from which the zone has the offset of the later one."""
    offset = after.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = before + (after - before) // 2
        middle = middle.replace(microsecond=0)
        if middle.astimezone(zone).utcoffset() == offset:
            after = middle
        else:
            before = middle
    return after
