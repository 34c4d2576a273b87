"""Unread tickets: opening the page of a ticket marks it as read, and a button as unread again."""

from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable, must_exist
from sealdesk.tickets.ticket.store import reads
from sealdesk.tickets.views.inbox_query import PATH, read_inbox_query
from sealdesk.web.form import parse_form
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.request import Request, Response


async def find_unread(request: Request, ticket_id: str) -> int | None:
    """The time of the last message of the ticket if the caller has not read it, else None.

    A page that is fetched before anybody looks at it marks nothing as read, and neither does one
    with earlier replies, or one that another site fetches without a click of the user.
    """
    purpose = request.headers.get(b"sec-purpose", request.headers.get(b"purpose", b""))
    is_earlier = bool(forms.read_query(request).text("before"))
    if request.method != "GET" or b"prefetch" in purpose or is_earlier:
        return None
    if _is_of_another_site(request):
        return None
    return await request.fetch(reads.find_unread, request.caller.actor.id, ticket_id)


def _is_of_another_site(request: Request) -> bool:
    is_own = request.headers.get(b"sec-fetch-site", b"none") in (b"same-origin", b"none")
    # A link in an e-mail that is read in a browser.
    is_followed = (
        request.headers.get(b"sec-fetch-user") == b"?1"
        and request.headers.get(b"sec-fetch-dest") == b"document"
    )
    return not (is_own or is_followed)


async def mark_read(request: Request, ticket_id: str, seen_at: int) -> None:
    """Record that the caller has read the ticket up to the time of this message."""
    caller = request.caller

    async def work(tx: Tx) -> None:
        await reads.prune_reads(tx, caller.tenant_id, caller.actor.id)
        await reads.record_read(tx, caller.tenant_id, caller.actor.id, ticket_id, seen_at)

    try:
        await request.write(work)
    except ServiceUnavailable:
        return  # The page can be read while nothing can be stored: the ticket stays unread.


@page
async def mark_unread(request: Request, ticket_id: str) -> Response:
    """Mark a ticket as unread by the caller, and lead back to the list that it was opened from."""
    caller = request.caller

    async def work(tx: Tx) -> None:
        last_at = must_exist(await reads.find_last_message(tx, caller.tenant_id, ticket_id))
        await reads.record_read(tx, caller.tenant_id, caller.actor.id, ticket_id, last_at - 1)

    back = forms.read(request).text("back").partition("?")[2]
    await request.write(work)
    query = read_inbox_query(parse_form(back.encode()))
    return render.redirect(request, query.link(trail=query.trail) if back else PATH)
