"""Merging customers as JSON."""

from sealdesk.customers import examples as customer_examples
from sealdesk.customers import rules as customer_rules
from sealdesk.customers.errors import CUSTOMER_EMAIL_TAKEN, CUSTOMER_MERGED
from sealdesk.customers.types import Customer
from sealdesk.db.engine import Tx
from sealdesk.tickets.customer_merging import actions
from sealdesk.tickets.customer_merging.errors import CUSTOMER_ERASED, TOO_MANY_TICKETS
from sealdesk.tickets.customer_merging.types import CustomerMerge
from sealdesk.tickets.merging.errors import MERGE_FINAL, MERGE_INTO_ITSELF, NOT_MERGED
from sealdesk.web import body, envelope
from sealdesk.web.operation import operation
from sealdesk.web.request import Request, Response

_TAG = "Customers"
MERGE = {"into": "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f"}


@operation(
    "Merge a customer into another",
    tag=_TAG,
    takes=CustomerMerge,
    gives=customer_examples.CUSTOMER,
    headers=("idempotency-key",),
    response_headers=("etag",),
    fails=(
        MERGE_INTO_ITSELF,
        CUSTOMER_MERGED,
        CUSTOMER_ERASED,
        CUSTOMER_EMAIL_TAKEN,
        TOO_MANY_TICKETS,
    ),
    example=MERGE,
)
async def merge_customer(request: Request, customer_id: str) -> Response:
    """The tickets and e-mail addresses become those of the other customer, which is returned, and
    so does what it does not have: name, phone numbers, company, external_id, keys of `metadata`.
    `merged_into_id` of the merged customer names the other one. Can be undone for 24 hours."""
    new = body.read(request, CustomerMerge)

    async def work(tx: Tx) -> Response:
        return _respond(
            await actions.merge(tx, request.caller, customer_id, new, now_us=request.now_us)
        )

    return await request.write_idempotently(work)


@operation(
    "Undo the merge of a customer",
    tag=_TAG,
    gives=customer_examples.CUSTOMER,
    response_headers=("etag",),
    fails=(NOT_MERGED, MERGE_FINAL, CUSTOMER_EMAIL_TAKEN),
)
async def undo_customer_merge(request: Request, customer_id: str) -> Response:
    """The customer, who is returned, has their tickets, addresses and data again. Tickets that were
    opened after the merge stay with the other customer, and so do later changes."""
    return _respond(await request.act(actions.undo, customer_id, now_us=request.now_us))


def _respond(customer: Customer) -> Response:
    etag = envelope.etag(customer_rules.etag(customer))
    return envelope.one_document(customer_rules.to_json(customer), 200, [etag])
