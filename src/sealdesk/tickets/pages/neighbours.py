"""The ticket after or before another one, in the view from which it was opened."""

from typing import NamedTuple

import msgspec

from sealdesk import clock, ids
from sealdesk.errors import BadRequest, NotFound, QueryTooSlow
from sealdesk.resources.paging import PageRequest, Position
from sealdesk.tickets.ticket import rules
from sealdesk.tickets.ticket.store import lists
from sealdesk.tickets.ticket.store.filters import Filter
from sealdesk.tickets.ticket.types import TicketResponse
from sealdesk.tickets.views.current import load_query
from sealdesk.tickets.views.inbox_query import PATH, InboxQuery, read_inbox_query, read_position
from sealdesk.web.form import Form, parse_form
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render, return_paths
from sealdesk.web.request import Request, Response

_MAX_DIGITS = 9  # of a number in a view


class Place(NamedTuple):
    """A view, and the position of a ticket in it. number: counted from 1; 0 if it is not known."""

    query: InboxQuery
    position: Position
    number: int = 0

    def link(self) -> str:
        """The URL of the ticket."""
        address = self.query.ticket(self.position)
        return f"{address}&n={self.number}" if self.number else address

    def text(self) -> str:
        """The place as the query string of addresses names it."""
        return self.link().partition("?")[2]


def read_place(form: Form) -> Place | None:
    """The place that URL parameters name; None when they name none."""
    query = read_inbox_query(form)
    position = read_position(query, form.text("at"))
    number = form.text("n")
    is_number = number.isascii() and number.isdigit() and len(number) <= _MAX_DIGITS
    return None if position is None else Place(query, position, int(number) if is_number else 0)


def parse_place(text: str) -> Place | None:
    """The place that a query string names; None when it names none."""
    try:
        return read_place(parse_form(text.encode()))
    except BadRequest:
        return None


async def find_place(request: Request, ticket: TicketResponse) -> Place | None:
    """The place of a ticket in the list that its page was opened from; None from another page."""
    path, _, query_string = return_paths.referring_page(request).partition("?")
    if path != PATH:
        return None
    try:
        form = parse_form(query_string.encode())
        query, _ = await request.read(lambda tx: load_query(tx, request.caller, form))
    except (BadRequest, NotFound):
        return None
    position = None if query.q else _position_of(ticket, query)
    return None if position is None else Place(query, position)


def _position_of(ticket: TicketResponse, query: InboxQuery) -> Position | None:
    """None in an order that does not have the ticket."""
    if query.sort == "newest":
        return [ticket.id]
    if query.sort == "priority":
        return [rules.rank_of(ticket.priority), ticket.id]
    at: str | None = ticket.waiting_since if query.sort == "waiting" else ticket.updated_at
    if query.sort == "due":
        at = ticket.due.times()[0][0] if ticket.due else None
    at_us = None if at is None else clock.parse_instant(at)
    return None if at_us is None else [at_us, ticket.id]


async def next_path(request: Request, place: Place, ticket_id: str) -> str:
    """The URL of the ticket after a place, or of the list at its end.

    ticket_id: of the ticket that is left. A change may have moved it behind its former place.
    """
    query, found = place.query, await _find(request, place.query, place.position, is_next=True)
    if found is not None and found[-1] == ticket_id:
        found = await _find(request, query, found, is_next=True)
    return query.ticket(found) if found else query.link()


@page
async def go_to_next(request: Request) -> Response:
    """Leads to the ticket after a position of the view, or to the list at its end."""
    return await _go(request, is_next=True)


@page
async def go_to_previous(request: Request) -> Response:
    """Leads to the ticket before a position of the view, or to the list at its beginning."""
    return await _go(request, is_next=False)


async def _go(request: Request, *, is_next: bool) -> Response:
    form = forms.read_query(request)
    place = read_place(form)
    found = place and await _find(request, place.query, place.position, is_next=is_next)
    if not place or not found:
        return render.redirect(request, read_inbox_query(form).link())
    number = place.number and place.number + (1 if is_next else -1)
    return render.redirect(request, Place(place.query, found, number).link())


async def _find(
    request: Request, query: InboxQuery, position: Position, *, is_next: bool
) -> Position | None:
    """The position of the neighbour. Nothing precedes or follows the results of a search."""
    if query.is_search() or (query.customer and not ids.is_canonical(query.customer)):
        return None
    filters = query.filter(request.caller.actor.id, request.now_us)
    if not is_next:
        filters = msgspec.structs.replace(filters, newest_first=not filters.newest_first)
    try:
        return await _read(request, filters, position)
    except QueryTooSlow:
        return None


async def _read(request: Request, filters: Filter, after: Position) -> Position | None:
    read = request.read if filters.is_served() else request.read_unindexed
    tenant_id, one = request.caller.tenant_id, PageRequest(1, after)
    rows = await read(lambda tx: lists.list_tickets(tx, tenant_id, filters, one))
    return lists.position(filters, rows[0]) if rows else None
