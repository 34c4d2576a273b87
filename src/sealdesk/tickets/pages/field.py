"""Saves one field of a ticket: the answer is a part of a page, or without scripts the ticket."""

from typing import Any, NamedTuple

from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, PreconditionFailed, ValidationFailed
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets import actions
from sealdesk.tickets.custom_fields import actions as custom_fields
from sealdesk.tickets.custom_fields.types import Field
from sealdesk.tickets.pages import custom_values, field_form, ticket_response, view_model
from sealdesk.tickets.pages.ticket_response import RejectedForm
from sealdesk.tickets.pages.view_model import list_names
from sealdesk.tickets.ticket.store import history
from sealdesk.tickets.ticket.store.history import TicketHistoryEntry
from sealdesk.tickets.ticket.types import CUSTOM, TicketResponse
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import translate
from sealdesk.web.request import Request, Response

_CHANGES = 10  # the one just made is among them, unless ten others have followed


class _State(NamedTuple):
    """The ticket after the attempt. entry: the newest change of the field, None without any.

    definitions: of custom fields by their names in forms, if the field is one.
    """

    ticket: TicketResponse
    etag: str
    entry: TicketHistoryEntry | None
    names: dict[str, str]
    definitions: dict[str, Field]


@page
async def save_field(request: Request, ticket_id: str) -> Response:
    """Save one field, unless somebody else has changed this field meanwhile."""
    form = forms.read(request)
    is_script = b"text/html" not in request.headers.get(b"accept", b"")
    try:
        definitions = await custom_values.load_definitions(request, form)
        wanted = field_form.read_field(form, request.caller.actor.id, definitions)
        before = await request.act(actions.change_fields, ticket_id, wanted, request.now_us)
    except (ValidationFailed, Conflict, PreconditionFailed) as error:
        if is_script:
            return await _respond(request, ticket_id, form, error=error)
        return await ticket_response.respond(
            request, ticket_id, await _rejected(request, ticket_id, form, error)
        )
    if is_script:
        return await _respond(request, ticket_id, form, etag_before=before.etag)
    return render.redirect(request, f"{ticket_response.PATH}/{ticket_id}")


async def _respond(
    request: Request,
    ticket_id: str,
    form: Form,
    *,
    error: ApiError | None = None,
    etag_before: str = "",
) -> Response:
    """What a script puts beside the field."""
    field = form.text("field")
    state = await _load(request, ticket_id, field)
    value = _value(state.ticket, field)
    current = field_form.texts_of(value)
    faults = [*error.faults] if isinstance(error, ValidationFailed) else []
    return await render.page(
        request,
        "tickets/saved.html",
        error.status if error else 200,
        at=f"{ticket_response.PATH}/{state.ticket.id}",
        field=field,
        ticket=state.ticket,
        entry=state.entry,
        names=state.names,
        etag=state.etag,
        etag_before=etag_before,
        value=value,
        is_undo=form.text("undone") != "",
        undo=_undo(state, form, request.caller.actor.id),
        mine=_parameters(field, form.texts("value"), current),
        theirs=_parameters(field, current, current),
        is_conflict=isinstance(error, PreconditionFailed),
        is_refused=isinstance(error, Conflict),
        fault=translate(faults[0]) if faults else "",
    )


def _undo(state: _State, form: Form, reader_id: str) -> list[tuple[str, str]]:
    """The fields that undo what this form has changed; none if that is not the newest change."""
    entry, field = state.entry, form.text("field")
    if entry is None or entry.actor.id != reader_id or form.text("undone"):
        return []
    old, new = entry.changes[field]
    texts = field_form.texts_of(old), field_form.texts_of(new)
    if field.startswith(CUSTOM):
        sent = [
            custom_values.read_value(state.definitions, field, form.texts(name))
            for name in ("was", "value")
        ]
        is_own = tuple(map(field_form.texts_of, sent)) == texts
        return [*_parameters(field, *texts), ("undone", entry.id)] if is_own else []
    wanted = [field_form.value_of(field, form.texts(name), reader_id) for name in ("was", "value")]
    if wanted != [old, new]:
        return []
    return [*_parameters(field, *texts), ("undone", entry.id)]


def _parameters(field: str, new: list[str], seen: list[str]) -> list[tuple[str, str]]:
    values = [("value", text) for text in new]
    return [("field", field), *values, *(("was", text) for text in seen)]


async def _load(request: Request, ticket_id: str, field: str) -> _State:
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> _State:
        view = await actions.get_view(tx, tenant_id, ticket_id)
        newest = PageRequest(_CHANGES, None)
        changes = await history.list_changes(tx, tenant_id, ticket_id, newest)
        entry = next((each for each in changes if field in each.changes), None)
        ticket = view_model.decode(view.json)
        names = await list_names(tx, tenant_id, ticket, [entry] if entry else [])
        fields = []
        if field.startswith(CUSTOM):
            fields = await custom_fields.list_active(tx, tenant_id)
        names |= custom_values.labels_of(fields)
        definitions = custom_values.by_name(fields)
        return _State(ticket, view.etag, entry, names, definitions)

    return await request.read(work)


def _value(ticket: TicketResponse, field: str) -> Any:
    if field.startswith(CUSTOM):
        return ticket.custom_fields.get(field.removeprefix(CUSTOM))
    return getattr(ticket, field, None)


async def _rejected(request: Request, ticket_id: str, form: Form, error: ApiError) -> RejectedForm:
    """The form of the ticket's page with what this form wanted to change."""
    state = await _load(request, ticket_id, form.text("field"))
    before = ticket_response.current_fields(state.ticket)
    field, typed = form.text("field"), {**before, "new_tags": ""}
    if field in before or field.startswith(CUSTOM):
        typed[field] = form.texts("value") if field == "tags" else form.text("value")
    return RejectedForm("change", typed, error, before=before)
