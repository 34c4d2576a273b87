"""What reports say, as structs."""

from collections.abc import Sequence

import msgspec

from sealdesk.client.results import Result


class ReportFigures(msgspec.Struct, frozen=True):
    """What is counted of tickets; *_s in seconds, None without any."""

    created: int
    answered: int
    resolved: int
    reopened: int
    first_response_median_s: int | None = None
    first_response_p90_s: int | None = None
    resolution_median_s: int | None = None
    resolution_p90_s: int | None = None
    first_response_business_median_s: int | None = None
    first_response_business_p90_s: int | None = None
    resolution_business_median_s: int | None = None
    resolution_business_p90_s: int | None = None
    sla_promises: int = 0
    sla_kept_percent: int | None = None
    ratings: int = 0
    satisfied_percent: int | None = None
    reopened_percent: int | None = None


class ReportStep(msgspec.Struct, frozen=True):
    """A part of the period of a report."""

    starts_at: str
    figures: ReportFigures


class ReportGroup(msgspec.Struct, frozen=True):
    """A part of the tickets of a report; value and name are None for those without one."""

    value: str | None
    name: str | None
    figures: ReportFigures


class ReportAge(msgspec.Struct, frozen=True):
    """Tickets that are at least `days` old, and less than `end_days` if that is set."""

    days: int
    end_days: int | None
    tickets: int


class Report(Result, frozen=True):
    """What happened to tickets in a period, and in the period before it.

    unfinished: tickets that are not finished now, by age.
    """

    period: str
    first_day: str
    last_day: str
    time_zone: str
    is_complete: bool
    figures: ReportFigures
    previous_figures: ReportFigures
    step: str
    steps: Sequence[ReportStep]
    groups: Sequence[ReportGroup] = ()
    unfinished: Sequence[ReportAge] = ()
