"""Exports the tickets of a list as a CSV file."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from sealdesk import ids
from sealdesk.customers import store as customers
from sealdesk.db.engine import Tx
from sealdesk.errors import QueryTooSlow
from sealdesk.resources.paging import PageRequest, take_page
from sealdesk.tickets.pages import view_model
from sealdesk.tickets.ticket.store import assignees, lists
from sealdesk.tickets.ticket.store.filters import Filter
from sealdesk.tickets.ticket.types import TicketResponse
from sealdesk.tickets.views.current import load_query
from sealdesk.tickets.views.inbox_query import InboxQuery
from sealdesk.web import csv_export
from sealdesk.web.csv_export import CsvExport, CsvPart, ExportPage, with_lf
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import gettext
from sealdesk.web.request import Request, Response

_NOBODY = ids.NONE  # the id of no customer
_HEADER = """
    number subject status priority customer_email customer_name assignee tags source external_id
    reply_count created_at updated_at first_response_at resolved_at closed_at waiting_since
    custom_fields description id
""".split()


class _List(NamedTuple):
    """The list that is exported, and the filters of its tickets, newest first."""

    query: InboxQuery
    filters: Filter


@page
async def ask_export(request: Request) -> Response:
    """The page that says how many tickets there are, and begins the export."""
    listed = await _load(request)
    if listed.query.is_search():
        return render.redirect(request, listed.query.link())
    return await csv_export.show_page(request, await _page(request, listed))


@page
async def export_tickets(request: Request) -> Response:
    """The tickets of a list as a CSV file."""
    listed = await _load(request)
    if listed.query.is_search():
        return render.redirect(request, listed.query.link())
    if not csv_export.has_room(request):
        return await csv_export.show_page(request, await _page(request, listed), is_busy=True)

    async def read(page_request: PageRequest) -> CsvPart:
        return await _read(request, listed.filters, page_request)

    details = {"filters": listed.query.stored()}
    return await csv_export.send_file(request, CsvExport("tickets", _HEADER, read, details))


async def _load(request: Request) -> _List:
    """The list of the query, or of its view. Raises NotFound."""
    form, caller = forms.read_query(request), request.caller

    async def work(tx: Tx) -> _List:
        query, _ = await load_query(tx, caller, form)
        filters = query.filter(caller.actor.id, request.now_us)
        if query.customer and not ids.is_canonical(query.customer):
            found = await customers.find_by_email(tx, caller.tenant_id, query.customer)
            filters = msgspec.structs.replace(filters, customer_id=found.id if found else _NOBODY)
        is_waiting = True if filters.sort_by == "waiting_since" else filters.is_waiting
        newest = msgspec.structs.replace(
            filters, sort_by="created_at", newest_first=True, is_waiting=is_waiting
        )
        return _List(msgspec.structs.replace(query, trail=()), newest)

    return await request.read(work)


async def _page(request: Request, listed: _List) -> ExportPage:
    back = listed.query.link()
    _, mark, query = back.partition("?")
    file = f"/tickets/export/file{mark}{query}"
    return ExportPage(gettext("Tickets"), "tickets", back, file, await _count(request, listed))


async def _count(request: Request, listed: _List) -> int | None:
    tenant_id, most = request.caller.tenant_id, csv_export.MAX_ROWS + 1
    try:
        return await request.read_unindexed(
            lambda tx: lists.count_tickets(tx, tenant_id, listed.filters, most)
        )
    except QueryTooSlow:
        return None


async def _read(request: Request, filters: Filter, page_request: PageRequest) -> CsvPart:
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> CsvPart:
        rows = await lists.list_tickets(tx, tenant_id, filters, page_request)
        taken = take_page(rows, page_request, lists.size)
        tickets = [view_model.decode(lists.to_json(row)) for row in taken]
        assigned = {each.assignee_id for each in tickets if each.assignee_id}
        names = await assignees.list_names(tx, tenant_id, assigned)
        after = tickets[-1].id if len(rows) > len(taken) else None
        return CsvPart([_row(each, names) for each in tickets], after)

    return await (request.read(work) if filters.is_served() else request.read_unindexed(work))


def _row(ticket: TicketResponse, names: dict[str, str]) -> Sequence[str]:
    fields = ticket.custom_fields
    return (
        str(ticket.number),
        with_lf(ticket.subject),
        ticket.status,
        ticket.priority,
        ticket.customer.email,
        with_lf(ticket.customer.name),
        with_lf(names.get(ticket.assignee_id or "")),
        with_lf(", ".join(ticket.tags)),
        ticket.source,
        with_lf(ticket.external_id),
        str(ticket.reply_count),
        ticket.created_at,
        ticket.updated_at,
        ticket.first_response_at or "",
        ticket.resolved_at or "",
        ticket.closed_at or "",
        ticket.waiting_since or "",
        msgspec.json.encode(fields).decode() if fields else "",
        with_lf(ticket.description),
        ticket.id,
    )
