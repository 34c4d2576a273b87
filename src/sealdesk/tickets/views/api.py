"""The search for tickets as JSON."""

from collections.abc import Sequence

import msgspec

from sealdesk.db.engine import Row
from sealdesk.errors import BadRequest
from sealdesk.errors.general import QUERY_TOO_SLOW
from sealdesk.errors.requests import INVALID_PARAMETER
from sealdesk.resources.paging import take_page
from sealdesk.search.highlighting import Part
from sealdesk.search.rules import MAX_QUERY_LENGTH
from sealdesk.tickets.ticket import examples
from sealdesk.tickets.ticket.store import lists
from sealdesk.tickets.views import searching
from sealdesk.tickets.views.inbox_query import InboxQuery
from sealdesk.tickets.views.searching import Hit, Results
from sealdesk.tickets.views.types import FoundTicket, Highlights, SearchMeta, TextPart
from sealdesk.web import envelope, query
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, ListRequest, read_list
from sealdesk.web.request import Request, Response

_PARAMS = (
    query.text(
        "q",
        "Words, phrases in quotes, -excluded words, and filters, as in the search of the inbox:"
        " `status:`, `priority:`, `tag:`, `from:`, `assignee:`, `team:`, `follower:`, `before:`,"
        " `after:` and `field.key:`; `from:` needs `customers:read`. Without `q`, the newest"
        " tickets.",
        max_length=MAX_QUERY_LENGTH,
        example="status:open tag:vip kettle",
    ),
)
_NO_HIT = Hit([], [])
_encode = msgspec.json.Encoder().encode
_FOUND = FoundTicket(
    examples.TICKET,
    Highlights(
        (TextPart("Cannot log in", is_hit=False),),
        (TextPart("The ", is_hit=False), TextPart("kettle", is_hit=True)),
    ),
)
_META = SearchMeta(25, has_more=False, next_cursor=None, corrected=None, is_complete=True)


@operation(
    "Search tickets",
    tag="Tickets",
    gives=_FOUND,
    is_list=True,
    meta=_META,
    params=(*_PARAMS, *PAGING),
    fails=(QUERY_TOO_SLOW,),
)
async def search_tickets(request: Request) -> Response:
    """The tickets with all words in their subject, description, replies, notes, customer, tags or
    custom fields, newest first; a ticket whose number is all of `q` comes first. The last word may
    be a beginning. If nothing is found, one wrong letter is corrected. Changes are found after a
    second or so. A search that takes more than 2 s is cut off."""
    list_request = read_list(request, _PARAMS)
    text = list_request.values.get("q", "").strip()
    asked = InboxQuery(status=None, q=text, sort="newest")
    found = await searching.find_page(request, asked, list_request.page)
    for problem in found.problems:
        reason = problem.message % problem.values
        raise BadRequest(INVALID_PARAMETER, parameter="q", rule=f"cannot be read: {reason[:-1]}")
    return _respond(request, list_request, found)


def _respond(request: Request, list_request: ListRequest, found: Results) -> Response:
    documents = take_page((_document(row, found) for row in found.rows), list_request.page, len)
    cursor = searching.next_cursor(request, list_request, found, len(documents))
    meta = SearchMeta(
        list_request.page.per_page,
        cursor is not None,
        cursor,
        corrected=found.corrected or None,
        is_complete=not found.resumes_at,
    )
    return envelope.many(documents, meta)


def _document(row: Row, found: Results) -> bytes:
    """FoundTicket as JSON."""
    hit = found.hits.get(row["id"], _NO_HIT)
    highlights = Highlights(_parts(hit.subject), _parts(hit.snippet))
    return b'{"ticket":%b,"highlights":%b}' % (lists.to_json(row), _encode(highlights))


def _parts(parts: Sequence[Part]) -> tuple[TextPart, ...]:
    return tuple(TextPart(part.text, part.is_hit) for part in parts)
