"""Merging and splitting tickets as JSON."""

from sealdesk.db.engine import Tx
from sealdesk.tickets.merging import actions
from sealdesk.tickets.merging.errors import (
    MERGE_FINAL,
    MERGE_INTO_ITSELF,
    NOT_MERGED,
    TOO_MANY_REPLIES,
)
from sealdesk.tickets.merging.types import Merge, Split
from sealdesk.tickets.ticket import examples as ticket_examples
from sealdesk.tickets.ticket.errors import TICKET_CLOSED, TICKET_MERGED
from sealdesk.tickets.ticket.store.tickets import TicketView
from sealdesk.web import body, envelope
from sealdesk.web.operation import operation
from sealdesk.web.request import Header, Request, Response

_TAG = "Tickets"
MERGE = {"into": "0199c0a1-11bc-7a90-8e24-5d6c7b8a9f01"}
SPLIT = {
    "reply_id": ticket_examples.REPLY.id,
    "subject": "A second question: do you ship to Norway?",
}


@operation(
    "Merge a ticket into another",
    tag=_TAG,
    takes=Merge,
    gives=ticket_examples.TICKET,
    headers=("idempotency-key",),
    response_headers=("etag",),
    fails=(MERGE_INTO_ITSELF, TICKET_MERGED, TICKET_CLOSED, TOO_MANY_REPLIES),
    example=MERGE,
)
async def merge_ticket(request: Request, ticket_id: str) -> Response:
    """The replies and notes move to the other ticket, which is returned; the description becomes
    a reply of the customer, at the time when the ticket was created. The merged ticket is closed,
    and `merged_into_id` names the other one. Can be undone for 24 hours."""
    new = body.read(request, Merge)

    async def work(tx: Tx) -> Response:
        view = await actions.merge(tx, request.caller, ticket_id, new, now_us=request.now_us)
        return _respond(view, 200)

    return await request.write_idempotently(work)


@operation(
    "Undo a merge",
    tag=_TAG,
    gives=ticket_examples.TICKET,
    response_headers=("etag",),
    fails=(NOT_MERGED, MERGE_FINAL),
)
async def undo_merge(request: Request, ticket_id: str) -> Response:
    """The ticket has its status, its replies and its notes again. What was written after the merge
    stays in the other ticket."""
    return _respond(await request.act(actions.undo, ticket_id, now_us=request.now_us), 200)


@operation(
    "Split a ticket",
    tag=_TAG,
    takes=Split,
    gives=ticket_examples.TICKET,
    status=201,
    headers=("idempotency-key",),
    response_headers=("location", "etag"),
    fails=(TICKET_MERGED, TOO_MANY_REPLIES),
    example=SPLIT,
)
async def split_ticket(request: Request, ticket_id: str) -> Response:
    """Opens a new ticket of the same customer, with the same priority, assignee and tags. The
    reply becomes its description, and all later replies and notes move to it, or those up to
    `last_reply_id`, which may be the reply itself."""
    new = body.read(request, Split)

    async def work(tx: Tx) -> Response:
        opened = await actions.split(
            tx, request.caller, ticket_id, new, source="api", now_us=request.now_us
        )
        location = (b"location", f"/api/v1/external/tickets/{opened.id}".encode())
        return _respond(opened.view, 201, location)

    return await request.write_idempotently(work)


def _respond(view: TicketView, status: int, *headers: Header) -> Response:
    return envelope.one_document(view.json, status, [*headers, envelope.etag(view.etag)])
