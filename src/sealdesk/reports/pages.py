"""The page "Reports": what happened in a period, beside the period before."""

import re
from collections.abc import Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.errors import ValidationFailed
from sealdesk.reports import making, naming, periods, plots, rules, store
from sealdesk.reports import query as queries
from sealdesk.reports.figures import to_response
from sealdesk.reports.making import Report
from sealdesk.reports.query import PATH, Query
from sealdesk.reports.responses import ReportFigures
from sealdesk.reports.rules import HOUR_US
from sealdesk.reports.types import (
    AGES,
    DIMENSIONS,
    FIELD,
    HAPPENINGS,
    Age,
    RatedTicket,
    Selection,
)
from sealdesk.resources import csv_file
from sealdesk.tickets.hours import store as hours_store
from sealdesk.tickets.pages.first_steps import find_first_steps
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import gettext_noop
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

ROOM = Room("reports", nav_item=NavItem(PATH, gettext_noop("Reports"), section="lead"))
_CSV = b"text/csv; charset=utf-8"
_HOUR = re.compile(r"[0-9]{1,7}", re.ASCII)  # since 1970, up to the year 3110
_TICKETS_AT_ONCE = 100


@page
async def show_report(request: Request) -> Response:
    """A report of a period."""
    hours = await request.fetch(hours_store.find)
    zone = making.zone_of(hours)
    query, error = _query(request, zone)
    recent = queries.recent(periods.today(request.now_us, zone))
    report = await _make(request, query, zone)
    labels = [_label(each) for each in report.steps]
    created = [each.created for each in report.by_step]
    resolved = [each.resolved for each in report.by_step]
    return await render.page(
        request,
        "reports/report.html",
        422 if error else 200,
        query=query,
        typed=forms.read_query(request) if error else None,
        report=report,
        labels=labels,
        parts=[
            query.in_period(part) if part else query._replace(hour=step.first)
            for place, step in enumerate(report.steps)
            for part in [periods.period_of_step(query.period, report.steps, place)]
        ],
        plot=plots.bars([created, resolved], plots.short_labels(labels)),
        dimensions=[*DIMENSIONS[1:], *(each for each in report.names if each.startswith(FIELD))],
        kinds=periods.KINDS,
        offered=periods.steps_for(query.period),
        before=query.in_period(periods.before(query.period)),
        after=query.in_period(periods.after(query.period)),
        last_day=periods.last_day(query.period),
        recent=recent.period,
        zone=zone.key,
        has_hours=rules.have_intervals(hours) or report.now.answer_work_us is not None,
        dimension_name=naming.dimension_name,
        value_name=naming.value_name,
        most=store.MAX_VALUES,
        ages=AGES,
        is_cut=sum(report.unfinished) >= store.MAX_UNFINISHED,
        steps=await find_first_steps(request),
        **forms.messages(error),
    )


@page
async def download_report(request: Request) -> Response:
    """The numbers of a report as a CSV file, by step or by value, or the ratings behind them."""
    zone = await making.read_zone(request)
    query, error = _query(request, zone)
    if error is not None:
        raise error
    table = forms.read_query(request).text("table")
    first = query.period.first.isoformat()
    if table == "ratings":
        content = await _ratings(request, query, zone)
        return render.download(content, _CSV, f"ratings-{query.period.kind}-{first}.csv")
    report = await _make(request, query, zone)
    if table == "values":
        named = [(report.names.get(value, value), each) for value, each in report.values]
    else:
        named = [
            (_label(step), each) for step, each in zip(report.steps, report.by_step, strict=True)
        ]
    header = ["name", *ReportFigures.__struct_fields__]
    content = csv_file.encode(header, [_row(name, to_response(each)) for name, each in named])
    return render.download(content, _CSV, f"report-{query.period.kind}-{first}.csv")


@page
async def list_tickets(request: Request) -> Response:
    """The tickets behind a number."""
    zone = await making.read_zone(request)
    query, error = _query(request, zone)
    if error is not None:
        raise error
    wanted = forms.read_query(request).text("what")
    happening = next((each for each in HAPPENINGS if each == wanted), HAPPENINGS[0])
    age = _age(forms.read_query(request).text("age"))
    query = query._replace(hour=_hour(forms.read_query(request).text("hour")))
    if happening == "unfinished":
        between_us = rules.created_between(age, request.now_us)
    else:
        between_us = _between_us(query, zone)
    selection = Selection(happening, *between_us, query.dimension, query.value)
    tenant_id, most = request.caller.tenant_id, store.MAX_TICKETS + 1
    positions = await request.read_unindexed(
        lambda tx: store.list_counted(tx, tenant_id, selection, None, most)
    )
    ids = [str(ticket_id) for _, ticket_id in positions]
    shown = ids[: store.MAX_TICKETS]
    found = []
    for start in range(0, len(shown), _TICKETS_AT_ONCE):
        part = shown[start : start + _TICKETS_AT_ONCE]
        found += await request.fetch(ticket_store.list_by_ids, part)
    by_id = {each.ticket.id: each.ticket for each in found}
    return await render.page(
        request,
        "reports/tickets.html",
        query=query._replace(hour=None),
        hour=None if query.hour is None else _hour_label(query.hour, zone),
        happening=happening,
        age=age,
        tickets=[by_id[each] for each in shown if each in by_id],
        is_cut=len(ids) > len(shown),
        last_day=periods.last_day(query.period),
        most=store.MAX_TICKETS,
    )


async def _make(request: Request, query: Query, zone: ZoneInfo) -> Report:
    database, tenant_id = request.state.database, request.caller.tenant_id
    return await making.make(database, tenant_id, query, zone, request.now_us)


async def _ratings(request: Request, query: Query, zone: ZoneInfo) -> bytes:
    """The ratings of a period with their tickets as a CSV file."""
    tenant_id = request.caller.tenant_id
    rated = Selection("rated", *_between_us(query, zone), query.dimension, query.value)

    async def work(tx: Tx) -> tuple[list[RatedTicket], Mapping[str, str]]:
        found = await store.list_ratings(tx, tenant_id, rated)
        team_ids = [*{each.team_id for each in found if each.team_id}]
        user_ids = [*{each.assignee_id for each in found if each.assignee_id}]
        names = await making.read_names(tx, tenant_id, "team", team_ids)
        return found, {**names, **await making.read_names(tx, tenant_id, "assignee", user_ids)}

    found, names = await request.read_unindexed(work)
    header = ["ticket", "subject", "rating", "comment", "rated_at", "team", "assignee", "ticket_id"]
    rows = (
        [
            str(each.number),
            each.subject,
            str(each.satisfaction.rating),
            each.satisfaction.comment or "",
            each.satisfaction.rated_at,
            names.get(each.team_id or "", ""),
            names.get(each.assignee_id or "", ""),
            each.id,
        ]
        for each in found
    )
    return csv_file.encode(header, rows)


def _between_us(query: Query, zone: ZoneInfo) -> tuple[int, int]:
    if query.hour is not None:
        return query.hour * HOUR_US, (query.hour + 1) * HOUR_US
    first, end = periods.hours_of(query.period, zone)
    return first * HOUR_US, end * HOUR_US


def _hour(text: str) -> int | None:
    return int(text) if _HOUR.fullmatch(text) else None


def _hour_label(hour: int, zone: ZoneInfo) -> str:
    return f"{datetime.fromtimestamp(hour * 3600, zone):%Y-%m-%d %H:%M}"


def _age(text: str) -> Age:
    return next((age for number, age in enumerate(AGES) if str(number) == text), AGES[0])


def _query(request: Request, zone: ZoneInfo) -> tuple[Query, ValidationFailed | None]:
    """What is asked for; the usual report with the faults of what cannot be."""
    today = periods.today(request.now_us, zone)
    usual = queries.recent(today)
    try:
        return queries.read(forms.read_query(request), today, usual.period), None
    except ValidationFailed as error:
        return usual, error


def _label(step: periods.Step) -> str:
    day = step.day.isoformat()
    return day if step.hour is None else f"{day} {step.hour:02}:00"


def _row(name: str, each: ReportFigures) -> list[str]:
    figures = msgspec.structs.astuple(each)
    return [name, *("" if figure is None else str(figure) for figure in figures)]
