"""The participants of a ticket as JSON."""

from sealdesk.mail.threads import actions, examples
from sealdesk.mail.threads.errors import NO_MAILBOX
from sealdesk.mail.threads.types import ParticipantsChange
from sealdesk.tickets.ticket.errors import TICKET_MERGED
from sealdesk.web import body, envelope
from sealdesk.web.operation import operation
from sealdesk.web.request import Request, Response

_TAG = "Tickets"


@operation("Get a ticket's participants", tag=_TAG, gives=examples.PARTICIPANTS)
async def get_participants(request: Request, ticket_id: str) -> Response:
    """The people who get the public replies of the ticket by e-mail, at most 50: its customer and
    those in copy, if it began by e-mail."""
    found = await request.fetch(actions.get_participants, ticket_id)
    return envelope.one(actions.to_response(found))


@operation(
    "Set a ticket's participants",
    tag=_TAG,
    takes=ParticipantsChange,
    gives=examples.PARTICIPANTS,
    fails=(NO_MAILBOX, TICKET_MERGED),
    example=examples.CHANGE,
)
async def set_participants(request: Request, ticket_id: str) -> Response:
    """Who is not in the list gets no further replies, and may write to the ticket no more. Neither
    the ticket nor its ETag changes. Sending the same list again changes nothing."""
    wanted = body.read(request, ParticipantsChange).participants

    found = await request.act(actions.set_participants, ticket_id, wanted, now_us=request.now_us)
    return envelope.one(actions.to_response(found))
