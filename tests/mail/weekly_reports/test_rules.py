"""When weekly reports are due: each Monday of a zone once."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from sealdesk.mail.weekly_reports import rules

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = [BERLIN, *map(ZoneInfo, ("UTC", "Pacific/Apia", "America/New_York", "Asia/Kolkata"))]


def us(at: datetime) -> int:
    return int(at.timestamp()) * 1_000_000


@pytest.mark.parametrize("zone", ZONES, ids=str)
def test_each_week_of_a_year_is_due_once_and_about_the_week_before(zone: ZoneInfo) -> None:
    at, weeks = us(datetime(2027, 1, 1, tzinfo=UTC)), list[date]()
    for _ in range(53):
        at = rules.next_due_at(at, zone)
        local = datetime.fromtimestamp(at / 1_000_000, UTC).astimezone(zone)
        assert (local.weekday(), local.hour, local.minute) == (0, 6, 0)
        weeks.append(rules.week_before(at, zone))
        assert weeks[-1] == local.date() - timedelta(days=7)
    assert weeks == [weeks[0] + timedelta(days=7 * count) for count in range(53)]


def test_a_worker_that_was_down_sends_the_last_week_once() -> None:
    late = us(datetime(2027, 3, 11, 15, tzinfo=UTC))  # a Thursday
    assert rules.week_before(late, BERLIN) == date(2027, 3, 1)
    following = rules.next_due_at(late, BERLIN)
    assert rules.week_before(following, BERLIN) == date(2027, 3, 8)


def test_a_zone_that_changes_does_not_repeat_a_week() -> None:
    due_at = rules.next_due_at(us(datetime(2027, 3, 3, tzinfo=UTC)), ZoneInfo("Pacific/Kiritimati"))
    # It is Sunday in the new zone: the week before was sent a week ago, and has the same id.
    assert rules.week_before(due_at, ZoneInfo("America/New_York")) == date(2027, 2, 22)
    assert rules.next_due_at(due_at, ZoneInfo("America/New_York")) - due_at < 2 * 86_400 * 10**6


def test_an_id_names_its_report_and_week() -> None:
    monday = date(2027, 3, 1)
    assert rules.parse_about_id(rules.about_id("0199", monday)) == ("0199", monday)
