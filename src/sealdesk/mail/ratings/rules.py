"""Whether a ticket can be rated, and what a rating does to it; no I/O."""

from typing import Literal

import msgspec

from sealdesk.clock import iso
from sealdesk.mail.ratings.types import Rating
from sealdesk.tickets.erasing.rules import is_nobody
from sealdesk.tickets.types import Satisfaction, Ticket, TicketUpdate

State = Literal["open", "rated", "nobody", "over"]


def state_of(ticket: Ticket, email: str) -> State:
    """Whether its customer can rate a ticket, and otherwise why not. email: of the customer."""
    if is_nobody(ticket.customer_id, email):
        return "nobody"
    if ticket.satisfaction is not None:
        return "rated"
    return "open" if ticket.merged_into_id is None else "over"


def rated(ticket: Ticket, given: Rating, now_us: int) -> TicketUpdate:
    """A ticket with its rating."""
    at = max(now_us, ticket.updated_at)
    satisfaction = Satisfaction(given.rating, given.comment or None, iso(at))
    after = msgspec.structs.replace(
        ticket, satisfaction=satisfaction, updated_at=at, version=ticket.version + 1
    )
    shown = msgspec.structs.asdict(satisfaction)
    return TicketUpdate(ticket, after, {"satisfaction": (None, shown)})
