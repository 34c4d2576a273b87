"""The page of a ticket, the form of its fields, and its history."""

from typing import Any

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, NotFound, PreconditionFailed, ValidationFailed, must_exist
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets import actions
from sealdesk.tickets.custom_fields import store as custom_field_store
from sealdesk.tickets.pages import custom_values, field_form, ticket_response, unread, view_model
from sealdesk.tickets.pages.ticket_response import PATH, SINGLE_VALUED, RejectedForm
from sealdesk.tickets.pages.view_model import list_names
from sealdesk.tickets.ticket.store import history
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.tickets.ticket.store.history import TicketHistoryEntry
from sealdesk.tickets.ticket.types import TicketChange, TicketResponse
from sealdesk.web import body
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.request import Request, Response

_CHANGES_PER_PAGE = 50
_MAX_DIGITS = 18  # of a number, which fits into 64 bits


@page
async def show_ticket(request: Request, ticket_id: str) -> Response:
    """A ticket with its newest entries, or with those before a given one.

    The number of a ticket leads to it.
    """
    if not ids.is_canonical(ticket_id):
        return render.redirect(request, await _path_of_number(request, ticket_id))
    unread_at = await unread.find_unread(request, ticket_id)
    response = await ticket_response.respond(request, ticket_id)
    if unread_at is not None:
        await unread.mark_read(request, ticket_id, unread_at)
    return response


async def _path_of_number(request: Request, digits: str) -> str:
    if not digits.isascii() or len(digits) > _MAX_DIGITS:
        raise NotFound
    number = int(digits)
    found = must_exist(await request.fetch(ticket_store.find_id, number))
    query = f"?{request.query.decode('latin-1')}" if request.query else ""
    return f"{PATH}/{found}{query}"


@page
async def change_ticket(request: Request, ticket_id: str) -> Response:
    """Change the fields of a ticket, unless somebody else has changed it meanwhile."""
    form = forms.read(request)
    typed, etag = _typed_fields(form), form.text("etag")
    try:
        nullable = ("assignee_id", "team_id", "snoozed_until")
        fields = {**typed, **{name: typed[name] or None for name in nullable}}
        fields["tags"] = [*typed["tags"], *field_form.split_tags(fields.pop("new_tags"))]
        definitions = await custom_values.load_definitions(request, form)
        custom = custom_values.read_changed(form, definitions)
        change = body.convert(fields | ({"custom_fields": custom} if custom else {}), TicketChange)
        await request.act(
            actions.change_ticket, ticket_id, change, if_match=(etag,), now_us=request.now_us
        )
    except (ValidationFailed, Conflict, PreconditionFailed) as error:
        before: dict[str, Any] = {name: form.text(f"was_{name}") for name in SINGLE_VALUED}
        before["tags"] = form.texts("was_tags")
        before |= custom_values.typed(form, "was_", "was_")
        typed |= custom_values.typed(form, "", "was_")
        rejected = RejectedForm("change", typed, error, form.text("seen_change"), before)
        return await ticket_response.respond(request, ticket_id, rejected)
    return render.redirect(request, f"{PATH}/{ticket_id}")


@page
async def show_history(request: Request, ticket_id: str) -> Response:
    """All changes of a ticket, newest first."""
    tenant_id = request.caller.tenant_id
    trail = cursor_trail.read(forms.read_query(request))
    page_request = PageRequest(_CHANGES_PER_PAGE, [trail[-1]] if trail else None)

    async def work(tx: Tx) -> tuple[TicketResponse, list[TicketHistoryEntry], dict[str, str]]:
        view = await actions.get_view(tx, tenant_id, ticket_id)
        changes = await history.list_changes(tx, tenant_id, ticket_id, page_request)
        ticket = view_model.decode(view.json)
        names = await list_names(tx, tenant_id, ticket, changes)
        names |= custom_values.labels_of(await custom_field_store.list_fields(tx, tenant_id))
        return ticket, changes, names

    ticket, changes, names = await request.read(work)
    has_more = len(changes) > _CHANGES_PER_PAGE
    return await render.page(
        request,
        "tickets/history.html",
        ticket=ticket,
        names=names,
        changes=changes[:_CHANGES_PER_PAGE],
        older=cursor_trail.older(trail, changes[_CHANGES_PER_PAGE - 1].id) if has_more else None,
        newer=cursor_trail.newer(trail),
    )


def _typed_fields(form: Form) -> dict[str, Any]:
    return {
        "status": form.text("status"),
        "priority": form.text("priority"),
        "assignee_id": form.text("assignee_id"),
        "subject": form.text("subject"),
        "team_id": form.text("team_id"),
        "snoozed_until": form.text("snoozed_at") or form.text("snoozed_until"),
        "tags": form.texts("tags"),
        "new_tags": form.text("new_tags"),
    }
