"""The buttons that follow a ticket and unfollow it."""

from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, NotFound
from sealdesk.tickets.followers import store
from sealdesk.tickets.followers.errors import TOO_MANY_FOLLOWERS
from sealdesk.tickets.store import tickets as ticket_store
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.request import Request, Response


@page
async def follow(request: Request) -> Response:
    """Follow a ticket, or unfollow it; it stays as it is."""
    (ticket_id,), caller = request.params, request.caller
    is_wanted = forms.read(request).text("follows") == "yes"

    async def work(tx: Tx) -> None:
        if not await ticket_store.has_ticket(tx, caller.tenant_id, ticket_id):
            raise NotFound
        if not is_wanted:
            await store.remove(tx, caller.tenant_id, ticket_id, caller.actor.id)
        elif not await store.add(tx, caller.tenant_id, ticket_id, caller.actor.id):
            raise Conflict(TOO_MANY_FOLLOWERS, limit=store.MAX_FOLLOWERS)

    await request.write(work)
    return render.redirect(request, f"/tickets/{ticket_id}")
