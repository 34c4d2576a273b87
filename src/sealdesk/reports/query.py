"""What a report is asked for, as in the addresses of its pages."""

from datetime import date, timedelta
from typing import NamedTuple
from urllib.parse import urlencode

from sealdesk.errors import Fault, gettext_noop, invalid
from sealdesk.reports import dimensions, periods
from sealdesk.reports.periods import KINDS, STEPS, Kind, Period, StepName
from sealdesk.reports.types import Dimension
from sealdesk.web.form import Form

PATH = "/reports"
_MAX_VALUE = 100
_BAD_DAY = gettext_noop("Write a date as in 2027-12-24.")
_TOO_LONG = gettext_noop("A report has at most %(limit)s days.")
_REVERSED = gettext_noop("The last day must not be before the first.")


class Query(NamedTuple):
    """A report. by: the dimension of its table. dimension, value: whose tickets it counts.

    hour: since 1970, for the tickets of only this one.
    """

    period: Period
    step: StepName
    by: Dimension
    dimension: Dimension = "desk"
    value: str = ""
    hour: int | None = None

    def link(self, path: str = PATH, **others: str) -> str:
        """The address of the report, or of another page of it."""
        period = self.period
        fields = {"period": period.kind, "day": period.first.isoformat(), "step": self.step}
        if period.kind == "own":
            fields["last"] = periods.last_day(period).isoformat()
        fields["by"] = self.by
        if self.dimension != "desk":
            fields |= {"of": self.dimension, "value": self.value}
        if self.hour is not None:
            fields["hour"] = str(self.hour)
        return f"{path}?{urlencode(fields | others)}"

    def link_recent(self) -> str:
        """The address of the same report of the last seven days."""
        return f"{PATH}?{self.saved()}"

    def saved(self) -> str:
        """The query string without the period, for any week."""
        fields = {"by": self.by, "of": self.dimension, "value": self.value}
        return urlencode({name: text for name, text in fields.items() if text})

    def in_period(self, period: Period) -> "Query":
        return self._replace(period=period)

    def of(self, value: str) -> "Query":
        """The report of one row of the table."""
        return self._replace(dimension=self.by, value=value)


def read(form: Form, today: date, usual: Period | None = None) -> Query:
    """The report of a query string; usual: its period if it names none, or else the week.

    Raises ValidationFailed.
    """
    kind: Kind = next((each for each in KINDS if each == form.text("period")), "week")
    first = _day(form, "day", today)
    period = periods.period_of(kind, first, _day(form, "last", first))
    if usual and not (form.text("period") or form.text("day")):
        period = usual
    if period.days < 1:
        raise invalid([Fault("/last", "too_early", _REVERSED)])
    if period.days > periods.MAX_DAYS:
        raise invalid([Fault("/last", "too_long", _TOO_LONG, {"limit": periods.MAX_DAYS})])
    wanted = form.text("step")
    offered = periods.steps_for(period)
    step = next((each for each in STEPS if each == wanted and each in offered), None)
    by = dimensions.parse(form.text("by")) or "team"
    of = dimensions.parse(form.text("of")) or "desk"
    value = form.text("value")[:_MAX_VALUE] if of != "desk" else ""
    return Query(period, step or periods.usual_step(period), by, of, value)


def recent(today: date) -> Query:
    """The report of the last seven days, the usual one: a week that has just begun is empty."""
    period = periods.period_of("own", today - timedelta(days=6), today)
    return Query(period, periods.usual_step(period), "team")


def _day(form: Form, name: str, otherwise: date) -> date:
    text = form.text(name).strip()
    if not text:
        return otherwise
    day = periods.parse_day(text)
    if day is None:
        raise invalid([Fault(f"/{name}", "invalid_date", _BAD_DAY)])
    return day
