"""Sends a reply or a note from the page of a ticket, with what was chosen beside it."""

from typing import Any

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, PreconditionFailed, ValidationFailed
from sealdesk.tickets import actions
from sealdesk.tickets.pages import field_form, ticket_response
from sealdesk.tickets.pages.ticket_response import RejectedForm
from sealdesk.tickets.types import NewReply, Reply
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.request import Request, Response


@page
async def reply(request: Request) -> Response:
    """Add a reply or an internal note, and change the fields that were chosen with it."""
    form, (ticket_id,) = forms.read(request), request.params
    typed: dict[str, Any] = {
        "body": form.text("body"),
        "is_internal": form.text("is_internal") != "",
    }
    attachment_ids = [one for one in form.texts("attachment_ids") if ids.is_canonical(one)]
    status, last_seen_id = form.text("status"), form.text("seen")
    try:
        new = body.convert({**typed, "attachment_ids": attachment_ids}, NewReply)
        wanted = field_form.read_unsaved(form, {"status": status} if status else {})

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
        unsaved = field_form.unsaved(form)
        typed |= {"status": status, "attachment_ids": attachment_ids}
        rejected = RejectedForm("reply", typed, error, before=unsaved)
        return await ticket_response.respond(request, rejected)
    path = f"{ticket_response.PATH}/{ticket_id}?sent={written.id}#reply-{written.id}"
    return render.redirect(request, path)
