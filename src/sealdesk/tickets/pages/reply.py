"""Sends a reply or a note from the page of a ticket, with what was chosen beside it."""

from sealdesk.db.engine import Tx, Work
from sealdesk.errors import Conflict, PreconditionFailed, ValidationFailed
from sealdesk.tickets import actions
from sealdesk.tickets.held_replies import actions as held_replies
from sealdesk.tickets.held_replies import store as held_store
from sealdesk.tickets.held_replies.types import HELD_S, HeldReply
from sealdesk.tickets.pages import (
    composer_form,
    custom_values,
    field_form,
    neighbours,
    ticket_response,
)
from sealdesk.tickets.pages.neighbours import Place
from sealdesk.tickets.pages.ticket_response import RejectedForm
from sealdesk.tickets.ticket.types import Reply
from sealdesk.web.form import Form
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, preferences, render
from sealdesk.web.request import Request, Response


class _Undone(Exception):
    """Undoes a transaction that has shown that a reply can be sent."""


@page
async def reply(request: Request, ticket_id: str) -> Response:
    """Add a reply or an internal note, and change the fields that were chosen with it.

    The field `then` says what follows: "resolve" resolves the ticket and leads to the next one of
    the view, if it is known; "next" leads to the next one. With `remember`, the next reply,
    but no note, is offered to be sent in the same way. Where the desk says so, a public reply is
    held before all of this happens.
    """
    form = forms.read(request)
    typed = composer_form.read_typed(form)
    try:
        definitions = await custom_values.load_definitions(request, form)
        sent = composer_form.read_sent(form, definitions)

        async def work(tx: Tx) -> Reply:
            return await actions.send_reply(
                tx,
                request.caller,
                ticket_id,
                sent.new,
                sent.wanted,
                last_seen_id=sent.last_seen_id,
                now_us=request.now_us,
            )

        if sent.new.is_internal or not await request.fetch(held_store.is_on):
            written: Reply | HeldReply = await request.write(work)
        else:
            written = await _hold(request, ticket_id, form, work)
    except (ValidationFailed, Conflict, PreconditionFailed) as error:
        rejected = RejectedForm(
            "reply", typed, error, before=field_form.unsaved(form), seen_reply=form.text("seen")
        )
        return await ticket_response.respond(request, ticket_id, rejected)
    path = await _path_after(request, ticket_id, form.text("then"), typed["place"], written)
    cookies = [] if sent.new.is_internal else [preferences.sends_cookie(request, typed)]
    if isinstance(written, HeldReply):
        cookies.append(preferences.cookie(request, preferences.HOLDS, "yes", HELD_S))
    return render.redirect(request, path, *cookies)


async def _hold(
    request: Request, ticket_id: str, form: Form, work: Work[Reply]
) -> Reply | HeldReply:
    """The held reply, which could be sent now; or the sent one, if it is sent again."""

    async def try_out(tx: Tx) -> Reply:
        written = await work(tx)
        if written.created_at == request.now_us:
            raise _Undone
        return written

    try:
        return await request.write(try_out)
    except _Undone:
        held = await request.write_more(
            lambda tx: held_replies.hold(
                tx,
                request.caller,
                ticket_id,
                form,
                now_us=request.now_us,
                real_now_us=request.real_now_us,
            )
        )
    request.state.streams.tell_presence(request.caller.tenant_id, ticket_id)
    return held


async def _path_after(
    request: Request, ticket_id: str, then: str, place: Place | None, written: Reply | HeldReply
) -> str:
    """The URL that follows. Its fragment tells the script of another page whose draft to delete."""
    is_held = isinstance(written, HeldReply)
    name = "held" if is_held else "sent"
    if place and then in ("next", "resolve"):
        path = await neighbours.next_path(request, place, ticket_id)
        return f"{path}#{name}-{ticket_id}"
    if then == "next":
        return f"{ticket_response.PATH}#{name}-{ticket_id}"
    query = f"{place.text()}&" if place else ""
    anchor = "held" if is_held else f"reply-{written.id}"
    return f"{ticket_response.PATH}/{ticket_id}?{query}{name}={written.id}#{anchor}"
