"""The structs of ratings: the link that asks for one, and the form that gives it."""

from typing import Annotated

import msgspec
from msgspec import Meta

from sealdesk.clock import Iso

MAX_COMMENT = 2000
MAX_DELAY_HOURS = 72
MARKS = (5, 4, 3, 2, 1)


class RatingLink(msgspec.Struct, frozen=True):
    """A link for the customer of a ticket.

    url: of a page that asks for a rating. It is secret: whoever has it can rate the ticket, once.
    expires_at: when it ends.
    """

    url: str
    expires_at: Iso


class AskSettings(msgspec.Struct, frozen=True):
    """Whether a desk asks for ratings by e-mail.

    delay_hours: after the ticket was solved. base_url: what the links begin with.
    """

    is_on: bool
    delay_hours: Annotated[int, Meta(ge=0, le=MAX_DELAY_HOURS)]
    base_url: str


class Rating(msgspec.Struct, frozen=True):
    """What a customer sends with the form."""

    rating: Annotated[int, Meta(ge=1, le=5)]
    comment: Annotated[str, Meta(max_length=MAX_COMMENT)] = ""
