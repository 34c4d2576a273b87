"""The buttons that follow a ticket and unfollow it."""

from sealdesk.db.engine import Tx
from sealdesk.tickets.followers import actions
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.request import Request, Response


@page
async def follow(request: Request) -> Response:
    """Follow a ticket, or unfollow it; it stays as it is."""
    (ticket_id,), caller = request.params, request.caller
    is_wanted = forms.read(request).text("follows") == "yes"

    async def work(tx: Tx) -> None:
        if is_wanted:
            await actions.follow(tx, caller.tenant_id, ticket_id, caller.actor.id)
        else:
            await actions.unfollow(tx, caller.tenant_id, ticket_id, caller.actor.id)

    await request.write(work)
    return render.redirect(request, f"/tickets/{ticket_id}")
