"""Users of the desk by a part of their name, as far as tickets may be assigned to them."""

from sealdesk.tickets.ticket.store import assignees
from sealdesk.tickets.views.inbox_query import InboxQuery
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.request import Request, Response

_MAX_PEOPLE = 10
_MAX_WORDS = 5
_MAX_LENGTH = 100


@page
async def find_people(request: Request) -> Response:
    """The newest active users whose names contain all words; a fragment for the palette."""
    words = forms.read_query(request).text("q")[:_MAX_LENGTH].split()[:_MAX_WORDS]
    found = await request.fetch(assignees.find_by_words, words, limit=_MAX_PEOPLE)
    people = [
        {"id": one.id, "name": one.label, "link": InboxQuery(status=None, assignee=one.id).link()}
        for one in found
    ]
    return await render.page(request, "tickets/found_people.html", people=people)
