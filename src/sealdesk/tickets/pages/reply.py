"""Sends a reply or a note from the page of a ticket, with what was chosen beside it."""

from typing import Any

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, PreconditionFailed, ValidationFailed
from sealdesk.tickets import actions
from sealdesk.tickets.pages import custom_values, field_form, neighbours, ticket_response
from sealdesk.tickets.pages.neighbours import Place
from sealdesk.tickets.pages.ticket_response import RejectedForm
from sealdesk.tickets.types import NewReply, Reply
from sealdesk.web import body
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.request import Request, Response


@page
async def reply(request: Request, ticket_id: str) -> Response:
    """Add a reply or an internal note, and change the fields that were chosen with it.

    The field `then` says what follows: "resolve" resolves the ticket and leads to the next one of
    the view, if it is known; "next" leads to the next one.
    """
    form = forms.read(request)
    then, typed, last_seen_id = form.text("then"), read_typed(form), form.text("seen")
    try:
        sent = {name: typed[name] for name in ("body", "is_internal", "attachment_ids")}
        new = body.convert(sent, NewReply)
        changed = "resolved" if then == "resolve" else typed["status"]
        definitions = await custom_values.load_definitions(request, form)
        status_change = {"status": changed} if changed else {}
        wanted = field_form.read_unsaved(form, status_change, definitions)

        async def work(tx: Tx) -> Reply:
            return await actions.send_reply(
                tx,
                request.caller,
                ticket_id,
                new,
                wanted,
                last_seen_id=last_seen_id,
                now_us=request.now_us,
            )

        written = await request.write(work)
    except (ValidationFailed, Conflict, PreconditionFailed) as error:
        rejected = RejectedForm(
            "reply", typed, error, before=field_form.unsaved(form), seen_reply=last_seen_id
        )
        return await ticket_response.respond(request, ticket_id, rejected)
    return render.redirect(
        request, await _path_after(request, ticket_id, then, typed["place"], written)
    )


def read_typed(form: Form) -> dict[str, Any]:
    """The fields of the composer as they were typed."""
    return {
        "body": form.text("body"),
        "is_internal": form.text("is_internal") != "",
        "attachment_ids": [one for one in form.texts("attachment_ids") if ids.is_canonical(one)],
        "status": form.text("status"),
        "place": neighbours.parse_place(form.text("in")),
    }


async def _path_after(
    request: Request, ticket_id: str, then: str, place: Place | None, written: Reply
) -> str:
    """The URL that follows. Its fragment tells the script of another page whose draft to delete."""
    if place and then in ("next", "resolve"):
        path = await neighbours.next_path(request, place, ticket_id)
        return f"{path}#sent-{ticket_id}"
    if then == "next":
        return f"{ticket_response.PATH}#sent-{ticket_id}"
    query = f"{place.text()}&" if place else ""
    return f"{ticket_response.PATH}/{ticket_id}?{query}sent={written.id}#reply-{written.id}"
