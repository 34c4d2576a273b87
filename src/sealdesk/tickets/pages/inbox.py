"""The inbox: the tickets of a desk as a page."""

import asyncio
import shlex
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from sealdesk import ids
from sealdesk.customers import actions as customer_actions
from sealdesk.customers import store as customers
from sealdesk.customers.types import Customer
from sealdesk.db.engine import Row as Stored
from sealdesk.db.engine import Tx
from sealdesk.errors import QueryTooSlow
from sealdesk.identity import store as people
from sealdesk.identity.rules import User
from sealdesk.paging import PageRequest
from sealdesk.search import actions as search
from sealdesk.tickets.pages import inbox_query as views
from sealdesk.tickets.pages import view_model
from sealdesk.tickets.pages.inbox_query import InboxQuery, Row
from sealdesk.tickets.store import lists
from sealdesk.tickets.store.lists import Filter
from sealdesk.tickets.types import PRIORITIES, STATUSES, Status
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import gettext_noop
from sealdesk.web.pages.site import NavItem
from sealdesk.web.request import Request, Response
from sealdesk.web.router import page

NAV_ITEM = NavItem("/tickets", gettext_noop("Tickets"), is_for_all=True)
PER_PAGE = 50
_ARRIVED = 25  # as many new tickets are counted
_MEANT = 10  # as many customers are offered
_LATE_US = 60 * 1_000_000  # by which a ticket's id may be older than its transaction's end
_FIRST = {
    "subject": "Hello",
    "description": "This is our first ticket.",
    "customer": {"email": "ann@example.com", "name": "Ann"},
}
_row = msgspec.json.Decoder(Row).decode


class _Found(NamedTuple):
    """What the inbox shows, read at one instant. customer: whom the view is of.

    counts: of each status, nothing where more than a status is asked for.
    has_more: whether words that were looked for stand in further tickets.
    """

    rows: Sequence[Stored]
    counts: dict[Status, int]
    people: list[User]
    customer: Customer | None
    has_more: bool = False


@page
async def inbox(request: Request) -> Response:
    """The tickets of one status, newest first, and whatever narrows them."""
    asked = views.asked(forms.read_query(request))
    wanted = asked.filter(request.caller.actor.id)
    found, is_too_slow = await _find(request, asked, wanted)
    if not asked.is_narrowed() and not any(found.counts.values()):
        return await _first_steps(request)
    is_unknown = bool(asked.customer) and found.customer is None and not is_too_slow
    meant = await _meant(request, asked) if is_unknown else []
    if len(meant) == 1:
        return render.redirect(request, asked.link(customer=meant[0].id))
    shown = found.rows[:PER_PAGE]
    is_more = len(found.rows) > PER_PAGE
    return await render.page(
        request, "tickets/tickets.html", 503 if is_too_slow else 200, may_fetch=True,
        asked=asked,
        rows=[_row(lists.show(row)) for row in shown],
        counts=found.counts, counted=lists.COUNTED,
        statuses=STATUSES, priorities=PRIORITIES,
        people=sorted(found.people, key=lambda u: (not u.is_active, u.name.casefold())),
        has_more_people=view_model.are_more(found.people),
        names={user.id: user.name for user in found.people},
        reader_id=request.caller.actor.id,
        customer=found.customer, meant=meant[:_MEANT], has_more=found.has_more,
        is_too_slow=is_too_slow,
        older=asked.link(trail=asked.further(lists.position(wanted, shown[-1]))) if is_more else "",
        newer=asked.link(trail=asked.trail[:-1]) if asked.trail else None,
        since=_since(request, asked, shown),
    )  # fmt: skip


async def _find(request: Request, asked: InboxQuery, wanted: Filter) -> tuple[_Found, bool]:
    """What there is, and whether the tickets took too long to find."""
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> _Found:
        customer = await _customer(tx, tenant_id, asked.customer)
        rows: Sequence[Stored] = []
        if customer is not None or not asked.customer:
            one = msgspec.structs.replace(wanted, customer_id=customer and customer.id)
            place = PageRequest(PER_PAGE, asked.after())
            rows = await lists.list_tickets(tx, tenant_id, one, place)
        return await _around(tx, tenant_id, asked, rows, customer)

    if asked.q:
        return await _search(request, asked)
    if wanted.is_served():
        return await request.read(work), False
    try:
        return await request.read_unindexed(work), False
    except QueryTooSlow:
        return await request.read(lambda tx: _around(tx, tenant_id, asked, [], None)), True


async def _meant(request: Request, asked: InboxQuery) -> list[Customer]:
    """Whom the words in the filter may mean, when no customer has them for an address."""
    if ids.is_canonical(asked.customer):
        return []
    wanted = PageRequest(_MEANT, None)
    try:
        return await customer_actions.find_customers(
            request.state, request.caller.tenant_id, asked.customer, wanted
        )
    except QueryTooSlow:
        return []


async def _search(request: Request, asked: InboxQuery) -> tuple[_Found, bool]:
    """The newest tickets in which words stand, and whether that took too long to find."""
    tenant_id, found = request.caller.tenant_id, search.Found([], has_more=False)
    is_too_slow = False
    try:
        found = await search.find_tickets(request.state, tenant_id, asked.q)
    except QueryTooSlow:
        is_too_slow = True

    async def work(tx: Tx) -> _Found:
        rows = await lists.list_chosen(tx, tenant_id, found.ticket_ids)
        return (await _around(tx, tenant_id, asked, rows, None))._replace(has_more=found.has_more)

    return await request.read(work), is_too_slow


async def _around(
    tx: Tx, tenant_id: str, asked: InboxQuery, rows: Sequence[Stored], customer: Customer | None
) -> _Found:
    counts = {} if asked.is_narrowed() else await lists.count_statuses(tx, tenant_id)
    return _Found(rows, counts, await people.list_users(tx, tenant_id, view_model.PEOPLE), customer)


async def _customer(tx: Tx, tenant_id: str, said: str) -> Customer | None:
    if not said:
        return None
    if ids.is_canonical(said):
        return await customers.find(tx, tenant_id, said)
    return await customers.find_by_email(tx, tenant_id, said)


def _since(request: Request, asked: InboxQuery, shown: Sequence[Stored]) -> str:
    """The newest ticket that is on the page; what comes after it is new."""
    if asked.sort != "newest" or asked.trail:
        return ids.lowest(request.now_us)
    return str(shown[0]["id"]) if shown else ids.lowest(request.now_us - _LATE_US)


async def _first_steps(request: Request) -> Response:
    """What leads to the first ticket."""
    target = f"{request.state.settings.path_prefix}/api/v1/external/tickets"
    command = await asyncio.to_thread(_first_ticket, render.base_url(request), target)
    poll = InboxQuery(status=None).poll(ids.lowest(0))
    return await render.page(
        request, "tickets/first_steps.html", may_fetch=True, command=command, poll=poll
    )


def _first_ticket(address: str, target: str) -> str:
    """A command that sends one, with dots where the key and its secret belong."""
    from sealdesk.web.openapi.html import snippet  # late: it brings Jinja with it

    body = shlex.quote(msgspec.json.encode(_FIRST).decode())
    request = snippet("curl", method="POST", target=target, body=body)
    return (
        f"export SEALDESK_API_URL={shlex.quote(address)}\n"
        f"export SEALDESK_API_KEY='…'\nexport SEALDESK_API_SECRET='…'\n\n{request}"
    )


@page
async def arrived(request: Request) -> Response:
    """A line that says how many tickets of a view are new since it was shown; or nothing."""
    form = forms.read_query(request)
    asked, since = views.asked(form), form.text("since")
    wanted = msgspec.structs.replace(
        asked.filter(request.caller.actor.id), sort_by="created_at", newest_first=False
    )
    count = await _count_since(request, asked, wanted, since) if ids.is_canonical(since) else 0
    return await render.page(
        request, "tickets/arrived.html",
        count=count, most=_ARRIVED, asked=asked, is_first=since == ids.lowest(0),
    )  # fmt: skip


async def _count_since(request: Request, asked: InboxQuery, wanted: Filter, since: str) -> int:
    tenant_id, place = request.caller.tenant_id, PageRequest(_ARRIVED, [since])

    async def work(tx: Tx) -> int:
        customer = await _customer(tx, tenant_id, asked.customer)
        if customer is None and asked.customer:
            return 0
        one = msgspec.structs.replace(wanted, customer_id=customer and customer.id)
        if not one.is_served():
            one = msgspec.structs.replace(one, lead="id")  # what is new is little
        return len(await lists.list_tickets(tx, tenant_id, one, place))

    return await (request.read(work) if wanted.is_served() else request.read_unindexed(work))
