"""A reply as it will be shown, before it is sent."""

from sealdesk.tickets.pages import timeline, view_model
from sealdesk.tickets.text import kept_html
from sealdesk.tickets.ticket.store import assignees
from sealdesk.tickets.ticket.types import MAX_TEXT_LENGTH
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.request import Request, Response


@page
async def show_preview(request: Request) -> Response:
    """The HTML of a text as a fragment; what no reply may contain is cut off."""
    text = forms.read(request).text("body")[:MAX_TEXT_LENGTH]
    people = await request.fetch(assignees.list_assignees, view_model.ASSIGNEES)
    look = timeline.look_of([text], people, request.state.settings.path_prefix)
    (shown,) = await kept_html.render_all(request.state.sandbox, [(text, False)], look)
    return await render.page(request, "tickets/preview.html", text=shown)
