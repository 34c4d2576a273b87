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
# A page shows fifty deadlines. Over so many days of six intervals they take 16 ms (2026-11-27).
MAX_DAYS = 92


def deadline(hours: Hours, start_us: int, minutes: int) -> int | None:
    """When so many minutes of business hours have passed since an instant, at least one.

    Clocks on the wall go by the zone; of an hour that they show twice, the first begins or ends
    business hours. None if they do not pass within three months, or before the year 10000.
    """
    left_us = minutes * MINUTE_US
    try:
        for opens_us, closes_us in _openings(hours, start_us):
            from_us = max(opens_us, start_us)
            if closes_us - from_us >= left_us:
                return from_us + left_us
            left_us -= max(0, closes_us - from_us)
    except OverflowError:
        pass
    return None


def reply_due_us(hours: Hours | None, waiting_since: int | None) -> int | None:
    """When a customer who waits is due a reply; None if none is."""
    if hours is None or hours.reply_minutes is None or waiting_since is None:
        return None
    return deadline(hours, waiting_since, hours.reply_minutes)


def _openings(hours: Hours, start_us: int) -> Iterator[tuple[int, int]]:
    """The intervals of the days from that of an instant, in order. Raises OverflowError."""
    zone = ZoneInfo(hours.time_zone)
    first = (_EPOCH + timedelta(microseconds=start_us)).astimezone(zone).date()
    for count in range(MAX_DAYS):
        day = first + timedelta(days=count)
        if day in hours.holidays:
            continue
        for interval in hours.week[day.weekday()]:
            yield _instant(zone, day, interval.begin), _instant(zone, day, interval.end)


@lru_cache(maxsize=4096)
def _instant(zone: ZoneInfo, day: date, minute: int) -> int:
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
