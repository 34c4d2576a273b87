"""The page of one customer with their tickets."""

from sealdesk.customers import actions as customers
from sealdesk.customers import rules as customer_rules
from sealdesk.customers.types import CustomerResponse
from sealdesk.db.engine import Tx
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.erasing import rules as erasing
from sealdesk.tickets.erasing import store as erasures
from sealdesk.tickets.erasing.types import Erasure
from sealdesk.tickets.pages import view_model
from sealdesk.tickets.types import TicketResponse
from sealdesk.web.operation import page
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.request import Request, Response

_PER_PAGE = 25


@page
async def show_customer(request: Request, customer_id: str) -> Response:
    """A customer's data, and their tickets, newest first."""
    tenant_id = request.caller.tenant_id
    trail = cursor_trail.read(forms.read_query(request))
    page_request = PageRequest(_PER_PAGE, [trail[-1]] if trail else None)

    async def work(tx: Tx) -> tuple[CustomerResponse, Erasure | None, list[TicketResponse], bool]:
        customer = await customers.get_customer(tx, tenant_id, customer_id)
        erasure = await erasures.find(tx, tenant_id, customer_id)
        listed = await view_model.list_of_customer(tx, tenant_id, customer_id, page_request)
        return customer_rules.to_response(customer), erasure, *listed

    customer, erasure, tickets, has_more = await request.read(work)
    return await render.page(
        request,
        "tickets/customer.html",
        customer=customer,
        tickets=tickets,
        erasure=None if erasure is None else erasing.to_response(erasure),
        older=cursor_trail.older(trail, tickets[-1].id) if has_more else None,
        newer=cursor_trail.newer(trail),
    )
