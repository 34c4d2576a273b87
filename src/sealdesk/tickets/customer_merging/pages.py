"""The pages that merge a customer into another, and undo it."""

from sealdesk.customers import actions as customers
from sealdesk.customers import rules as customer_rules
from sealdesk.customers.types import Customer, CustomerResponse
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, Conflict, NotFound, QueryTooSlow, ValidationFailed
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.customer_merging import actions, errors
from sealdesk.tickets.customer_merging.types import CustomerMerge
from sealdesk.tickets.merging.rules import UNDO_HOURS
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.pages.i18n import translate
from sealdesk.web.pages.site import Room
from sealdesk.web.request import Request, Response

ROOM = Room("tickets.customer_merging", errors)
_PATH = "/customers"
_MAX_FOUND = 20
_MAX_QUERY_LENGTH = 320


@page
async def show_merge(request: Request, customer_id: str) -> Response:
    """Searches the customer that stays, then shows both before they are merged."""
    query = forms.read_query(request)
    return await _respond(request, customer_id, query.text("into"), query.text("q"))


@page
async def merge(request: Request, customer_id: str) -> Response:
    """Merge the customer into the one of the form."""
    into = forms.read(request).text("into")
    try:
        target = await request.act(
            actions.merge, customer_id, CustomerMerge(into), now_us=request.now_us
        )
    except (Conflict, ValidationFailed) as error:
        return await _respond(request, customer_id, "", "", error)
    return render.redirect(request, f"{_PATH}/{target.id}")


@page
async def undo(request: Request, customer_id: str) -> Response:
    """Take a merged customer out of the other one again."""
    forms.read(request)
    try:
        await request.act(actions.undo, customer_id, now_us=request.now_us)
    except Conflict as error:
        return await _respond(request, customer_id, "", "", error)
    return render.redirect(request, f"{_PATH}/{customer_id}")


async def _respond(
    request: Request, customer_id: str, into: str, q: str, error: ApiError | None = None
) -> Response:
    tenant_id, q = request.caller.tenant_id, q.strip()[:_MAX_QUERY_LENGTH]

    async def work(tx: Tx) -> tuple[Customer, Customer | None]:
        source = await customers.get_also_merged(tx, tenant_id, customer_id)
        return source, await _find_target(tx, tenant_id, into)

    source, target = await request.read(work)
    is_itself = target is not None and target.id == source.id
    return await render.page(
        request,
        "customer_merging/merge.html",
        error.status if error else 200,
        source=customer_rules.to_response(source),
        target=customer_rules.to_response(target) if target and not is_itself else None,
        found=[each for each in await _search(request, q) if each.id != source.id],
        q=q,
        problem=_message(error),
        hours=UNDO_HOURS,
    )


async def _find_target(tx: Tx, tenant_id: str, into: str) -> Customer | None:
    try:
        return await customers.get_customer(tx, tenant_id, into) if into else None
    except (NotFound, Conflict):
        return None


async def _search(request: Request, q: str) -> list[CustomerResponse]:
    if not q:
        return []
    try:
        found = await customers.find_customers(
            request.state, request.caller.tenant_id, q, PageRequest(_MAX_FOUND, None)
        )
    except QueryTooSlow:
        return []
    return [customer_rules.to_response(each) for each in found[:_MAX_FOUND]]


def _message(error: ApiError | None) -> str:
    if isinstance(error, ValidationFailed):
        return " ".join(forms.faults_by_field(error).values())
    return translate(error) if error is not None else ""
