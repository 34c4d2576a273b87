"""Business hours from the texts of a form."""

import re
from datetime import date
from itertools import pairwise
from zoneinfo import ZoneInfo

from sealdesk.errors import Fault, gettext_noop, raise_any
from sealdesk.tickets.hours.types import DAYS, MAX_HOLIDAYS, Hours, HoursBody, Interval

_MAX_INTERVALS = 6  # of a day
_OF_THE_MACHINE = frozenset({"Factory", "localtime", "posixrules"})  # files beside the zones
_INTERVAL = re.compile(r"(\d\d):([0-5]\d)\s?[-\u2013]\s?(\d\d):([0-5]\d)", re.ASCII)
_NO_ZONE = gettext_noop("There is no such time zone. Write one as in Europe/Berlin.")
_NO_HOURS = gettext_noop("Write hours as in 09:00-12:00, 13:00-17:30, or nothing for a free day.")
_OVERLAP = gettext_noop("These hours overlap, or are not in order.")
_OVER_MIDNIGHT = gettext_noop(
    "These hours end before they begin. Write those over midnight on both days, as in 22:00-24:00"
    " and 00:00-06:00."
)
_NO_DATE = gettext_noop("“%(line)s” is not a date as in 2027-12-24.")
_TOO_MANY = gettext_noop("At most %(limit)s holidays.")


def to_hours(typed: HoursBody) -> Hours:
    """Raises ValidationFailed, with a fault for each field."""
    faults: list[Fault] = []
    hours = Hours(
        typed.time_zone,
        tuple(_read_day(day, getattr(typed, day), faults) for day in DAYS),
        _read_holidays(typed.holidays, faults),
        typed.country.upper(),
    )
    if not _is_zone(typed.time_zone):
        faults.insert(0, Fault("/time_zone", "unknown_time_zone", _NO_ZONE))
    raise_any(faults)
    return hours


def to_typed(hours: Hours) -> HoursBody:
    """The texts of stored hours."""
    days = zip(DAYS, hours.week, strict=True)
    return HoursBody(
        hours.time_zone,
        holidays="\n".join(day.isoformat() for day in sorted(hours.holidays)),
        country=hours.country,
        **{day: ", ".join(f"{_clock(i.begin)}-{_clock(i.end)}" for i in of) for day, of in days},
    )


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return False
    return name not in _OF_THE_MACHINE


def _read_day(day: str, text: str, faults: list[Fault]) -> tuple[Interval, ...]:
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    found = [_INTERVAL.fullmatch(part) for part in parts]
    times = [[int(number) for number in each.groups()] for each in found if each is not None]
    intervals = tuple(Interval(60 * a + b, 60 * c + d) for a, b, c, d in times)
    if len(times) != len(parts) or any(each.end > 24 * 60 for each in intervals):
        faults.append(Fault(f"/{day}", "not_hours", _NO_HOURS))
    elif any(each.end < each.begin for each in intervals):
        faults.append(Fault(f"/{day}", "over_midnight", _OVER_MIDNIGHT))
    elif len(parts) > _MAX_INTERVALS or not _is_rising([at for each in intervals for at in each]):
        faults.append(Fault(f"/{day}", "overlapping_hours", _OVERLAP))
    return intervals


def _is_rising(minutes: list[int]) -> bool:
    return all(before < after for before, after in pairwise(minutes))


def _read_holidays(text: str, faults: list[Fault]) -> frozenset[date]:
    days: set[date] = set()
    for line in filter(None, map(str.strip, text.splitlines())):
        try:
            days.add(date.fromisoformat(line))
        except ValueError:
            faults.append(Fault("/holidays", "not_a_date", _NO_DATE, {"line": line[:40]}))
            break
    if len(days) > MAX_HOLIDAYS:
        faults.append(Fault("/holidays", "too_many", _TOO_MANY, {"limit": MAX_HOLIDAYS}))
    return frozenset(days)


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"
