"""The links of a ticket as JSON."""

from sealdesk.db.engine import Tx
from sealdesk.tickets.links import actions
from sealdesk.tickets.links.errors import LINK_CIRCLE, LINKED_OTHERWISE, TOO_MANY_LINKS
from sealdesk.tickets.links.types import NewTicketLink, TicketLinkResponse
from sealdesk.tickets.ticket import examples as ticket_examples
from sealdesk.tickets.ticket.errors import TICKET_MERGED
from sealdesk.web import body, envelope
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, list_few
from sealdesk.web.request import Request, Response

_TAG = "Tickets"
_LINK = TicketLinkResponse(
    id="0199c0a1-11bc-7a90-8e24-5d6c7b8a9f01",
    number=1041,
    subject="The glaze of batch 77 cracks",
    status="open",
    relation="blocked_by",
    created_at=ticket_examples.TICKET.created_at,
)
NEW_LINK = {"relation": _LINK.relation, "ticket_id": _LINK.id}


@operation("List a ticket's links", tag=_TAG, gives=_LINK, is_list=True, params=PAGING)
async def list_links(request: Request, ticket_id: str) -> Response:
    """The tickets that this one is linked to, at most 50, by their ids. Those that were merged
    into others are left out, as those have their links."""
    return await list_few(
        request, lambda: request.fetch(actions.list_links, ticket_id), lambda each: each
    )


@operation(
    "Link a ticket to another",
    tag=_TAG,
    takes=NewTicketLink,
    gives=_LINK,
    status=201,
    headers=("idempotency-key",),
    fails=(LINKED_OTHERWISE, LINK_CIRCLE, TOO_MANY_LINKS, TICKET_MERGED),
    example=NEW_LINK,
)
async def add_link(request: Request, ticket_id: str) -> Response:
    """A link that is there already stays. The other ticket has the opposite link. Neither ticket
    nor its ETag changes; the history of both names the other one."""
    new = body.read(request, NewTicketLink)

    async def work(tx: Tx) -> Response:
        link = await actions.add_link(tx, request.caller, ticket_id, new, now_us=request.now_us)
        return envelope.one(link, 201)

    return await request.write_idempotently(work)


@operation("Remove a link between tickets", tag=_TAG, status=204)
async def remove_link(request: Request, ticket_id: str, other_id: str) -> Response:
    """Also if there is none. The link of the other ticket is removed with it."""
    await request.act(actions.remove_link, ticket_id, other_id, now_us=request.now_us)
    return envelope.nothing()
