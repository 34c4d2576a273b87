"""The structs of links between tickets."""

from typing import Literal, NamedTuple

import msgspec

from sealdesk.clock import Iso
from sealdesk.ids import Id
from sealdesk.tickets.ticket.types import Status

Relation = Literal["relates_to", "blocks", "blocked_by", "duplicate_of", "has_duplicate"]


class NewTicketLink(msgspec.Struct, frozen=True):
    """The body of a request that links a ticket to another one.

    relation: what the ticket in the path is to the other one.
    ticket_id: of the other ticket.
    """

    relation: Relation
    ticket_id: str


class TicketLinkResponse(msgspec.Struct, frozen=True):
    """A link of a ticket to another one.

    id: of the other ticket, as number, subject and status.
    relation: what the ticket in the path is to the other one.
    """

    id: Id
    number: int
    subject: str
    status: Status
    relation: Relation
    created_at: Iso


class StoredLink(NamedTuple):
    """A link as its ticket has it, with what is shown of the other ticket."""

    other_id: str
    number: int
    subject: str
    status: Status
    is_merged: bool
    relation: Relation
    created_at: int
