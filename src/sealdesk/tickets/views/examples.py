"""An example result of the search for the API reference."""

from sealdesk.tickets import examples
from sealdesk.tickets.views.types import FoundTicket, Highlights, SearchMeta, TextPart

FOUND = FoundTicket(
    examples.TICKET,
    Highlights(
        (TextPart("Cannot log in", is_hit=False),),
        (TextPart("The ", is_hit=False), TextPart("kettle", is_hit=True)),
    ),
)
META = SearchMeta(25, has_more=False, next_cursor=None, corrected=None, is_complete=True)
