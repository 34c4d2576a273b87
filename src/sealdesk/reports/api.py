"""Reports as JSON, and the tickets behind their numbers."""

from zoneinfo import ZoneInfo

from sealdesk.clock import iso
from sealdesk.db.engine import Row, Tx
from sealdesk.errors.general import QUERY_TOO_SLOW
from sealdesk.reports import examples, making, parameters, periods, store
from sealdesk.reports.figures import Figures, to_response
from sealdesk.reports.making import Report
from sealdesk.reports.query import Query
from sealdesk.reports.responses import (
    ReportAge,
    ReportGroup,
    ReportResponse,
    ReportStep,
)
from sealdesk.reports.rules import HOUR_US
from sealdesk.reports.types import AGES
from sealdesk.resources.paging import Position
from sealdesk.tickets.ticket import examples as ticket_examples
from sealdesk.tickets.ticket.store import lists
from sealdesk.web import envelope, query
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, page, read_list
from sealdesk.web.request import Request, Response


@operation("Get a report", tag="Reports", gives=examples.REPORT, params=parameters.REPORT)
async def get_report(request: Request) -> Response:
    """How many tickets were created, answered and resolved in a period and how long that took,
    beside the period before, in steps, and by team, agent, source, tag, key or custom field. A
    ticket counts for the team and agent that it has now. Merged tickets count nowhere."""
    zone = await making.read_zone(request)
    values = query.parse(request.query, parameters.REPORT)
    wanted = await parameters.read_report(request, values, zone)
    report = await making.make(
        request.state.database, request.caller.tenant_id, wanted, zone, request.now_us
    )
    return envelope.one(_to_response(report, wanted, zone))


@operation(
    "List the tickets of a report",
    tag="Reports",
    gives=ticket_examples.TICKET,
    is_list=True,
    params=(*parameters.TICKETS, *PAGING),
    fails=(QUERY_TOO_SLOW,),
)
async def list_report_tickets(request: Request) -> Response:
    """The tickets behind a figure of a report with the same parameters, the latest first. One that
    counts several times, such as one that was reopened twice, is listed once."""
    zone = await making.read_zone(request)
    list_request = read_list(request, parameters.TICKETS)
    values, paging = list_request.values, list_request.page
    wanted = await parameters.read_report(request, values, zone)
    selection = parameters.select(values, wanted, request.now_us, zone)
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> tuple[list[Position], list[Row]]:
        found = await store.list_counted(
            tx, tenant_id, selection, paging.after, paging.per_page + 1
        )
        ids = [str(ticket_id) for _, ticket_id in found]
        return found, await lists.list_in_order(tx, tenant_id, ids, paging.max_bytes)

    positions, rows = await request.read_unindexed(work)
    by_id = {str(each[1]): each for each in positions}
    return page(
        request, list_request, rows, show=lists.to_json, position=lambda row: by_id[row["id"]]
    )


def _to_response(report: Report, wanted: Query, zone: ZoneInfo) -> ReportResponse:
    period = wanted.period
    return ReportResponse(
        period=period.kind,
        first_day=period.first.isoformat(),
        last_day=periods.last_day(period).isoformat(),
        time_zone=zone.key,
        is_complete=not report.is_incomplete,
        figures=to_response(report.now),
        previous_figures=to_response(report.earlier),
        step=wanted.step,
        steps=[
            ReportStep(iso(step.first * HOUR_US), to_response(each))
            for step, each in zip(report.steps, report.by_step, strict=True)
        ],
        groups=[_group(value, each, report) for value, each in report.values],
        unfinished=[
            ReportAge(age.days, age.end, tickets)
            for age, tickets in zip(AGES, report.unfinished, strict=True)
        ],
    )


def _group(value: str, figures: Figures, report: Report) -> ReportGroup:
    name = report.names.get(value, value)
    return ReportGroup(value or None, name or None, to_response(figures))
