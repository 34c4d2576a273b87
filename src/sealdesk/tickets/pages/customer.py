"""A customer as a page, with their tickets."""

from sealdesk.customers import actions as customers
from sealdesk.customers import rules as customer_rules
from sealdesk.customers.rules import CustomerShown
from sealdesk.db.engine import Tx
from sealdesk.paging import PageRequest
from sealdesk.tickets.pages import view_model
from sealdesk.tickets.types import TicketShown
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.request import Answer, Call
from sealdesk.web.router import page

_ROOM = "sealdesk.tickets"
_PER_PAGE = 25


@page
async def show_customer(call: Call) -> Answer:
    """One customer: what is known of them, and their tickets, newest first."""
    tenant_id, (customer_id,) = call.caller.tenant_id, call.params
    way = cursor_trail.read(forms.asked(call))
    wanted = PageRequest(_PER_PAGE, [way[-1]] if way else None)

    async def work(tx: Tx) -> tuple[CustomerShown, list[TicketShown]]:
        customer = await customers.get_customer(tx, tenant_id, customer_id)
        tickets = await view_model.list_of_customer(tx, tenant_id, customer_id, wanted)
        return customer_rules.shown(customer), tickets

    customer, tickets = await call.read(work)
    return await render.show(
        call, _ROOM, "customer.html",
        customer=customer, tickets=tickets[:_PER_PAGE],
        older=(
            cursor_trail.older(way, tickets[_PER_PAGE - 1].id) if len(tickets) > _PER_PAGE else None
        ),
        newer=cursor_trail.newer(way),
    )  # fmt: skip
