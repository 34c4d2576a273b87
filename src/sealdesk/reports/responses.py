"""What programs get of a report."""

import msgspec

from sealdesk.clock import Iso
from sealdesk.reports.periods import Kind, StepName


class ReportFigures(msgspec.Struct, frozen=True):
    """What is counted of tickets.

    created, resolved, reopened: how often that happened. answered: tickets with a first response.
    *_s: median and 90th percentile in seconds of calendar time, *_business_* of the business hours
    in it, accurate to 2 %, null without any.
    sla_promises: first responses and resolutions that an SLA policy promised. ratings: of
    customers; satisfied are those with 4 or 5. reopened_percent: of all resolutions, also of those
    that reopening ended.
    """

    created: int
    answered: int
    resolved: int
    reopened: int
    first_response_median_s: int | None
    first_response_p90_s: int | None
    resolution_median_s: int | None
    resolution_p90_s: int | None
    first_response_business_median_s: int | None
    first_response_business_p90_s: int | None
    resolution_business_median_s: int | None
    resolution_business_p90_s: int | None
    sla_promises: int
    sla_kept_percent: int | None
    ratings: int
    satisfied_percent: int | None
    reopened_percent: int | None


class ReportStep(msgspec.Struct, frozen=True):
    """A part of the period of a report. starts_at: its beginning."""

    starts_at: Iso
    figures: ReportFigures


class ReportGroup(msgspec.Struct, frozen=True):
    """A part of the tickets of a report.

    value: the id of a team, agent or API key, the name of a source, a tag, or a choice of a custom
    field; null for tickets without one. name: of the team, agent or key, else as value.
    """

    value: str | None
    name: str | None
    figures: ReportFigures


class ReportAge(msgspec.Struct, frozen=True):
    """Tickets that were created so many days ago: at least `days`, and less than `end_days`."""

    days: int
    end_days: int | None
    tickets: int


class ReportResponse(msgspec.Struct, frozen=True):
    """A report of a period.

    first_day, last_day: of the period, in the time zone of the desk. is_complete: false while the
    reports are counted anew. figures: of the whole period. previous_figures: of the period before
    it. groups: the 50 largest; empty unless asked for. unfinished: tickets that
    are open, pending or on hold now, whatever the period, by age.
    """

    period: Kind
    first_day: str
    last_day: str
    time_zone: str
    is_complete: bool
    figures: ReportFigures
    previous_figures: ReportFigures
    step: StepName
    steps: list[ReportStep]
    groups: list[ReportGroup]
    unfinished: list[ReportAge]
