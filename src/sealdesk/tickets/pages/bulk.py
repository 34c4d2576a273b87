"""Changing many tickets of the inbox: what will be done, and then what was done and what not."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import UNSET

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, NotFound, PreconditionFailed, ValidationFailed
from sealdesk.identity import store as people
from sealdesk.tickets import actions, rules
from sealdesk.tickets.pages import inbox_query as views
from sealdesk.tickets.store import tickets as ticket_store
from sealdesk.tickets.store.tickets import TicketAndCustomer
from sealdesk.tickets.types import TicketChange
from sealdesk.web import body
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.forms import Form
from sealdesk.web.pages.i18n import gettext
from sealdesk.web.request import Request, Response
from sealdesk.web.router import page

_MOST = 100  # as many as any page could show


class Line(NamedTuple):
    """A chosen ticket. found: None when it is not there. etag: which version was looked at.

    why: what hinders the change, "" when nothing does.
    """

    id: str
    found: TicketAndCustomer | None
    etag: str
    why: str


class _Seen(NamedTuple):
    """What is there of the tickets that were chosen, and who they are to be assigned to."""

    found: dict[str, TicketAndCustomer | None]
    assignee: str | None


@page
async def change_tickets(request: Request) -> Response:
    """First what will be done to which tickets; sent again from there, it is done."""
    form = forms.read(request)
    change = _change(form, request.caller.actor.id)
    confirmed = dict(text.split(" ", 1) for text in form.texts("confirmed")[:_MOST] if " " in text)
    chosen = [one for one in (confirmed or form.texts("ticket")) if ids.is_canonical(one)]
    seen = await _look(request, list(dict.fromkeys(chosen))[:_MOST], change)
    if not seen.found or change == TicketChange() or seen.assignee is None:
        return await _show(request, form, 422, seen, [], change, is_done=False)
    if not confirmed:
        lines = [_planned(request, one, found, change) for one, found in seen.found.items()]
        return await _show(request, form, 200, seen, lines, change, is_done=False)
    lines = [
        await _changed(request, Line(one, found, confirmed[one], ""), change)
        for one, found in seen.found.items()
    ]
    return await _show(request, form, 200, seen, lines, change, is_done=True)


def _change(form: Form, reader_id: str) -> TicketChange:
    """What was chosen in the form; what is left as it is is left out. Raises Invalid."""
    wanted: dict[str, Any] = {
        name: form.text(name) for name in ("status", "priority") if form.text(name)
    }
    assignee = form.text("assignee")
    if assignee:
        special = {views.ME: reader_id, views.NOBODY: None}
        wanted["assignee_id"] = special.get(assignee, assignee)
    return body.convert(wanted, TicketChange)


async def _look(request: Request, chosen: Sequence[str], change: TicketChange) -> _Seen:
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> _Seen:
        there = {
            each.ticket.id: each for each in await ticket_store.list_chosen(tx, tenant_id, chosen)
        }
        found = {one: there.get(one) for one in chosen}
        if not isinstance(change.assignee_id, str):
            return _Seen(found, "")
        user = await people.find(tx, tenant_id, change.assignee_id)
        return _Seen(found, user.name if user is not None and user.is_active else None)

    return await request.read(work)


def _planned(
    request: Request, ticket_id: str, found: TicketAndCustomer | None, change: TicketChange
) -> Line:
    """What will become of a ticket, as it is now."""
    if found is None:
        return Line(ticket_id, None, "", _why(NotFound()))
    etag = rules.etag(found.ticket.version, found.customer_version)
    try:
        is_so = rules.changed(found.ticket, change, request.now_us) is found.ticket
    except Conflict as refusal:
        return Line(ticket_id, found, etag, _why(refusal))
    return Line(ticket_id, found, etag, gettext("It is like that already.") if is_so else "")


async def _changed(request: Request, line: Line, change: TicketChange) -> Line:
    """Change one ticket in a transaction of its own; what hinders one does not hinder others."""
    try:
        shown = await request.write(
            lambda tx: actions.change_ticket(
                tx, request.caller, line.id, change, if_match=(line.etag,), now_us=request.now_us
            )
        )
    except ApiError as refusal:
        return line._replace(why=_why(refusal))
    is_so = shown.etag == line.etag
    return line._replace(why=gettext("It is like that already.") if is_so else "")


def _why(refusal: ApiError) -> str:
    if isinstance(refusal, NotFound):
        return gettext("It is no longer there.")
    if isinstance(refusal, PreconditionFailed):
        return gettext("It has changed since you looked at it. Look at it again.")
    if isinstance(refusal, Conflict):
        return gettext("It is closed. Open it first.")
    if isinstance(refusal, ValidationFailed):
        return gettext("Whom it was to be assigned to can no longer be chosen.")
    return gettext("It could not be stored right now. Try again in a moment.")


async def _show(
    request: Request,
    form: Form,
    status: int,
    seen: _Seen,
    lines: Sequence[Line],
    change: TicketChange,
    *,
    is_done: bool,
) -> Response:
    asked = views.asked(forms.read_query(request))
    return await render.page(
        request, "tickets/bulk_done.html" if is_done else "tickets/bulk.html", status,
        back=asked.link(), action=asked.bulk(),
        changed=[line for line in lines if not line.why],
        kept=[line for line in lines if line.why],
        typed={name: form.text(name) for name in ("status", "priority", "assignee")},
        change=change, unset=UNSET, assignee=seen.assignee, is_chosen=bool(seen.found),
    )  # fmt: skip
