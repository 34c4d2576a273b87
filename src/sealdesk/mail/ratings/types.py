"""The structs of ratings: the link that asks for one, and the form that gives it."""

from typing import Annotated

import msgspec
from msgspec import Meta

from sealdesk.clock import Iso

MAX_COMMENT = 2000
MARKS = (5, 4, 3, 2, 1)


class RatingLink(msgspec.Struct, frozen=True):
    """A link for the customer of a ticket.

    url: of a page that asks for a rating. It is secret: whoever has it can rate the ticket, once.
    expires_at: when it ends.
    """

    url: str
    expires_at: Iso


class Rating(msgspec.Struct, frozen=True):
    """What a customer sends with the form."""

    rating: Annotated[int, Meta(ge=1, le=5)]
    comment: Annotated[str, Meta(max_length=MAX_COMMENT)] = ""
