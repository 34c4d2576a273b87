"""The page that links a ticket to others."""

from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, Fault, ValidationFailed, gettext_noop, invalid
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets import actions as ticket_actions
from sealdesk.tickets.links import actions, errors, rules
from sealdesk.tickets.links.types import NewTicketLink, TicketLinkResponse
from sealdesk.tickets.merging import choosing
from sealdesk.tickets.ticket.types import Ticket
from sealdesk.web import body
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import translate
from sealdesk.web.pages.site import Room
from sealdesk.web.request import Request, Response

ROOM = Room("tickets.links", errors)
_UNKNOWN_NUMBER = gettext_noop("There is no ticket with this number.")
_MAX_SUGGESTED = 8
_MAX_LENGTH = 100


@page
async def show_links(request: Request, ticket_id: str) -> Response:
    """The links of a ticket, and the form that adds one."""
    return await _respond(request, ticket_id)


@page
async def suggest_tickets(request: Request, ticket_id: str) -> Response:
    """Tickets with the typed number or words as options; before that, those about the same."""
    typed = forms.read_query(request).text("q").strip()[:_MAX_LENGTH]
    stored = await request.fetch(ticket_actions.get_ticket, ticket_id)
    if typed:
        found = await choosing.find_by_words(request, typed, PageRequest(_MAX_SUGGESTED + 1, None))
    else:
        found = await choosing.suggest(request, stored.ticket)
    tickets = [each for each in found if each.id != ticket_id][:_MAX_SUGGESTED]
    return await render.page(request, "links/suggestions.html", tickets=tickets)


@page
async def add_link(request: Request, ticket_id: str) -> Response:
    """Link the ticket to the one with the number in the form."""
    form = forms.read(request)
    number, relation = form.text("ticket_id"), form.text("relation")

    async def work(tx: Tx) -> None:
        other_id = await choosing.find_id(tx, request.caller.tenant_id, number)
        if other_id is None:
            raise invalid([Fault("/ticket_id", "unknown_ticket", _UNKNOWN_NUMBER)])
        new = body.convert({"relation": relation, "ticket_id": other_id}, NewTicketLink)
        await actions.add_link(tx, request.caller, ticket_id, new, now_us=request.now_us)

    try:
        await request.write(work)
    except (Conflict, ValidationFailed) as error:
        return await _respond(request, ticket_id, number, relation, error)
    return render.redirect(request, f"/tickets/{ticket_id}")


@page
async def remove_link(request: Request, ticket_id: str, other_id: str) -> Response:
    """Remove the link to another ticket."""
    await request.act(actions.remove_link, ticket_id, other_id, now_us=request.now_us)
    return render.redirect(request, f"/tickets/{ticket_id}/links")


async def _respond(
    request: Request,
    ticket_id: str,
    number: str = "",
    relation: str = "",
    error: ApiError | None = None,
) -> Response:
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> tuple[Ticket, list[TicketLinkResponse]]:
        stored = await ticket_actions.get_ticket(tx, tenant_id, ticket_id)
        return stored.ticket, await actions.list_links(tx, tenant_id, ticket_id)

    ticket, links = await request.read(work)
    return await render.page(
        request,
        "links/links.html",
        error.status if error else 200,
        ticket=ticket,
        links=rules.in_order(links),
        relations=rules.MIRRORED,
        number=number,
        relation=relation,
        wrong=translate(error) if isinstance(error, Conflict) else "",
        faults=forms.faults_by_field(error) if isinstance(error, ValidationFailed) else {},
    )
