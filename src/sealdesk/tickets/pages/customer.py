"""The page of one customer with their tickets."""

from sealdesk.customers import actions as customers
from sealdesk.customers import rules as customer_rules
from sealdesk.customers.types import CustomerResponse
from sealdesk.db.engine import Tx
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.customer_merging import store as merging
from sealdesk.tickets.erasing import rules as erasing
from sealdesk.tickets.erasing import store as erasures
from sealdesk.tickets.erasing.types import Erasure
from sealdesk.tickets.merging.rules import UNDO_US
from sealdesk.tickets.pages import view_model
from sealdesk.tickets.ticket.types import TicketResponse
from sealdesk.web.operation import page
from sealdesk.web.pages import cursor_trail, forms, render
from sealdesk.web.request import Request, Response

_PER_PAGE = 25
_MAX_MERGES = 20
_Shown = tuple[CustomerResponse, list[CustomerResponse], Erasure | None, list[TicketResponse], bool]


@page
async def show_customer(request: Request, customer_id: str) -> Response:
    """A customer's data, and their tickets, newest first."""
    tenant_id = request.caller.tenant_id
    trail = cursor_trail.read(forms.read_query(request))
    page_request = PageRequest(_PER_PAGE, [trail[-1]] if trail else None)

    async def work(tx: Tx) -> _Shown:
        customer = await customers.get_also_merged(tx, tenant_id, customer_id)
        since = request.now_us - UNDO_US
        merges = await merging.list_since(tx, tenant_id, customer_id, since, _MAX_MERGES)
        erasure = await erasures.find(tx, tenant_id, customer_id)
        listed = await view_model.list_of_customer(tx, tenant_id, customer_id, page_request)
        shown = [customer_rules.to_response(each.customer) for each in merges]
        return customer_rules.to_response(customer), shown, erasure, *listed

    customer, merged, erasure, tickets, has_more = await request.read(work)
    if customer.merged_into_id is not None:
        return render.redirect(request, f"/customers/{customer.merged_into_id}")
    return await render.page(
        request,
        "tickets/customer.html",
        customer=customer,
        merged=merged,
        tickets=tickets,
        erasure=None if erasure is None else erasing.to_response(erasure),
        older=cursor_trail.older(trail, tickets[-1].id) if has_more else None,
        newer=cursor_trail.newer(trail),
    )
