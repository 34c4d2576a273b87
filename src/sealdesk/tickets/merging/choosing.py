"""How pages find another ticket: by its number, by words, or as it may be about the same."""

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.errors import QueryTooSlow, ServiceUnavailable
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.ticket.store import lists
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.tickets.ticket.store.filters import Filter
from sealdesk.tickets.ticket.types import ENDED, Ticket, TicketResponse
from sealdesk.tickets.views import searching
from sealdesk.tickets.views.inbox_query import InboxQuery
from sealdesk.web.request import Request

_MAX_DIGITS = 15
_MAX_READ, _MAX_SUGGESTED = 20, 6
_MAX_WORDS = 8
_decode = msgspec.json.Decoder(TicketResponse).decode


async def find_id(tx: Tx, tenant_id: str, number: str) -> str | None:
    """The id of the ticket with a typed number."""
    digits = number.strip().removeprefix("#")
    if not digits.isascii() or not digits.isdigit() or len(digits) > _MAX_DIGITS:
        return None
    return await ticket_store.find_id(tx, tenant_id, int(digits))


async def suggest(request: Request, source: Ticket) -> list[TicketResponse]:
    """Unfinished tickets that may be about the same: of the customer, then with the same words."""
    of_customer, page = Filter(customer_id=source.customer_id), PageRequest(_MAX_READ, None)
    rows = await request.fetch(lists.list_tickets, of_customer, page)
    tickets = [_decode(lists.to_json(row)) for row in rows]
    tickets += await find_by_words(request, source.subject, page)
    by_id = {each.id: each for each in tickets if each.id != source.id and each.status not in ENDED}
    return [*by_id.values()][:_MAX_SUGGESTED]


async def find_by_words(request: Request, text: str, page: PageRequest) -> list[TicketResponse]:
    """Tickets with the first words of a text, or its number; none while the search is away."""
    query = InboxQuery(status=None, q=_words(text))
    try:
        found = await searching.find_page(request, query, page)
    except (QueryTooSlow, ServiceUnavailable):
        return []
    return [_decode(lists.to_json(row)) for row in found.rows]


def _words(text: str) -> str:
    """The first words of a text, none of which is a filter of the search."""
    letters = "".join(each if each.isalnum() else " " for each in text)
    return " ".join(letters.split()[:_MAX_WORDS])
