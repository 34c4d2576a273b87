"""The page on which a user opens a ticket for a customer, as after a call."""

import hashlib
from typing import Any, NamedTuple

import msgspec

from sealdesk import ids
from sealdesk.customers import actions as customers
from sealdesk.customers.types import NewCustomer
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, ValidationFailed
from sealdesk.records import idempotency
from sealdesk.records.idempotency import IdempotentRequest, StoredResponse
from sealdesk.resources.addresses import known_address, stand_in
from sealdesk.tickets import actions
from sealdesk.tickets.custom_fields import actions as custom_fields
from sealdesk.tickets.custom_fields.types import Field
from sealdesk.tickets.pages import custom_values, field_form, view_model
from sealdesk.tickets.pages.ticket_response import PATH
from sealdesk.tickets.ticket.store import assignees
from sealdesk.tickets.ticket.store import teams as team_store
from sealdesk.tickets.ticket.store.assignees import Assignee
from sealdesk.tickets.ticket.store.teams import TeamOption
from sealdesk.tickets.ticket.types import PRIORITIES, NewTicket
from sealdesk.web import body
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import translate
from sealdesk.web.request import Request, Response

_EMPTY = {
    "customer": "",
    "email": "",
    "name": "",
    "phone": "",
    "subject": "",
    "description": "",
    "priority": "medium",
    "assignee_id": "",
    "team_id": "",
    "new_tags": "",
}


class _Options(NamedTuple):
    """What the form offers. names: of chosen people."""

    people: list[Assignee]
    names: dict[str, str]
    teams: list[TeamOption]
    definitions: list[Field]


@page
async def show_form(request: Request) -> Response:
    """The form of a new ticket, empty or for the customer that the query names."""
    customer_id = forms.read_query(request).text("customer")
    typed = _EMPTY
    if ids.is_canonical(customer_id):
        customer = await request.fetch(customers.get_customer, customer_id)
        email, name = known_address(customer.email), customer.name or ""
        typed = _EMPTY | {"customer": customer_id, "email": email, "name": name}
    return await _respond(request, typed, ids.mint(request.now_us))


@page
async def open_ticket(request: Request) -> Response:
    """Open a ticket; the same form sent again leads to the ticket of the first time."""
    form = forms.read(request)
    typed = {name: form.text(name) for name in _EMPTY} | custom_values.typed(form, "", "was_")
    submission = _submission(form, request.now_us)
    definitions = await custom_values.load_definitions(request, form)
    try:
        values = custom_values.read_changed(form, definitions)
        customer = await _customer(request, typed, submission)
        wanted = _as_json(typed) | {"customer": customer, "custom_fields": values}
        new = body.convert(wanted, NewTicket)
        person = body.convert(customer | {"phone": typed["phone"].strip() or None}, NewCustomer)
        ticket_id = await request.write(lambda tx: _open_once(tx, request, new, person, submission))
    except (ValidationFailed, Conflict) as error:
        return await _respond(request, typed, submission, error)
    return render.redirect(request, f"{PATH}/{ticket_id}")


async def _open_once(
    tx: Tx, request: Request, new: NewTicket, person: NewCustomer, submission: str
) -> str:
    """The id of the ticket, also of one that this submission has opened already."""
    caller, now_us = request.caller, request.now_us
    digest = hashlib.sha256(msgspec.json.encode(new))
    # A form that was changed before it is sent again, as after "Back", is a ticket of its own.
    scope = f"POST {PATH}/new {submission} {digest.hexdigest()}"
    once = IdempotentRequest(caller.tenant_id, caller.actor.id, scope, digest.digest())
    await idempotency.lock(tx, once)
    stored = await idempotency.find(tx, once, now_us)
    if stored is not None:
        return stored.body.decode()
    await customers.find_or_add(tx, caller.tenant_id, person, now_us=now_us)
    opened = await actions.open_ticket(tx, caller, new, source="dashboard", now_us=now_us)
    await idempotency.store(tx, once, StoredResponse(303, opened.id.encode(), []), now_us)
    return opened.id


def _submission(form: Form, now_us: int) -> str:
    """What tells a form that is sent twice from two forms with the same values."""
    sent = form.text("submission")
    return sent if ids.is_canonical(sent) else ids.mint(now_us)


async def _customer(
    request: Request, typed: dict[str, str], submission: str
) -> dict[str, str | None]:
    """Who was chosen, as long as the form has their name; without an address, who is new."""
    email, name, customer_id = typed["email"].strip(), typed["name"].strip(), typed["customer"]
    if not email and ids.is_canonical(customer_id):
        chosen = await request.fetch(customers.get_customer, customer_id)
        if name == (chosen.name or ""):
            email = chosen.email
    return {"email": email or (name and stand_in(f"{submission} {name}")), "name": name or None}


def _as_json(typed: dict[str, str]) -> dict[str, Any]:
    """The typed values as the body of an API request."""
    return {
        "subject": typed["subject"].strip(),
        "description": typed["description"],
        "priority": typed["priority"],
        "assignee_id": typed["assignee_id"] or None,
        "team_id": typed["team_id"] or None,
        "tags": field_form.split_tags(typed["new_tags"]),
    }


async def _respond(
    request: Request, typed: dict[str, str], submission: str, error: ApiError | None = None
) -> Response:
    """The form with the typed values, and a message beside each invalid field."""
    tenant_id = request.caller.tenant_id
    # Who was searched for may be none of the newest.
    chosen = {typed["assignee_id"]} if ids.is_canonical(typed["assignee_id"]) else set[str]()

    async def work(tx: Tx) -> _Options:
        return _Options(
            await assignees.list_assignees(tx, tenant_id, view_model.ASSIGNEES),
            await assignees.list_names(tx, tenant_id, chosen),
            await team_store.list_teams(tx, tenant_id),
            await custom_fields.list_active(tx, tenant_id),
        )

    people, names, teams, definitions = await request.read(work)
    return await render.page(
        request,
        "tickets/new_ticket.html",
        error.status if error else 200,
        typed=typed,
        submission=submission,
        priorities=PRIORITIES,
        agents=view_model.sort_options(
            names | view_model.assignee_options(people, request.caller.actor)
        ),
        teams=teams,
        custom=custom_values.show_values(definitions, {}).fields,
        has_more_people=view_model.has_more_assignees(people),
        faults=_faults(error) if isinstance(error, ValidationFailed) else {},
        is_in_flight=isinstance(error, Conflict),
    )


def _faults(error: ValidationFailed) -> dict[str, str]:
    """The first fault of each field of the form; those of the customer are fields of their own."""
    faults = custom_values.faults_by_name(error)
    for fault in error.faults:
        field = fault.pointer.removeprefix("/customer").split("/")[1]
        faults.setdefault(field, translate(fault))
    return faults
