"""The structs of requests with several tickets, and of their results."""

from typing import Annotated, ClassVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from sealdesk.resources.representation import CONDITIONS
from sealdesk.tickets.ticket.types import NewTicket, TicketChange, TicketResponse

MAX_ITEMS = 100


class NewTickets(msgspec.Struct, frozen=True):
    """The body of a request that creates several tickets."""

    tickets: Annotated[list[NewTicket], Meta(min_length=1, max_length=MAX_ITEMS)]


class IdentifiedChange(TicketChange, frozen=True, kw_only=True):
    """A merge patch of one of several tickets.

    id: of the ticket. if_match: the ETag that the ticket must still have.
    """

    IGNORED: ClassVar[frozenset[str]] = TicketChange.IGNORED - {"id"}
    MISTAKEN: ClassVar[dict[str, str]] = dict.fromkeys(CONDITIONS, "if_match")

    id: str
    if_match: Annotated[str, Meta(min_length=1, max_length=64)] | None = None


class TicketChanges(msgspec.Struct, frozen=True):
    """The body of a request that changes several tickets."""

    tickets: Annotated[list[IdentifiedChange], Meta(min_length=1, max_length=MAX_ITEMS)]


class ItemProblem(msgspec.Struct, frozen=True):
    """Why an item was refused: the problem document that a request of its own would have got."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    request_id: str


class TicketResult(msgspec.Struct, frozen=True):
    """The result of one item, in the order of the request.

    status: the one that a request of its own would have got.
    etag: of the ticket after it; absent when it was refused.
    data: the ticket; absent when it was refused, or when the response would become too large.
    problem: why it was refused; absent when it was not.
    """

    status: int
    etag: str | UnsetType = UNSET
    data: TicketResponse | UnsetType = UNSET
    problem: ItemProblem | UnsetType = UNSET


class BulkMeta(msgspec.Struct, frozen=True):
    """The `meta` of several results. refused_count: of the items that have a problem."""

    item_count: int
    refused_count: int
