"""The buttons that follow a ticket and unfollow it."""

from sealdesk.db.engine import Tx
from sealdesk.tickets.followers import actions, errors
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.site import Room
from sealdesk.web.request import Request, Response

ROOM = Room("tickets.followers", errors)


@page
async def follow(request: Request, ticket_id: str) -> Response:
    """Follow a ticket, or unfollow it; it stays as it is."""
    caller = request.caller
    is_wanted = forms.read(request).text("follows") == "yes"

    async def work(tx: Tx) -> None:
        if is_wanted:
            await actions.follow(tx, caller.tenant_id, ticket_id, caller.actor.id)
        else:
            await actions.unfollow(tx, caller.tenant_id, ticket_id, caller.actor.id)

    await request.write(work)
    return render.redirect(request, f"/tickets/{ticket_id}")
