"""What a live message is made of."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from sealdesk.tickets.ticket.types import AuthorType

ByKind = Literal["user", "api_key", "customer", "system"]


class By(msgspec.Struct, frozen=True):
    """Who did it."""

    kind: ByKind
    id: str


class Message(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """An event as pages get it: never a text, so that pages show what they may read.

    number: None if the ticket is gone. notified: users who have a notification of it.
    """

    type: str
    ticket_id: str
    position: int
    number: int | None = None
    by: By | None = None
    notified: Sequence[str] = ()


class CustomerPart(msgspec.Struct, frozen=True):
    """What is needed of the customer in an event."""

    id: str


class TicketPart(msgspec.Struct, frozen=True):
    """What is needed of the ticket in an event."""

    id: str
    number: int
    customer: CustomerPart


class AuthorPart(msgspec.Struct, frozen=True):
    """What is needed of the author of a reply in an event."""

    type: AuthorType
    id: str


class ReplyPart(msgspec.Struct, frozen=True):
    """What is needed of the reply in an event."""

    ticket_id: str
    author: AuthorPart


class Change(NamedTuple):
    """The ticket of an event, and its time: a transaction records both in its other rows too."""

    ticket_id: str
    at_us: int


class Recorded(NamedTuple):
    """An event of the feed. part: of its object; None for events that no page shows."""

    position: int
    type: str
    created_at: int
    part: TicketPart | ReplyPart | None

    @property
    def ticket_id(self) -> str:
        """The ticket that the event is about, "" if it is about none."""
        if self.part is None:
            return ""
        return self.part.id if isinstance(self.part, TicketPart) else self.part.ticket_id

    @property
    def change(self) -> Change:
        return Change(self.ticket_id, self.created_at)


class Feed(NamedTuple):
    """Events in order, and what other rows say of them.

    numbers: of tickets by their id. actors: who changed a ticket. notified: users by change.
    """

    events: Sequence[Recorded]
    numbers: Mapping[str, int]
    actors: Mapping[Change, By]
    notified: Mapping[Change, Sequence[str]]
