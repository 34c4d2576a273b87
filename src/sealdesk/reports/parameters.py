"""What reports are asked for by programs: their query parameters."""

from collections.abc import Mapping
from datetime import date
from typing import Any, get_args
from zoneinfo import ZoneInfo

from sealdesk.db.engine import Tx
from sealdesk.errors import BadRequest
from sealdesk.errors.requests import INVALID_PARAMETER
from sealdesk.reports import dimensions, periods, rules
from sealdesk.reports.query import Query
from sealdesk.reports.rules import HOUR_US
from sealdesk.reports.types import (
    AGES,
    DIMENSIONS,
    FIELD,
    HAPPENINGS,
    Age,
    Dimension,
    Selection,
)
from sealdesk.resources.identity import identity
from sealdesk.tickets.ticket.listing import custom_field
from sealdesk.tickets.ticket.types import Source
from sealdesk.web import query
from sealdesk.web.query import BadValue, Param
from sealdesk.web.request import Request

_NOBODY = "none"
_ANY_AGE = Age(0, None)
_FILTERS: Mapping[str, Dimension] = {
    "team_id": "team",
    "assignee_id": "assignee",
    "source": "source",
    "tag": "tag",
    "key_id": "key",
    "custom_field": FIELD,
}


def _day(name: str, about: str) -> Param:
    def read(text: str) -> date:
        day = periods.parse_day(text)
        if day is None:
            raise BadValue("a date from 1990 on, as in 2026-01-31")
        return day

    return Param(name, about, read, {"type": "string", "format": "date"}, str, "2026-01-31")


def _group_by() -> Param:
    def read(text: str) -> Dimension:
        found = dimensions.parse(text)
        if found is None:
            raise BadValue(f"one of {', '.join(DIMENSIONS[1:])}, or {FIELD} and a key")
        return found

    about = "By what the tickets are told apart in `groups`; `field:carrier` is a custom field."
    return Param(
        "group_by", about, read, {"type": "string", "pattern": dimensions.PATTERN}, str, "team"
    )


_PERIOD = (
    query.one_of("period", periods.KINDS[:-1], "The period in which `day` is.", default="week"),
    _day("day", "A day of the period, in the time zone of the desk; by default today."),
    _day("first_day", "Instead of `period` and `day`: the first day."),
    _day("last_day", f"The last day, by default `first_day`; at most {periods.MAX_DAYS} days."),
    query.one_of(
        "step",
        periods.STEPS,
        "The parts of the period: hours of up to 7 days, days of up to 92, or weeks.",
    ),
)
_PARTS = (
    query.identifier(
        "team_id", "Only tickets that this team has now, or `none`: no team.", besides=_NOBODY
    ),
    query.identifier(
        "assignee_id", "Only tickets that this agent has now, or `none`: nobody.", besides=_NOBODY
    ),
    query.one_of("source", get_args(Source), "Only tickets that came in this way."),
    query.text("tag", "Only tickets that carry this tag.", max_length=64, example="refund"),
    query.identifier(
        "key_id", "Only tickets that this API key created, or `none`: no key.", besides=_NOBODY
    ),
    custom_field("Only tickets with this choice of a custom field."),
)
REPORT = (*_PERIOD, _group_by(), *_PARTS)
TICKETS = (
    query.one_of(
        "figure",
        HAPPENINGS,
        "Behind which figure: `kept` and `missed` of `sla_promises`, `rated` of `ratings`.",
        default=HAPPENINGS[0],
    ),
    *_PERIOD,
    query.instant("starts_at", "Only of this step of the report: its `starts_at`."),
    query.one_of(
        "age_days",
        [str(age.days) for age in AGES],
        "Only of this age, for `figure=unfinished`: its `days`.",
    ),
    *_PARTS,
)


async def read_report(request: Request, values: Mapping[str, Any], zone: ZoneInfo) -> Query:
    """The report that is asked for. Raises BadRequest."""
    wanted = _read(values, request.now_us, zone)
    if not wanted.dimension.startswith(FIELD):
        return wanted
    return wanted._replace(value=await request.fetch(_find_choice, wanted))


def select(values: Mapping[str, Any], wanted: Query, now_us: int, zone: ZoneInfo) -> Selection:
    """The tickets behind a figure of a report. Raises BadRequest."""
    happening = values.get("figure", HAPPENINGS[0])
    of = wanted.dimension, wanted.value
    if happening == "unfinished":
        wanted_age = values.get("age_days")
        age = next((each for each in AGES if str(each.days) == wanted_age), _ANY_AGE)
        return Selection(happening, *rules.created_between(age, now_us), *of)
    if "age_days" in values:
        raise _refused("age_days", "needs figure=unfinished")
    first, end = periods.hours_of(wanted.period, zone)
    if "starts_at" in values:
        first, end = _step(values["starts_at"], wanted, zone)
    return Selection(happening, first * HOUR_US, end * HOUR_US, *of)


def _step(starts_at: int, wanted: Query, zone: ZoneInfo) -> tuple[int, int]:
    for step in periods.steps_of(wanted.period, wanted.step, zone):
        if step.first * HOUR_US == starts_at:
            return step.first, step.end
    raise _refused("starts_at", f"must be that of a {wanted.step} of the report")


def _read(values: Mapping[str, Any], now_us: int, zone: ZoneInfo) -> Query:
    period = _period(values, now_us, zone)
    step = values.get("step", periods.usual_step(period))
    if step not in periods.steps_for(period):
        raise _refused("step", f"must be longer: the period has {period.days} days")
    parts = [each for each in ("group_by", *_FILTERS) if each in values]
    if len(parts) > 1:
        raise _refused(parts[1], f"cannot be combined with {parts[0]}")
    if not parts or "group_by" in parts:
        return Query(period, step, values.get("group_by", "desk"))
    name, value = parts[0], values[parts[0]]
    if name == "custom_field":
        key, _, value = value.partition(":")
        return Query(period, step, "desk", f"{FIELD}{key}", value)
    return Query(period, step, "desk", _FILTERS[name], _stored(name, value))


def _stored(name: str, value: str) -> str:
    """The value by which tickets are counted."""
    if name == "tag":
        return identity(value)
    return "" if value == _NOBODY else value


async def _find_choice(tx: Tx, tenant_id: str, wanted: Query) -> str:
    """The choice as the desk spells it, by which tickets are counted."""
    fields = await dimensions.list_fields(tx, tenant_id)
    choices = {each.dimension: each.choices for each in fields}.get(wanted.dimension, {})
    return choices.get(identity(wanted.value), wanted.value)


def _period(values: Mapping[str, Any], now_us: int, zone: ZoneInfo) -> periods.Period:
    today = periods.today(now_us, zone)
    if "first_day" not in values and "last_day" not in values:
        return periods.period_of(values.get("period", "week"), values.get("day", today))
    for name in ("period", "day"):
        if name in values:
            raise _refused(name, "cannot be combined with first_day and last_day")
    first: date = values.get("first_day", values.get("last_day"))
    period = periods.period_of("own", first, values.get("last_day"))
    if not 1 <= period.days <= periods.MAX_DAYS:
        raise _refused("last_day", f"must be from first_day to {periods.MAX_DAYS - 1} days later")
    return period


def _refused(name: str, rule: str) -> BadRequest:
    return BadRequest(INVALID_PARAMETER, parameter=name, rule=rule)
