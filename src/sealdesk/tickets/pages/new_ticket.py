"""The page on which a user opens a ticket for a customer, as after a call."""

import hashlib
from typing import Any

import msgspec

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, ValidationFailed
from sealdesk.records import idempotency
from sealdesk.records.idempotency import IdempotentRequest, StoredResponse
from sealdesk.tickets import actions
from sealdesk.tickets.pages import field_form, view_model
from sealdesk.tickets.pages.ticket_response import PATH
from sealdesk.tickets.store import assignees
from sealdesk.tickets.store import teams as team_store
from sealdesk.tickets.store.assignees import Assignee
from sealdesk.tickets.store.teams import TeamOption
from sealdesk.tickets.types import PRIORITIES, NewTicket
from sealdesk.web import body
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.messages import translate
from sealdesk.web.request import Request, Response

_EMPTY = {
    "email": "",
    "name": "",
    "subject": "",
    "description": "",
    "priority": "medium",
    "assignee_id": "",
    "team_id": "",
    "new_tags": "",
}


@page
async def show_form(request: Request) -> Response:
    """The empty form of a new ticket."""
    return await _respond(request, _EMPTY, ids.mint(request.now_us))


@page
async def open_ticket(request: Request) -> Response:
    """Open a ticket; the same form sent again leads to the ticket of the first time."""
    form = forms.read(request)
    typed = {name: form.text(name) for name in _EMPTY}
    submission = _submission(form, request.now_us)
    try:
        new = body.convert(_as_json(typed), NewTicket)
        ticket_id = await request.write(lambda tx: _open_once(tx, request, new, submission))
    except (ValidationFailed, Conflict) as error:
        return await _respond(request, typed, submission, error)
    return render.redirect(request, f"{PATH}/{ticket_id}")


async def _open_once(tx: Tx, request: Request, new: NewTicket, submission: str) -> str:
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
    opened = await actions.open_ticket(tx, caller, new, source="dashboard", now_us=now_us)
    await idempotency.store(tx, once, StoredResponse(303, opened.id.encode(), []), now_us)
    return opened.id


def _submission(form: Form, now_us: int) -> str:
    """What tells a form that is sent twice from two forms with the same values."""
    sent = form.text("submission")
    return sent if ids.is_canonical(sent) else ids.mint(now_us)


def _as_json(typed: dict[str, str]) -> dict[str, Any]:
    """The typed values as the body of an API request."""
    return {
        "subject": typed["subject"].strip(),
        "description": typed["description"],
        "customer": {"email": typed["email"].strip(), "name": typed["name"].strip() or None},
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

    async def work(tx: Tx) -> tuple[list[Assignee], dict[str, str], list[TeamOption]]:
        listed = await assignees.list_assignees(tx, tenant_id, view_model.ASSIGNEES)
        names = await assignees.list_names(tx, tenant_id, chosen)
        return listed, names, await team_store.list_teams(tx, tenant_id)

    people, names, teams = await request.read(work)
    return await render.page(
        request, "tickets/new_ticket.html", error.status if error else 200,
        typed=typed, submission=submission, priorities=PRIORITIES,
        agents=view_model.sort_options(
            names | view_model.assignee_options(people, request.caller.actor)
        ),
        teams=teams,
        has_more_people=view_model.has_more_assignees(people),
        faults=_faults(error) if isinstance(error, ValidationFailed) else {},
        is_in_flight=isinstance(error, Conflict),
    )  # fmt: skip


def _faults(error: ValidationFailed) -> dict[str, str]:
    """The first fault of each field of the form; those of the customer are fields of their own."""
    faults: dict[str, str] = {}
    for fault in error.faults:
        field = fault.pointer.removeprefix("/customer").split("/")[1]
        faults.setdefault(field, translate(fault))
    return faults
