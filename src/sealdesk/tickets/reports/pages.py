"""The page "Reports": what happened in a period, beside the period before."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from typing import NamedTuple
from zoneinfo import ZoneInfo

from sealdesk.db.engine import Tx
from sealdesk.errors import ValidationFailed
from sealdesk.resources import csv_file
from sealdesk.tickets.hours import store as hours_store
from sealdesk.tickets.pages.inbox_rows import duration_text
from sealdesk.tickets.reports import figures, periods, plots, store
from sealdesk.tickets.reports import query as queries
from sealdesk.tickets.reports.figures import Figures
from sealdesk.tickets.reports.query import PATH, Query
from sealdesk.tickets.reports.rules import HOUR_US, ranges_of
from sealdesk.tickets.reports.types import DIMENSIONS, HAPPENINGS, Dimension, Sums
from sealdesk.tickets.store import assignees, teams
from sealdesk.tickets.store import tickets as ticket_store
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import gettext_noop
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

ROOM = Room("tickets.reports", nav_item=NavItem(PATH, gettext_noop("Reports"), section="lead"))
_CSV = b"text/csv; charset=utf-8"
_TICKETS_AT_ONCE = 100
_SECOND_US = 1_000_000
_MAX_NAMES = 1_000
_YEAR = len("2027-")  # that the labels of a plot leave out


class _Read(NamedTuple):
    """What the page reads in one transaction: rows of sums. names: of teams and people, by ids."""

    by_step: list[list[str]]
    earlier: list[str]
    by_value: Mapping[str, list[str]]
    names: Mapping[str, str]
    is_incomplete: bool


class _Report(NamedTuple):
    """A report as it is shown. values: each with its name in the table."""

    steps: list[periods.Step]
    by_step: list[Figures]
    now: Figures
    earlier: Figures
    values: list[tuple[str, Figures]]
    names: Mapping[str, str]
    is_incomplete: bool


@page
async def show_report(request: Request) -> Response:
    """A report of a period."""
    zone = await _zone(request)
    query, error = _query(request, zone)
    report = await _make(request, query, zone)
    labels = [_label(each) for each in report.steps]
    created = [each.created for each in report.by_step]
    resolved = [each.resolved for each in report.by_step]
    return await render.page(
        request,
        "reports/report.html",
        422 if error else 200,
        query=query,
        report=report,
        labels=labels,
        plot=plots.bars([created, resolved], [each[_YEAR:] for each in labels]),
        width=plots.WIDTH,
        height=plots.HEIGHT,
        dimensions=DIMENSIONS[1:],
        kinds=periods.KINDS,
        offered=periods.steps_for(query.period),
        before=query.in_period(periods.before(query.period)),
        after=query.in_period(periods.after(query.period)),
        last_day=periods.last_day(query.period),
        zone=zone.key,
        duration=duration_text,
        most=store.MAX_VALUES,
        **forms.messages(error),
    )


@page
async def download_report(request: Request) -> Response:
    """The numbers of a report as a CSV file, by step or by value."""
    zone = await _zone(request)
    query, error = _query(request, zone)
    if error is not None:
        raise error
    report = await _make(request, query, zone)
    if forms.read_query(request).text("table") == "values":
        named = [(report.names.get(value, value), each) for value, each in report.values]
    else:
        named = [
            (_label(step), each) for step, each in zip(report.steps, report.by_step, strict=True)
        ]
    header = (
        "name created answered resolved reopened first_response_median_s first_response_p90_s"
        " resolution_median_s resolution_p90_s sla_promises sla_kept_percent ratings"
        " satisfied_percent"
    ).split()
    content = csv_file.encode(header, [_row(name, each) for name, each in named])
    first = query.period.first.isoformat()
    return render.download(content, _CSV, f"report-{query.period.kind}-{first}.csv")


@page
async def list_tickets(request: Request) -> Response:
    """The tickets behind a number."""
    zone = await _zone(request)
    query, error = _query(request, zone)
    if error is not None:
        raise error
    wanted = forms.read_query(request).text("what")
    happening = next((each for each in HAPPENINGS if each == wanted), HAPPENINGS[0])
    first, end = periods.hours_of(query.period, zone)
    between_us = first * HOUR_US, end * HOUR_US
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> list[str]:
        return await store.list_ticket_ids(
            tx, tenant_id, happening, between_us, query.dimension, query.value
        )

    ids = await request.read_unindexed(work)
    shown = ids[: store.MAX_TICKETS]
    found = []
    for start in range(0, len(shown), _TICKETS_AT_ONCE):
        part = shown[start : start + _TICKETS_AT_ONCE]
        found += await request.fetch(ticket_store.list_by_ids, part)
    by_id = {each.ticket.id: each.ticket for each in found}
    return await render.page(
        request,
        "reports/tickets.html",
        query=query,
        happening=happening,
        tickets=[by_id[each] for each in shown if each in by_id],
        is_cut=len(ids) > len(shown),
        last_day=periods.last_day(query.period),
        most=store.MAX_TICKETS,
    )


async def _zone(request: Request) -> ZoneInfo:
    found = await request.fetch(hours_store.find)
    return ZoneInfo(found.time_zone if found else "UTC")


def _query(request: Request, zone: ZoneInfo) -> tuple[Query, ValidationFailed | None]:
    """What is asked for; this week with the faults of what cannot be."""
    today = datetime.fromtimestamp(request.now_us / 1_000_000, UTC).astimezone(zone).date()
    try:
        return queries.read(forms.read_query(request), today), None
    except ValidationFailed as error:
        return queries.default(today), error


async def _make(request: Request, query: Query, zone: ZoneInfo) -> _Report:
    steps = periods.steps_of(query.period, query.step, zone)
    hours = periods.hours_of(query.period, zone)
    earlier = periods.hours_of(periods.before(query.period), zone)
    read = await request.read_unindexed(
        lambda tx: _read(tx, request.caller.tenant_id, query, steps, hours, earlier)
    )
    by_step = [await figures.add_up(rows) for rows in read.by_step]
    total: Sums = sum(by_step, Counter())
    by_value = [
        (value, figures.figures_of(await figures.add_up(rows)))
        for value, rows in read.by_value.items()
    ]
    by_value.sort(key=lambda each: (-sum(each[1][:3]), each[0]))
    return _Report(
        steps,
        [*map(figures.figures_of, by_step)],
        figures.figures_of(total),
        figures.figures_of(await figures.add_up(read.earlier)),
        by_value[: store.MAX_VALUES],
        read.names,
        read.is_incomplete,
    )


async def _read(
    tx: Tx,
    tenant_id: str,
    query: Query,
    steps: Sequence[periods.Step],
    hours: tuple[int, int],
    earlier: tuple[int, int],
) -> _Read:
    of_step = [ranges_of(each.first, each.end) for each in steps]
    of_earlier = ranges_of(*earlier)
    every = [*chain.from_iterable(of_step), *of_earlier]
    rows = iter(await store.list_rows(tx, tenant_id, query.dimension, query.value, every))
    by_step = [[*chain.from_iterable(islice(rows, len(ranges)))] for ranges in of_step]
    by_value = await store.list_rows_by_value(tx, tenant_id, query.by, ranges_of(*hours))
    return _Read(
        by_step,
        [*chain.from_iterable(rows)],
        by_value,
        {
            **await _names(tx, tenant_id, query.by, [*by_value]),
            **await _names(tx, tenant_id, query.dimension, [query.value]),
        },
        await store.is_rebuilding(tx, tenant_id),
    )


async def _names(
    tx: Tx, tenant_id: str, dimension: Dimension, values: Sequence[str]
) -> Mapping[str, str]:
    """The names of teams or people; others are called by their values."""
    ids = [each for each in values if each][:_MAX_NAMES]
    if dimension == "team" and ids:
        return await teams.list_names(tx, tenant_id, ids)
    if dimension == "assignee" and ids:
        return await assignees.list_names(tx, tenant_id, ids)
    return {}


def _label(step: periods.Step) -> str:
    day = step.day.isoformat()
    return day if step.hour is None else f"{day} {step.hour:02}:00"


def _row(name: str, each: Figures) -> list[str]:
    durations = (each.answer_us, each.answer_p90_us, each.resolution_us, each.resolution_p90_us)
    return [
        name,
        *map(str, (each.created, each.answered, each.resolved, each.reopened)),
        *("" if us is None else str(us // _SECOND_US) for us in durations),
        *("" if number is None else str(number) for number in each[-4:]),
    ]
