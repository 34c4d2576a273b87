"""The page of the inbox: a list of tickets."""

import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from sealdesk import ids
from sealdesk.caller import Caller
from sealdesk.customers import actions as customer_actions
from sealdesk.customers import store as customers
from sealdesk.customers.types import Customer
from sealdesk.db.engine import Row, Tx
from sealdesk.errors import QueryTooSlow
from sealdesk.resources.paging import PageRequest, Position, take_page
from sealdesk.tickets.custom_fields import actions as custom_fields
from sealdesk.tickets.custom_fields.types import Field
from sealdesk.tickets.live import store as live
from sealdesk.tickets.pages import view_model
from sealdesk.tickets.pages.custom_values import field_choices
from sealdesk.tickets.pages.first_steps import find_first_steps
from sealdesk.tickets.pages.inbox_rows import ListedTicket, listed_tickets, row_values
from sealdesk.tickets.pages.timeline import Avatar, avatar
from sealdesk.tickets.promises import store as promises
from sealdesk.tickets.ticket import errors, labels, snoozing
from sealdesk.tickets.ticket.store import assignees, lists, reads, teams
from sealdesk.tickets.ticket.store.assignees import Assignee
from sealdesk.tickets.ticket.store.filters import Filter
from sealdesk.tickets.ticket.store.reads import Reads
from sealdesk.tickets.ticket.store.teams import TeamOption
from sealdesk.tickets.ticket.types import PRIORITIES, STATUSES, Status
from sealdesk.tickets.views import searching
from sealdesk.tickets.views.current import CurrentView, load_query
from sealdesk.tickets.views.inbox_query import (
    InboxQuery,
    position_text,
    read_inbox_query,
    read_position,
)
from sealdesk.tickets.views.searching import Results
from sealdesk.tickets.views.sidebar import Sidebar, load_sidebar
from sealdesk.web import snippets
from sealdesk.web.operation import page
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.pages.i18n import gettext, gettext_noop
from sealdesk.web.pages.site import NavItem, Room
from sealdesk.web.request import Request, Response

NAV_ITEM = NavItem("/tickets", gettext_noop("Tickets"), section="main")
ROOM = Room("tickets", errors, labels, NAV_ITEM)
PER_PAGE = 50
_MAX_CHANGED = 25  # tickets with news that are counted
_FIRST: Position = [0, ids.lowest(0)]  # before every ticket
_MAX_SUGGESTIONS = 10
_MAX_COMMIT_DELAY_US = 60 * 1_000_000  # from the time of a change until others can see it
_Views = tuple[InboxQuery, CurrentView | None, Sidebar, list[Field]]
_FIRST_TICKET = {
    "subject": "Hello",
    "description": "This is our first ticket.",
    "customer": {"email": "ann@example.com", "name": "Ann"},
}


class _Inbox(NamedTuple):
    """What the inbox shows, read in one transaction. customer: of the customer filter.

    counts: of tickets by status, empty when there are other filters. people: the assignee options.
    reads: what the user has read of the rows. found: the result of a search.
    """

    rows: Sequence[Row]
    counts: dict[Status, int]
    people: list[Assignee]
    customer: Customer | None
    reads: Reads
    teams: Sequence[TeamOption]
    has_policies: bool
    found: Results | None = None


@page
async def inbox(request: Request) -> Response:
    """The tickets that match a query, by their last change by default."""
    query, view, beside, fields = await _load_views(request)
    filters = query.filter(request.caller.actor.id, request.now_us)
    # Before the tickets: the page is told of everything behind it.
    position = await request.fetch(live.last_position)
    result, is_too_slow = await _load(request, query, filters)
    has_answer = bool(query.customer or query.is_search() or (view and view.problems))
    if not (result.rows or has_answer) and (steps := await find_first_steps(request)):
        return await _first_steps(request, position, beside, steps)
    is_unknown = bool(query.customer) and result.customer is None and not is_too_slow
    suggestions = await _suggest_customers(request, query) if is_unknown else []
    if len(suggestions) == 1:
        return render.redirect(request, query.link(customer=suggestions[0].id))
    rows = take_page(result.rows, PageRequest(PER_PAGE, None), lists.size)
    older = _older(query, filters, result, rows)
    listed = listed_tickets(rows, result.reads, request.now_us)
    return await render.page(
        request,
        "tickets/tickets.html",
        503 if is_too_slow else 200,
        query=query,
        rows=listed,
        values=row_values(listed),
        per_page=PER_PAGE,
        is_counted=len(query.trail) < cursor_trail.MAX_LENGTH,
        places={} if query.is_search() else _places(filters, rows),
        counts=result.counts,
        max_count=lists.MAX_COUNT,
        names={user.id: user.name for user in result.people},
        faces=_faces(result.people, listed),
        reader_id=request.caller.actor.id,
        customer=result.customer,
        suggestions=suggestions[:_MAX_SUGGESTIONS],
        has_more=bool(older),
        is_too_slow=is_too_slow,
        older=older,
        newer=query.link(trail=query.trail[:-1]) if query.trail else None,
        since=_since(request, query, rows),
        position=position,
        view=view,
        sidebar=beside,
        **_choices(request, result),
        field_choices=field_choices(fields, query.field),
        **_findings(result.found),
    )


def _choices(request: Request, result: _Inbox) -> dict[str, Any]:
    """What the filters and the changes of many tickets offer."""
    return {
        "statuses": STATUSES,
        "priorities": PRIORITIES,
        "has_policies": result.has_policies,
        "snoozes": snoozing.choices(request.now_us),
        "people": sorted(result.people, key=lambda u: (not u.is_active, u.name.casefold())),
        "has_more_people": view_model.has_more_assignees(result.people),
        "teams": result.teams,
    }


def _findings(found: Results | None) -> dict[str, Any]:
    """What a search has found, and what of its words could not be used."""
    problems = [gettext(each.message) % each.values for each in found.problems] if found else []
    return {"found": found, "hits": found.hits if found else {}, "problems": problems}


def _faces(people: Sequence[Assignee], rows: Sequence[ListedTicket]) -> dict[str, Avatar]:
    """The avatars of the assignees of these rows, by their ids."""
    shown = {row.ticket.assignee_id for row in rows}
    return {user.id: avatar(user.name, user.id) for user in people if user.id in shown}


def _older(query: InboxQuery, filters: Filter, result: _Inbox, rows: Sequence[Row]) -> str:
    """The URL of the next page; empty behind the last one."""
    found = result.found
    if found is not None and (found.has_more or len(found.rows) > len(rows)):
        last_id = searching.position_id(found, rows, PageRequest(PER_PAGE, query.after()))
        return query.link(trail=query.next_trail([last_id]))
    if found is None and len(result.rows) > len(rows):
        return query.link(trail=query.next_trail(lists.position(filters, rows[-1])))
    return ""


def _places(filters: Filter, rows: Sequence[Row]) -> dict[str, str]:
    """The position of each row in the list but for its id, by the id of its ticket."""
    return {str(row["id"]): position_text(lists.position(filters, row)[:-1]) for row in rows}


async def _load_views(request: Request) -> _Views:
    """The query of the list, the view that it is of, and what is beside it. Raises NotFound."""
    form = forms.read_query(request)

    async def work(tx: Tx) -> _Views:
        query, view = await load_query(tx, request.caller, form)
        fields = await custom_fields.list_active(tx, request.caller.tenant_id)
        beside = await load_sidebar(tx, request.caller, request.now_us, query.view)
        return query, view, beside, fields

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
            rows = await lists.list_inbox(tx, tenant_id, of_customer, page_request)
        return await _complete(tx, request.caller, query, rows, customer)

    if query.is_search():
        return await _search(request, query)
    if filters.is_served():
        return await request.read(work), False
    try:
        return await request.read_unindexed(work), False
    except QueryTooSlow:
        return await request.read(lambda tx: _complete(tx, request.caller, query, [], None)), True


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
    """What the search finds, and whether it took too long."""
    found = await searching.find_tickets(request, query)
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> _Inbox:
        customer = await _find_customer(tx, tenant_id, query.customer)
        result = await _complete(tx, request.caller, query, found.rows, customer)
        return result._replace(found=found)

    return await request.read(work), found.is_too_slow


async def _complete(
    tx: Tx, caller: Caller, query: InboxQuery, rows: Sequence[Row], customer: Customer | None
) -> _Inbox:
    tenant_id = caller.tenant_id
    counts = {} if query.is_narrowed() else await lists.count_statuses(tx, tenant_id)
    people = await assignees.list_assignees(tx, tenant_id, view_model.ASSIGNEES)
    read = await reads.list_reads(tx, tenant_id, caller.actor.id, [row["id"] for row in rows])
    return _Inbox(
        rows,
        counts,
        people,
        customer,
        read,
        await teams.list_teams(tx, tenant_id),
        await promises.has_policies(tx, tenant_id),
    )


async def _find_customer(tx: Tx, tenant_id: str, id_or_email: str) -> Customer | None:
    if not id_or_email:
        return None
    if ids.is_canonical(id_or_email):
        return await customers.find(tx, tenant_id, id_or_email)
    return await customers.find_by_email(tx, tenant_id, id_or_email)


def _since(request: Request, query: InboxQuery, rows: Sequence[Row]) -> Position:
    """The position in the order by change after which changes are new to the reader of the page."""
    if query.is_search() or query.sort != "changed" or query.trail:
        return [request.now_us, ids.NONE]
    if rows:
        return [rows[0]["updated_at"], rows[0]["id"]]
    return [request.now_us - _MAX_COMMIT_DELAY_US, ids.NONE]


async def _first_steps(
    request: Request, position: int, beside: Sidebar, steps: dict[str, bool]
) -> Response:
    """The page of a tenant without tickets: how to send the first one."""
    target = f"{request.state.settings.path_prefix}/api/v1/external/tickets"
    command = _example_command(render.base_url(request), target)
    return await render.page(
        request,
        "tickets/first_steps.html",
        command=command,
        poll=InboxQuery(status=None).poll(_FIRST),
        position=position,
        sidebar=beside,
        steps=steps,
    )


def _example_command(base_url: str, target: str) -> str:
    """A command that sends a ticket, with dots in place of the key and its secret."""
    body = shlex.quote(msgspec.json.encode(_FIRST_TICKET).decode())
    request = snippets.curl("POST", target, body)
    return (
        f"export SEALDESK_API_URL={shlex.quote(base_url)}\n"
        f"export SEALDESK_API_KEY='…'\nexport SEALDESK_API_SECRET='…'\n\n{request}"
    )


@page
async def changed_tickets(request: Request) -> Response:
    """How many tickets are new, changed or answered since the page was shown; empty for none."""
    form = forms.read_query(request)
    query, since = read_inbox_query(form), read_position(InboxQuery(), form.text("since"))
    changed = [] if since is None else await _list_changed(request, query, since)
    return await render.page(
        request,
        "tickets/arrived.html",
        changed=changed,
        most=_MAX_CHANGED,
        query=query,
        is_first=since == _FIRST,
    )


async def _list_changed(request: Request, query: InboxQuery, since: Position) -> list[str]:
    tenant_id, filters = (
        request.caller.tenant_id,
        query.filter(request.caller.actor.id, request.now_us),
    )

    async def work(tx: Tx) -> list[str]:
        customer = await _find_customer(tx, tenant_id, query.customer)
        if customer is None and query.customer:
            return []
        of_customer = msgspec.structs.replace(filters, customer_id=customer and customer.id)
        return await lists.list_changed(tx, tenant_id, of_customer, since, _MAX_CHANGED + 1)

    # Few have changed since a page was shown, but a client may ask for a filter since any time.
    is_served = not query.is_narrowed()
    return await (request.read(work) if is_served else request.read_unindexed(work))
