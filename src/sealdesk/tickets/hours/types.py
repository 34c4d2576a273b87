"""The structs of business hours: as typed, and as stored."""

from datetime import date
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MAX_HOLIDAYS = 400

DayText = Annotated[str, Meta(max_length=100)]


class HoursBody(msgspec.Struct, frozen=True):
    """Business hours as the form sends them: a day as `09:00-12:00, 13:00-17:30`, "" for none.

    time_zone: of the IANA database. holidays: dates, one on each line. country: an ISO 3166 code,
    whose public holidays of each next year are added.
    """

    time_zone: Annotated[str, Meta(max_length=64)]
    monday: DayText = ""
    tuesday: DayText = ""
    wednesday: DayText = ""
    thursday: DayText = ""
    friday: DayText = ""
    saturday: DayText = ""
    sunday: DayText = ""
    holidays: Annotated[str, Meta(max_length=12 * MAX_HOLIDAYS)] = ""
    country: Annotated[str, Meta(max_length=10)] = ""


class Interval(NamedTuple):
    """A part of a day, in minutes since its midnight by the clock on the wall."""

    begin: int
    end: int


class Hours(msgspec.Struct, frozen=True):
    """The business hours of a desk or a team.

    week: the intervals of each day from Monday, in order and apart. See `HoursBody`. last_year: up
    to which the public holidays of the country are among the holidays; 0 without a country.
    """

    time_zone: str
    week: tuple[tuple[Interval, ...], ...]
    holidays: frozenset[date]
    country: str = ""
    last_year: int = 0
