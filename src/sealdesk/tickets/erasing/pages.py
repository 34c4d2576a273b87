"""The page that asks before a customer is erased, and how far the erasure is."""

from sealdesk.customers import actions as customers
from sealdesk.customers import rules as customer_rules
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, ValidationFailed
from sealdesk.tickets.erasing import actions, rules, store
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.site import Room
from sealdesk.web.request import Request, Response

ROOM = Room("tickets.erasing")

_MAX_COUNT = 10_000


@page
async def ask(request: Request, customer_id: str) -> Response:
    """Says what goes and what stays."""
    return await _ask(request, customer_id)


@page
async def erase_customer(request: Request, customer_id: str) -> Response:
    """Begin to erase a customer."""
    try:
        forms.read(request)
        await request.act(actions.begin, customer_id, now_us=request.now_us)
    except ValidationFailed as error:
        return await _ask(request, customer_id, error)
    return render.redirect(request, f"/customers/{customer_id}")


@page
async def show_progress(request: Request, customer_id: str) -> Response:
    """How far the erasure is, as a part of the customer's page."""
    erasure = await request.fetch(actions.get_erasure, customer_id)
    return await render.page(request, "erasing/progress.html", erasure=rules.to_response(erasure))


async def _ask(request: Request, customer_id: str, error: ApiError | None = None) -> Response:
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> tuple[object, int]:
        customer = await customers.get_customer(tx, tenant_id, customer_id)
        count = await store.count_tickets(tx, tenant_id, customer_id, _MAX_COUNT + 1)
        return customer_rules.to_response(customer), count

    customer, ticket_count = await request.read(work)
    return await render.page(
        request,
        "erasing/erase.html",
        error.status if error else 200,
        customer=customer,
        ticket_count=ticket_count,
        max_count=_MAX_COUNT,
    )
