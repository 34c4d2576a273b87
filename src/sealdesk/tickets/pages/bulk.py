"""Changing several tickets of the inbox: a preview of the changes, then their results."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, NotFound, PreconditionFailed, ValidationFailed
from sealdesk.tickets import actions
from sealdesk.tickets.pages import custom_values
from sealdesk.tickets.ticket import rules
from sealdesk.tickets.ticket.store import assignees, teams
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.tickets.ticket.store.tickets import TicketAndCustomer
from sealdesk.tickets.ticket.types import TicketChange
from sealdesk.tickets.views import inbox_query
from sealdesk.web import body
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import gettext, gettext_noop
from sealdesk.web.request import Request, Response

MAX_TICKETS = 100  # more than a page of the inbox lists
_CLOSED = gettext_noop("It is closed. Open it first.")
_CONFLICTS = {
    "ticket_closed": _CLOSED,
    "invalid_transition": _CLOSED,
    "ticket_merged": gettext_noop("It was merged into another ticket. Change that one."),
    "no_recipient": gettext_noop("Nobody can get a reply by e-mail. Add a participant first."),
}
_CONFLICT = gettext_noop("It does not allow this as it is now. Open it to change it.")
_READ_AT_ONCE = 10  # the longest description has 256 KiB


class Line(NamedTuple):
    """A selected ticket. stored: None when it does not exist. etag: of the previewed version.

    reason: why it is not changed, "" when it is.
    """

    id: str
    stored: TicketAndCustomer | None
    etag: str
    reason: str


class _Selection(NamedTuple):
    """The selected tickets by id, and the names of the new assignee and team.

    assignee: "" when nobody is to be assigned, None when the user cannot be assigned.
    team: likewise.
    """

    tickets: dict[str, TicketAndCustomer | None]
    assignee: str | None
    team: str | None = ""


@page
async def change_tickets(request: Request) -> Response:
    """Show a preview of the changes; the form of the preview carries them out."""
    form = forms.read(request)
    change = _read_change(form, request.caller.actor.id)
    ticket_ids, confirmed = read_selected(form)
    selection = await _load(request, ticket_ids, change)
    is_missing = None in (selection.assignee, selection.team)
    if not selection.tickets or change == TicketChange() or is_missing:
        return await _respond(request, form, 422, selection, [], change, is_done=False)
    if not confirmed:
        lines = [
            _preview(request, ticket_id, stored, change)
            for ticket_id, stored in selection.tickets.items()
        ]
        return await _respond(request, form, 200, selection, lines, change, is_done=False)
    lines = [
        await _change(request, Line(ticket_id, stored, confirmed[ticket_id], ""), change)
        for ticket_id, stored in selection.tickets.items()
    ]
    return await _respond(request, form, 200, selection, lines, change, is_done=True)


def read_selected(form: Form) -> tuple[list[str], dict[str, str]]:
    """The ids of the selected tickets, and the ETags of those that the preview listed."""
    texts = form.texts("confirmed")[:MAX_TICKETS]
    confirmed = dict(text.split(" ", 1) for text in texts if " " in text)
    selected = [one for one in (confirmed or form.texts("ticket")) if ids.is_canonical(one)]
    return list(dict.fromkeys(selected))[:MAX_TICKETS], confirmed


def _read_change(form: Form, reader_id: str) -> TicketChange:
    """The change that the form describes. Raises ValidationFailed."""
    fields: dict[str, Any] = {
        name: form.text(name) for name in ("status", "priority") if form.text(name)
    }
    assignee = form.text("assignee")
    if assignee:
        special = {inbox_query.ME: reader_id, inbox_query.NOBODY: None}
        fields["assignee_id"] = special.get(assignee, assignee)
    team = form.text("team")
    if team:
        fields["team_id"] = None if team == inbox_query.NOBODY else team
    return body.convert(fields, TicketChange)


async def _load(request: Request, ticket_ids: Sequence[str], change: TicketChange) -> _Selection:
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> _Selection:
        return _Selection(
            await load_short(tx, tenant_id, ticket_ids),
            await _assignee_name(tx, tenant_id, change),
            await _team_name(tx, tenant_id, change),
        )

    return await request.read(work)


async def load_short(
    tx: Tx, tenant_id: str, ticket_ids: Sequence[str]
) -> dict[str, TicketAndCustomer | None]:
    """Tickets without what is long, by id; None where there is none."""
    by_id: dict[str, TicketAndCustomer] = {}
    for first in range(0, len(ticket_ids), _READ_AT_ONCE):
        some = ticket_ids[first : first + _READ_AT_ONCE]
        stored = await ticket_store.list_by_ids(tx, tenant_id, some)
        by_id |= {each.ticket.id: _without_text(each) for each in stored}
    return {ticket_id: by_id.get(ticket_id) for ticket_id in ticket_ids}


async def _assignee_name(tx: Tx, tenant_id: str, change: TicketChange) -> str | None:
    if not isinstance(change.assignee_id, str):
        return ""
    user = await assignees.find_assignee(tx, tenant_id, change.assignee_id)
    return user.name if user is not None and user.is_active else None


async def _team_name(tx: Tx, tenant_id: str, change: TicketChange) -> str | None:
    if not isinstance(change.team_id, str):
        return ""
    return dict(await teams.list_teams(tx, tenant_id)).get(change.team_id)


def _without_text(stored: TicketAndCustomer) -> TicketAndCustomer:
    """Without what is long, which the pages neither show nor change."""
    short = msgspec.structs.replace(stored.ticket, description="", custom_fields={})
    return stored._replace(ticket=short)


def _preview(
    request: Request, ticket_id: str, stored: TicketAndCustomer | None, change: TicketChange
) -> Line:
    """Whether and why a ticket would be changed, as it is now."""
    if stored is None:
        return Line(ticket_id, None, "", reason_of(NotFound()))
    try:
        rules.check_not_merged(stored.ticket)
        update = rules.apply_change(stored.ticket, change, request.now_us)
    except Conflict as error:
        return Line(ticket_id, stored, stored.etag, reason_of(error))
    reason = "" if update.changes else gettext("It already has these values.")
    return Line(ticket_id, stored, stored.etag, reason)


async def _change(request: Request, line: Line, change: TicketChange) -> Line:
    """Change one ticket in its own transaction, so that its failure does not stop the others."""
    try:
        view = await request.act(
            actions.change_ticket, line.id, change, if_match=(line.etag,), now_us=request.now_us
        )
    except ApiError as error:
        return line._replace(reason=reason_of(error))
    is_unchanged = view.etag == line.etag
    return line._replace(reason=gettext("It already has these values.") if is_unchanged else "")


def reason_of(error: ApiError) -> str:
    """Why a ticket is not changed, for the person who wanted it."""
    if isinstance(error, NotFound):
        return gettext("It no longer exists.")
    if isinstance(error, PreconditionFailed):
        return gettext("It has changed since you opened this page. Check it again.")
    if isinstance(error, Conflict):
        return gettext(_CONFLICTS.get(error.code, _CONFLICT))
    if isinstance(error, ValidationFailed):
        faults = forms.faults_by_field(error) | custom_values.faults_by_name(error)
        return " ".join(dict.fromkeys(faults.values()))
    return gettext("It could not be stored right now. Try again in a moment.")


async def _respond(
    request: Request,
    form: Form,
    status: int,
    selection: _Selection,
    lines: Sequence[Line],
    change: TicketChange,
    *,
    is_done: bool,
) -> Response:
    query = inbox_query.read_inbox_query(forms.read_query(request))
    return await render.page(
        request,
        "tickets/bulk_done.html" if is_done else "tickets/bulk.html",
        status,
        back=query.link(),
        action=query.bulk(),
        changed=[line for line in lines if not line.reason],
        unchanged=[line for line in lines if line.reason],
        typed={name: form.text(name) for name in ("status", "priority", "assignee", "team")},
        change=change,
        unset=UNSET,
        assignee=selection.assignee,
        team=selection.team,
        is_chosen=bool(selection.tickets),
    )
