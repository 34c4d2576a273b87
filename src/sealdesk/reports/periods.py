"""The periods of reports in the time zone of the desk, and their steps; no I/O."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Literal, NamedTuple, get_args
from zoneinfo import ZoneInfo

from sealdesk.reports.rules import HOUR_US
from sealdesk.tickets.hours.rules import instant_at

Kind = Literal["day", "week", "month", "quarter", "year", "own"]
KINDS: tuple[Kind, ...] = get_args(Kind)
StepName = Literal["hour", "day", "week"]
STEPS: tuple[StepName, ...] = get_args(StepName)
MAX_DAYS = 366
# Days up to which a step is offered, and up to which it is the first choice.
_MOST_DAYS: dict[StepName, int] = {"hour": 7, "day": 92, "week": MAX_DAYS}
_USUAL_DAYS: dict[StepName, int] = {"hour": 2, "day": 45, "week": MAX_DAYS}
_DAY = timedelta(days=1)
_FIRST_DAY, _LAST_DAY = date(1990, 1, 1), date(9990, 1, 1)


class Period(NamedTuple):
    """Some days. end: the day behind the last."""

    kind: Kind
    first: date
    end: date

    @property
    def days(self) -> int:
        return (self.end - self.first).days


class Step(NamedTuple):
    """A part of a period, from an hour since 1970 to the one behind it. hour: of its day, if it is
    one."""

    day: date
    hour: int | None
    first: int
    end: int


def today(now_us: int, zone: ZoneInfo) -> date:
    return datetime.fromtimestamp(now_us / 1_000_000, UTC).astimezone(zone).date()


def parse_day(text: str) -> date | None:
    """The day of a text like 2027-12-24; None if it is none, or before 1990."""
    try:
        day = date.fromisoformat(text) if len(text) == len("2027-12-24") else None
    except ValueError:
        return None
    return day if day is not None and _FIRST_DAY <= day < _LAST_DAY else None


def period_of(kind: Kind, day: date, last: date | None = None) -> Period:
    """The period that a day is in. last: of an own period, which begins with the day."""
    match kind:
        case "day":
            return Period(kind, day, day + _DAY)
        case "week":
            monday = day - timedelta(days=day.weekday())
            return Period(kind, monday, monday + 7 * _DAY)
        case "month":
            return Period(kind, day.replace(day=1), _month_after(day, 1))
        case "quarter":
            first = day.replace(month=3 * ((day.month - 1) // 3) + 1, day=1)
            return Period(kind, first, _month_after(first, 3))
        case "year":
            return Period(kind, date(day.year, 1, 1), date(day.year + 1, 1, 1))
    return Period(kind, day, (last or day) + _DAY)


def before(period: Period) -> Period:
    """The period of the same kind before it; for an own one, of as many days."""
    if period.kind == "own":
        return Period("own", period.first - timedelta(days=period.days), period.first)
    return period_of(period.kind, period.first - _DAY)


def after(period: Period) -> Period:
    """The period behind it."""
    if period.kind == "own":
        return Period("own", period.end, period.end + timedelta(days=period.days))
    return period_of(period.kind, period.end)


def last_day(period: Period) -> date:
    return period.end - _DAY


def hours_of(period: Period, zone: ZoneInfo) -> tuple[int, int]:
    """The first hour of a period since 1970, and that behind it.

    Sums are of hours in UTC, so in a zone that is half an hour off, days begin so much earlier.
    """
    return _hour(zone, period.first), _hour(zone, period.end)


def steps_for(period: Period) -> list[StepName]:
    """The steps that are offered for a period."""
    return [each for each in STEPS if period.days <= _MOST_DAYS[each]]


def usual_step(period: Period) -> StepName:
    return next(each for each in STEPS if period.days <= _USUAL_DAYS[each])


def steps_of(period: Period, step: StepName, zone: ZoneInfo) -> list[Step]:
    """The parts of a period in their order; the first and the last week may be shorter."""
    days = [period.first + timedelta(days=count) for count in range(period.days)]
    if step == "week":
        days = [day for day in days if day.weekday() == 0 or day == period.first]
    bounds = [_hour(zone, day) for day in (*days, period.end)]
    parts = [
        Step(day, None, first, end)
        for day, first, end in zip(days, bounds, bounds[1:], strict=False)
    ]
    if step != "hour":
        return parts
    return [
        Step(part.day, place, hour, hour + 1)
        for part in parts
        for place, hour in enumerate(range(part.first, part.end))
    ]


def period_of_step(period: Period, steps: Sequence[Step], place: int) -> Period | None:
    """The days of a step as a period of its own; None for an hour."""
    following = steps[place + 1].day if place + 1 < len(steps) else period.end
    return Period("own", steps[place].day, following) if steps[place].hour is None else None


def _month_after(day: date, months: int) -> date:
    years, month = divmod(day.month - 1 + months, 12)
    return date(day.year + years, month + 1, 1)


def _hour(zone: ZoneInfo, day: date) -> int:
    return instant_at(zone, day, 0) // HOUR_US
