"""Business time in reports: the hours of the time, however long ago and however long it took."""

from datetime import UTC, datetime

import pytest

from sealdesk.reports import rules
from sealdesk.reports.types import Facts
from sealdesk.tickets.hours.types import Hours, Interval

HOUR_US, DAY_US = 3600 * 10**6, 86_400 * 10**6
CREATED = int(datetime(2027, 3, 1, tzinfo=UTC).timestamp()) * 10**6  # a Monday


def hours(*intervals: Interval) -> Hours:
    return Hours("UTC", (intervals,) * 7, frozenset())


ONE, TWO, NONE = hours(Interval(0, 60)), hours(Interval(0, 120)), hours()


@pytest.mark.parametrize("days", [1, 91, 92, 183, 1_000])
def test_an_hour_of_each_day_is_counted_for_any_number_of_days(days: int) -> None:
    found = rules.work_number(ONE, CREATED, CREATED + days * DAY_US)
    assert found == rules.number_of(days * HOUR_US)


def test_new_hours_change_nothing_that_is_over() -> None:
    facts = Facts(CREATED, "api", answered_at=CREATED + DAY_US)
    first = rules.with_work(facts, None, ONE)
    assert first.answered_work == rules.number_of(HOUR_US)
    for later in (ONE, TWO, NONE, None):
        assert rules.with_work(facts, first, later) == first
    moved = Facts(CREATED, "api", answered_at=CREATED + 2 * DAY_US)
    assert rules.with_work(moved, first, TWO).answered_work == rules.number_of(4 * HOUR_US)
    assert rules.with_work(Facts(CREATED, "api"), first, TWO).answered_work is None


def test_a_time_zone_alone_is_no_business_hours() -> None:
    facts = Facts(CREATED, "api", answered_at=CREATED + DAY_US, resolved_at=CREATED + DAY_US)
    for none in (NONE, None):
        found = rules.with_work(facts, None, none)
        assert (found.answered_work, found.resolved_work) == (None, None)
    # What was counted without hours gets them once there are some.
    assert rules.with_work(facts, facts, ONE).resolved_work == rules.number_of(HOUR_US)
