"""Whether a ticket can be rated, who is asked, and what a rating does to it; no I/O."""

from typing import Any, Literal
from uuid import UUID, uuid5

import msgspec

from sealdesk.clock import iso
from sealdesk.customers.types import CustomerRef
from sealdesk.mail.ratings.types import Rating
from sealdesk.tickets.erasing.rules import is_nobody
from sealdesk.tickets.ticket.types import ENDED, Satisfaction, Ticket, TicketUpdate

State = Literal["open", "rated", "nobody", "over"]


class Solved(msgspec.Struct, frozen=True):
    """What the event of a changed status says of its ticket."""

    id: str
    customer: CustomerRef
    first_response_at: str | None
    merged_into_id: str | None = None
    satisfaction: dict[str, Any] | None = None


def may_ask(ticket: Solved, before: str, after: str) -> bool:
    """Whether a change of the status is followed by the question for a rating.

    Not on a ticket that nobody has answered, as spam is closed so.
    """
    is_solved = after in ENDED and before not in ENDED
    is_answered = ticket.first_response_at is not None
    return is_solved and is_answered and not (ticket.merged_into_id or ticket.satisfaction)


def question_id(ticket_id: str) -> str:
    """What the message is about that asks for the rating of a ticket: there is one of each."""
    return str(uuid5(UUID(ticket_id), "rating"))


def state_of(ticket: Ticket, email: str) -> State:
    """Whether its customer can rate a ticket, and otherwise why not. email: of the customer."""
    if is_nobody(ticket.customer_id, email):
        return "nobody"
    if ticket.satisfaction is not None:
        return "rated"
    return "open" if ticket.merged_into_id is None else "over"


def rated(ticket: Ticket, given: Rating, now_us: int) -> TicketUpdate:
    at = max(now_us, ticket.updated_at)
    satisfaction = Satisfaction(given.rating, given.comment or None, iso(at))
    after = msgspec.structs.replace(
        ticket, satisfaction=satisfaction, updated_at=at, version=ticket.version + 1
    )
    shown = msgspec.structs.asdict(satisfaction)
    return TicketUpdate(ticket, after, {"satisfaction": (None, shown)})
