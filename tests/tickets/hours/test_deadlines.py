"""Deadlines by business hours, against a slow plain model and in the days that zones change."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealdesk.tickets.hours import rules
from sealdesk.tickets.hours.types import Hours, Interval

MINUTE = timedelta(minutes=1)
OFFICE = (Interval(9 * 60, 12 * 60), Interval(13 * 60, 17 * 60))
# Days around which clocks are put forward or back: at night, at midnight, by a half, by a day.
CHANGES = [
    ("Europe/Berlin", date(2027, 3, 28)),
    ("Europe/Berlin", date(2027, 10, 31)),
    ("America/Sao_Paulo", date(2018, 2, 18)),
    ("America/Sao_Paulo", date(2018, 11, 4)),
    ("Australia/Lord_Howe", date(2027, 4, 4)),
    ("Australia/Lord_Howe", date(2027, 10, 3)),
    ("America/Havana", date(2027, 11, 7)),
    ("Pacific/Apia", date(2011, 12, 30)),
    ("UTC", date(2028, 2, 29)),
]


def micros(at: datetime) -> int:
    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def due(hours: Hours, start: datetime, minutes: int) -> datetime | None:
    at_us = rules.deadline(hours, micros(start), minutes)
    return None if at_us is None else datetime.fromtimestamp(at_us // 1_000_000, UTC)


def hours_of(zone: str, *holidays: date, week: tuple[tuple[Interval, ...], ...] = ()) -> Hours:
    return Hours(zone, week or (*[OFFICE] * 5, (), ()), frozenset(holidays))


def plain_deadline(hours: Hours, start: datetime, minutes: int, end: datetime) -> datetime | None:
    """Counts every minute; a clock on the wall that is put back stands meanwhile."""
    zone, at = ZoneInfo(hours.time_zone), start - timedelta(hours=3)
    latest = at.astimezone(zone).replace(tzinfo=None)
    while minutes and at < end:
        latest = max(latest, at.astimezone(zone).replace(tzinfo=None))
        minute = latest.hour * 60 + latest.minute
        is_open = latest.date() not in hours.holidays and any(
            each.begin <= minute < each.end for each in hours.week[latest.weekday()]
        )
        minutes -= is_open and at >= start
        at += MINUTE
    return None if minutes else at


@st.composite
def days(draw: st.DrawFn) -> tuple[Interval, ...]:
    bounds = draw(st.lists(st.integers(0, 48), unique=True, max_size=6).map(sorted))
    return tuple(Interval(30 * a, 30 * b) for a, b in zip(bounds[::2], bounds[1::2], strict=False))


@given(
    st.sampled_from(CHANGES),
    st.tuples(*[days()] * 7),
    st.sets(st.integers(-1, 2), max_size=2),
    st.integers(-36 * 60, 36 * 60),
    st.integers(1, 1500),
)
@settings(max_examples=50)
def test_deadlines_are_those_of_a_count_of_every_minute(
    change: tuple[str, date],
    week: tuple[tuple[Interval, ...], ...],
    holidays: set[int],
    offset: int,
    minutes: int,
) -> None:
    zone, day = change
    hours = hours_of(zone, *(day + timedelta(days=each) for each in holidays), week=week)
    start = datetime(day.year, day.month, day.day, tzinfo=UTC) + offset * MINUTE
    end = start + timedelta(days=5)
    found = due(hours, start, minutes)
    assert (found if found and found <= end else None) == plain_deadline(hours, start, minutes, end)


def test_hours_are_those_of_the_wall_on_both_sides_of_a_change() -> None:
    friday = datetime(2027, 3, 26, 15, 0, tzinfo=UTC)  # 16:00 in Berlin, 17:00 ends the day
    assert due(hours_of("Europe/Berlin"), friday, 120) == datetime(2027, 3, 29, 8, tzinfo=UTC)


def test_a_day_that_the_zone_skips_has_no_hours() -> None:
    thursday = datetime(2011, 12, 30, 2, 0, tzinfo=UTC)  # 16:00 in Apia, ten hours behind
    monday = datetime(2012, 1, 1, 20, 0, tzinfo=UTC)  # 10:00 in Apia, fourteen ahead
    assert due(hours_of("Pacific/Apia"), thursday, 120) == monday


def test_holidays_and_weekends_are_passed_over() -> None:
    thursday = datetime(2026, 12, 24, 16, 30, tzinfo=UTC)
    hours = hours_of("UTC", date(2026, 12, 25), date(2026, 12, 28))
    assert due(hours, thursday, 60) == datetime(2026, 12, 29, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "start", [datetime(9999, 12, 31, 23, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)]
)
def test_hours_that_never_come_have_no_deadline(start: datetime) -> None:
    is_last = start.year == 9999
    hours = hours_of("UTC") if is_last else hours_of("UTC", week=((),) * 7)
    assert due(hours, start, 60) is None
