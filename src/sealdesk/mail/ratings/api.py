"""Links that ask for a rating, as JSON."""

from sealdesk.clock import iso
from sealdesk.mail.ratings import actions, links
from sealdesk.mail.ratings.errors import ALREADY_RATED, NOBODY_TO_RATE
from sealdesk.mail.ratings.types import RatingLink
from sealdesk.tickets.ticket.errors import TICKET_MERGED
from sealdesk.web import envelope
from sealdesk.web.operation import operation
from sealdesk.web.pages import render
from sealdesk.web.request import Request, Response

_TAG = "Tickets"
_LINK = RatingLink("https://desk.example.com/r/4f2kq7…", "2026-04-01T10:02:18.000000Z")


@operation(
    "Create a link to rate a ticket",
    tag=_TAG,
    gives=_LINK,
    status=201,
    fails=(ALREADY_RATED, NOBODY_TO_RATE, TICKET_MERGED),
)
async def create_rating_link(request: Request, ticket_id: str) -> Response:
    """For your own e-mail, chat or app: the page behind it asks the customer for a mark from 1 to 5
    and a comment. It needs no log-in, opening it changes nothing, and it ends after 30 days or with
    the rating. Nothing is stored, so each request gives another link; a ticket is rated once."""
    now_us, settings = request.now_us, request.state.settings
    tenant_id = request.caller.tenant_id
    # As a write, so that a signature is used once where a key asks for that.
    opened = await request.write(
        lambda tx: actions.make_link(tx, tenant_id, ticket_id, now_us=now_us)
    )
    token = links.token_of(request.state.key_ring, opened)
    base_url = settings.mail.public_url or render.base_url(request)
    url = f"{base_url}{settings.path_prefix}{links.PATH}/{token}"
    return envelope.one(RatingLink(url, iso(opened.expires_at)), 201)
