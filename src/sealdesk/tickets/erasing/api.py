"""Erasing a customer as JSON."""

from sealdesk.customers.errors import CUSTOMER_MERGED
from sealdesk.db.engine import Tx
from sealdesk.tickets.erasing import actions, rules
from sealdesk.tickets.erasing.types import Erasure, ErasureResponse
from sealdesk.web import envelope
from sealdesk.web.operation import operation
from sealdesk.web.request import Request, Response

_TAG = "Customers"
_ERASURE = ErasureResponse(
    customer_id="0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f",
    status="pending",
    ticket_count=12,
    erased_ticket_count=0,
    created_at="2026-03-02T09:14:07.102938Z",
    finished_at=None,
)


@operation(
    "Erase a customer",
    tag=_TAG,
    gives=_ERASURE,
    status=202,
    headers=("idempotency-key",),
    fails=(CUSTOMER_MERGED,),
)
async def erase_customer(request: Request, customer_id: str) -> Response:
    """Erases the person and all texts of their tickets, which cannot be undone. Tickets with their
    numbers, statuses, times and tags stay. The data of the customer go at once, the rest within
    minutes; then there is an event `customer.erased`. Sent again, it changes nothing."""

    async def work(tx: Tx) -> Response:
        erasure = await actions.begin(tx, request.caller, customer_id, now_us=request.now_us)
        return _respond(erasure, 202)

    return await request.write_idempotently(work)


@operation("Get the erasure of a customer", tag=_TAG, gives=_ERASURE)
async def get_erasure(request: Request, customer_id: str) -> Response:
    """How far the erasure of a customer is; 404 if nobody has begun one."""
    erasure = await request.fetch(actions.get_erasure, customer_id)
    return _respond(erasure, 200)


def _respond(erasure: Erasure, status: int) -> Response:
    return envelope.one(rules.to_response(erasure), status)
