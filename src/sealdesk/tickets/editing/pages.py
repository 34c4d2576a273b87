"""The page on which an agent edits their own note."""

from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, ValidationFailed
from sealdesk.tickets import actions as ticket_actions
from sealdesk.tickets.editing import actions, rules
from sealdesk.tickets.ticket.types import Reply, ReplyBody, Ticket
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import translate
from sealdesk.web.pages.site import Room
from sealdesk.web.request import Request, Response

ROOM = Room("tickets.editing")


@page
async def show_note(request: Request, ticket_id: str, note_id: str) -> Response:
    """The note in a form; without it when the note is too old."""
    return await _respond(request, ticket_id, note_id)


@page
async def edit_note(request: Request, ticket_id: str, note_id: str) -> Response:
    """Give the note another text."""
    typed = forms.read(request).text("body")
    try:
        text = body.convert({"body": typed}, ReplyBody).body
        is_done = await request.act(
            actions.edit_note, ticket_id, note_id, text, now_us=request.now_us
        )
    except (Conflict, ValidationFailed) as error:
        return await _respond(request, ticket_id, note_id, typed, error)
    if not is_done:
        return await _respond(request, ticket_id, note_id, typed)
    return render.redirect(request, f"/tickets/{ticket_id}#reply-{note_id}")


async def _respond(
    request: Request,
    ticket_id: str,
    note_id: str,
    typed: str | None = None,
    error: ApiError | None = None,
) -> Response:
    async def work(tx: Tx) -> tuple[Ticket, Reply]:
        stored = await ticket_actions.get_ticket(tx, request.caller.tenant_id, ticket_id)
        return stored.ticket, await actions.get_own_note(tx, request.caller, ticket_id, note_id)

    ticket, note = await request.read(work)
    is_recent = rules.is_recent(note_id, request.now_us)
    return await render.page(
        request,
        "editing/note.html",
        error.status if error else 200 if is_recent else 409,
        ticket=ticket,
        note=note,
        text=note.body if typed is None else typed,
        is_recent=is_recent,
        minutes=rules.MINUTES,
        wrong=translate(error) if isinstance(error, Conflict) else "",
        faults=forms.faults_by_field(error) if isinstance(error, ValidationFailed) else {},
    )
