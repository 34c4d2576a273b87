"""The page of the inbox: a list of tickets."""

import asyncio
import shlex
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from sealdesk import ids
from sealdesk.customers import actions as customer_actions
from sealdesk.customers import store as customers
from sealdesk.customers.types import Customer
from sealdesk.db.engine import Row, Tx
from sealdesk.errors import QueryTooSlow
from sealdesk.paging import PageRequest, take_page
from sealdesk.search import actions as search
from sealdesk.tickets.pages import view_model
from sealdesk.tickets.store import assignees, lists
from sealdesk.tickets.store.assignees import Assignee
from sealdesk.tickets.store.selection import Filter
from sealdesk.tickets.types import PRIORITIES, STATUSES, Status
from sealdesk.tickets.views.current import CurrentView, load_query
from sealdesk.tickets.views.inbox_query import InboxQuery, InboxRow, read_inbox_query
from sealdesk.tickets.views.sidebar import Sidebar, load_sidebar
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import gettext_noop
from sealdesk.web.pages.site import NavItem
from sealdesk.web.request import Request, Response

NAV_ITEM = NavItem("/tickets", gettext_noop("Tickets"), is_for_all=True)
PER_PAGE = 50
_MAX_NEW_TICKETS = 25  # that are counted
_MAX_SUGGESTIONS = 10
_MAX_COMMIT_DELAY_US = 60 * 1_000_000  # from when a ticket's id is made until others can see it
_FIRST_TICKET = {
    "subject": "Hello",
    "description": "This is our first ticket.",
    "customer": {"email": "ann@example.com", "name": "Ann"},
}
_decode_row = msgspec.json.Decoder(InboxRow).decode


class _Inbox(NamedTuple):
    """What the inbox shows, read in one transaction. customer: of the customer filter.

    counts: of tickets by status, empty when there are other filters. people: the assignee options.
    has_more: whether a search matched more tickets than it returns.
    """

    rows: Sequence[Row]
    counts: dict[Status, int]
    people: list[Assignee]
    customer: Customer | None
    has_more: bool = False


@page
async def inbox(request: Request) -> Response:
    """The tickets that match a query, newest first by default."""
    query, view, beside = await _load_views(request)
    filters = query.filter(request.caller.actor.id)
    result, is_too_slow = await _load(request, query, filters)
    if not (view or query.is_narrowed() or any(result.counts.values())):
        return await _first_steps(request)
    is_unknown = bool(query.customer) and result.customer is None and not is_too_slow
    suggestions = await _suggest_customers(request, query) if is_unknown else []
    if len(suggestions) == 1:
        return render.redirect(request, query.link(customer=suggestions[0].id))
    rows = take_page(result.rows, PageRequest(PER_PAGE, None), lists.size)
    older = ""
    if len(result.rows) > len(rows) and not query.q:
        older = query.link(trail=query.next_trail(lists.position(filters, rows[-1])))
    return await render.page(
        request, "tickets/tickets.html", 503 if is_too_slow else 200,
        query=query,
        rows=[_decode_row(lists.to_json(row)) for row in rows],
        counts=result.counts, max_count=lists.MAX_COUNT,
        statuses=STATUSES, priorities=PRIORITIES,
        people=sorted(result.people, key=lambda u: (not u.is_active, u.name.casefold())),
        has_more_people=view_model.has_more_assignees(result.people),
        names={user.id: user.name for user in result.people},
        reader_id=request.caller.actor.id,
        customer=result.customer, suggestions=suggestions[:_MAX_SUGGESTIONS],
        has_more=result.has_more or len(result.rows) > len(rows),
        is_too_slow=is_too_slow,
        older=older, newer=query.link(trail=query.trail[:-1]) if query.trail else None,
        since=_newest_id(request, query, rows),
        view=view, sidebar=beside, current=query.view,
    )  # fmt: skip


async def _load_views(request: Request) -> tuple[InboxQuery, CurrentView | None, Sidebar]:
    """The query of the list, the view that it is of, and the views beside it. Raises NotFound."""
    form = forms.read_query(request)

    async def work(tx: Tx) -> tuple[InboxQuery, CurrentView | None, Sidebar]:
        query, view = await load_query(tx, request.caller, form)
        return query, view, await load_sidebar(tx, request.caller)

    return await request.read(work)


async def _load(request: Request, query: InboxQuery, filters: Filter) -> tuple[_Inbox, bool]:
    """What the inbox shows, and whether the query of the tickets took too long."""
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> _Inbox:
        customer = await _find_customer(tx, tenant_id, query.customer)
        rows: Sequence[Row] = []
        if customer is not None or not query.customer:
            of_customer = msgspec.structs.replace(filters, customer_id=customer and customer.id)
            page_request = PageRequest(PER_PAGE, query.after())
            rows = await lists.list_tickets(tx, tenant_id, of_customer, page_request)
        return await _with_counts(tx, tenant_id, query, rows, customer)

    if query.q:
        return await _search(request, query)
    if filters.is_served():
        return await request.read(work), False
    try:
        return await request.read_unindexed(work), False
    except QueryTooSlow:
        return await request.read(lambda tx: _with_counts(tx, tenant_id, query, [], None)), True


async def _suggest_customers(request: Request, query: InboxQuery) -> list[Customer]:
    """Customers that match the words in the customer filter."""
    if ids.is_canonical(query.customer):
        return []
    page_request = PageRequest(_MAX_SUGGESTIONS, None)
    try:
        return await customer_actions.find_customers(
            request.state, request.caller.tenant_id, query.customer, page_request
        )
    except QueryTooSlow:
        return []


async def _search(request: Request, query: InboxQuery) -> tuple[_Inbox, bool]:
    """The newest tickets that contain the words, and whether the search took too long."""
    tenant_id, matches = request.caller.tenant_id, search.SearchResult([], has_more=False)
    is_too_slow = False
    try:
        matches = await search.find_tickets(request.state, tenant_id, query.q)
    except QueryTooSlow:
        is_too_slow = True

    async def work(tx: Tx) -> _Inbox:
        rows = await lists.list_by_ids(tx, tenant_id, matches.ticket_ids)
        result = await _with_counts(tx, tenant_id, query, rows, None)
        return result._replace(has_more=matches.has_more)

    return await request.read(work), is_too_slow


async def _with_counts(
    tx: Tx, tenant_id: str, query: InboxQuery, rows: Sequence[Row], customer: Customer | None
) -> _Inbox:
    counts = {} if query.is_narrowed() else await lists.count_statuses(tx, tenant_id)
    people = await assignees.list_assignees(tx, tenant_id, view_model.ASSIGNEES)
    return _Inbox(rows, counts, people, customer)


async def _find_customer(tx: Tx, tenant_id: str, id_or_email: str) -> Customer | None:
    if not id_or_email:
        return None
    if ids.is_canonical(id_or_email):
        return await customers.find(tx, tenant_id, id_or_email)
    return await customers.find_by_email(tx, tenant_id, id_or_email)


def _newest_id(request: Request, query: InboxQuery, rows: Sequence[Row]) -> str:
    """The id after which tickets are new to the reader of the page."""
    if query.sort != "newest" or query.trail:
        return ids.lowest(request.now_us)
    return str(rows[0]["id"]) if rows else ids.lowest(request.now_us - _MAX_COMMIT_DELAY_US)


async def _first_steps(request: Request) -> Response:
    """The page of a tenant without tickets: how to send the first one."""
    target = f"{request.state.settings.path_prefix}/api/v1/external/tickets"
    command = await asyncio.to_thread(_example_command, render.base_url(request), target)
    poll = InboxQuery(status=None).poll(ids.lowest(0))
    return await render.page(request, "tickets/first_steps.html", command=command, poll=poll)


def _example_command(base_url: str, target: str) -> str:
    """A command that sends a ticket, with dots in place of the key and its secret."""
    # Imported here because it imports Jinja: 25 of 400 ms of a start (2026-11).
    from sealdesk.web.openapi.html import snippet

    body = shlex.quote(msgspec.json.encode(_FIRST_TICKET).decode())
    request = snippet("curl", method="POST", target=target, body=body)
    return (
        f"export SEALDESK_API_URL={shlex.quote(base_url)}\n"
        f"export SEALDESK_API_KEY='…'\nexport SEALDESK_API_SECRET='…'\n\n{request}"
    )


@page
async def new_tickets(request: Request) -> Response:
    """How many tickets are newer than those on the page; an empty fragment when there are none."""
    form = forms.read_query(request)
    query, since = read_inbox_query(form), form.text("since")
    filters = msgspec.structs.replace(
        query.filter(request.caller.actor.id), sort_by="created_at", newest_first=False
    )
    count = await _count_since(request, query, filters, since) if ids.is_canonical(since) else 0
    return await render.page(
        request, "tickets/arrived.html",
        count=count, most=_MAX_NEW_TICKETS, query=query, is_first=since == ids.lowest(0),
    )  # fmt: skip


async def _count_since(request: Request, query: InboxQuery, filters: Filter, since: str) -> int:
    tenant_id, page_request = request.caller.tenant_id, PageRequest(_MAX_NEW_TICKETS, [since])

    async def work(tx: Tx) -> int:
        customer = await _find_customer(tx, tenant_id, query.customer)
        if customer is None and query.customer:
            return 0
        of_customer = msgspec.structs.replace(filters, customer_id=customer and customer.id)
        if not of_customer.is_served():
            # Few tickets are new: the index of ids is the most selective one.
            of_customer = msgspec.structs.replace(of_customer, index="id")
        return await lists.count_tickets(tx, tenant_id, of_customer, page_request)

    return await (request.read(work) if filters.is_served() else request.read_unindexed(work))
