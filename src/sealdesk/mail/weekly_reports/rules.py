"""When weekly reports are due, and which week they are about; no I/O."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from sealdesk.tickets.hours.rules import instant_at

MAX_OF_USER = 10
MAX_OF_DESK = 100
HOUR_US = 3600 * 1_000_000
_MINUTE = 6 * 60  # of Monday
_WEEK = timedelta(days=7)


def next_due_at(now_us: int, zone: ZoneInfo) -> int:
    """The next Monday at six o'clock in the zone of a desk."""
    monday = _monday(now_us, zone)
    due_at = instant_at(zone, monday, _MINUTE)
    return due_at if due_at > now_us else instant_at(zone, monday + _WEEK, _MINUTE)


def week_before(now_us: int, zone: ZoneInfo) -> date:
    """The first day of the week before the one that a time is in."""
    return _monday(now_us, zone) - _WEEK


def about_id(report_id: str, monday: date) -> str:
    """What the message about a week is about: there is one of each."""
    return f"{report_id}:{monday.isoformat()}"


def parse_about_id(text: str) -> tuple[str, date]:
    """The saved report, and the first day of the week."""
    report_id, _, monday = text.partition(":")
    return report_id, date.fromisoformat(monday)


def _monday(now_us: int, zone: ZoneInfo) -> date:
    today = datetime.fromtimestamp(now_us / 1_000_000, UTC).astimezone(zone).date()
    return today - timedelta(days=today.weekday())
