"""Periods in the zone of the desk: their steps are neither gaps nor twice the same."""

from collections import Counter
from datetime import date, timedelta
from itertools import pairwise
from random import Random
from zoneinfo import ZoneInfo

import pytest

from sealdesk.reports import periods, query, rules
from sealdesk.reports.periods import KINDS, Kind
from sealdesk.web.form import parse_form

ZONES = [ZoneInfo(name) for name in ("UTC", "Europe/Berlin", "America/New_York", "Pacific/Apia")]


@pytest.mark.parametrize("zone", ZONES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_steps_cover_a_period_and_periods_cover_the_time(kind: Kind, zone: ZoneInfo) -> None:
    period = periods.period_of(kind, date(2011, 12, 30), date(2012, 1, 9))
    for _ in range(12):
        first, end = periods.hours_of(period, zone)
        for name in periods.steps_for(period) if end > first else []:  # a day that a zone skips
            steps = periods.steps_of(period, name, zone)
            assert (steps[0].first, steps[-1].end) == (first, end)
            assert all(a.end == b.first for a, b in pairwise(steps))
        following = periods.after(period)
        assert following.first == period.end
        assert periods.before(following) == period
        period = following


def test_a_day_on_which_clocks_change_has_23_or_25_hours() -> None:
    zone = ZoneInfo("Europe/Berlin")
    lengths = {
        day: len(periods.steps_of(periods.period_of("day", day), "hour", zone))
        for day in (date(2027, 3, 28), date(2027, 10, 31), date(2027, 6, 1))
    }
    assert [*lengths.values()] == [23, 25, 24]


def test_a_percentile_is_within_two_percent_of_the_exact_one() -> None:
    seconds = [round(1.37**count) + 7 * count for count in range(50)]
    found_numbers = Counter(rules.number_of(each * 1_000_000) for each in seconds)
    numbers = [found_numbers[number] for number in range(rules.NUMBERS)]
    for percent in (1, 50, 90, 100):
        exact = sorted(seconds)[max(0, -(-len(seconds) * percent // 100) - 1)]
        found = rules.percentile_us(numbers, percent)
        assert found is not None
        assert abs(found / 1_000_000 - exact) <= 0.022 * exact
    assert rules.percentile_us([0] * rules.NUMBERS, 50) is None


def test_own_periods_are_as_long_as_the_one_before() -> None:
    period = periods.period_of("own", date(2027, 1, 5), date(2027, 1, 7))
    assert period.days == 3
    assert periods.before(period).end == period.first
    assert periods.last_day(period) == period.end - timedelta(days=1)


def test_ranges_cover_each_hour_once_with_few_rows() -> None:
    random = Random(3)
    for _ in range(50):
        first = random.randrange(10**6)
        end = first + random.randrange(9_000)
        ranges = rules.ranges_of(first, end)
        hours = [
            hour
            for each in ranges
            for start in range(each.first, each.end, each.length)
            for hour in range(start, start + each.length)
        ]
        assert hours == [*range(first, end)]
        rows = sum((each.end - each.first) // each.length for each in ranges)
        assert rows <= 2 * 23 + 2 * 15 + 24
        assert all(each.first % each.length == 0 for each in ranges)


def test_the_usual_report_has_a_whole_week_on_a_monday_too() -> None:
    monday = date(2027, 3, 1)
    usual = query.recent(monday).period
    assert (usual.days, periods.last_day(usual)) == (7, monday)
    asked = {
        text: query.read(parse_form(text.encode()), monday, usual).period
        for text in ("by=tag", "period=week", "day=2027-03-01")
    }
    week = periods.period_of("week", monday)
    assert [*asked.values()] == [usual, week, week]
    assert query.read(parse_form(b"by=tag"), monday).period == week, "of a weekly report"
