"""The structs of saved views, and of what the search finds."""

from typing import Annotated

import msgspec
from msgspec import Meta

from sealdesk.resources.representation import check_visible
from sealdesk.tickets.ticket.types import TicketResponse
from sealdesk.web.envelope import PageMeta

DESK = ""  # the owner of the views that everybody of the desk sees
ViewName = Annotated[str, Meta(min_length=1, max_length=64, extra={"check": check_visible})]


class NewView(msgspec.Struct, frozen=True):
    """What a form says of a view to be saved."""

    name: ViewName


class View(msgspec.Struct, frozen=True):
    """A saved view. owner_id: a user, or DESK. query: of the inbox, as its URL says it."""

    tenant_id: str
    id: str
    owner_id: str
    name: str
    query: str
    place: int
    created_at: int


class TextPart(msgspec.Struct, frozen=True):
    """A part of a text. is_hit: it is what was searched for."""

    text: str
    is_hit: bool


class Highlights(msgspec.Struct, frozen=True):
    """Where a ticket has the words. The texts are plain, without markup.

    subject: the whole subject. snippet: one line of its description or of one of its newest
    replies; empty when the words are elsewhere.
    """

    subject: tuple[TextPart, ...]
    snippet: tuple[TextPart, ...]


class FoundTicket(msgspec.Struct, frozen=True):
    """A ticket that the search has found."""

    ticket: TicketResponse
    highlights: Highlights


class SearchMeta(PageMeta, frozen=True):
    """The `meta` of a page of the search.

    corrected: the query that found these, as the one that was asked finds nothing; null otherwise.
    is_complete: false if the page ends before it is full: 2,000 tickets with the words were looked
    at for those that match the filters. The next page goes on behind them.
    """

    corrected: str | None
    is_complete: bool
