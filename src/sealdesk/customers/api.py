"""Customers as JSON (interface section 4.2)."""

from collections.abc import Sequence

from sealdesk.customers import actions, examples, rules, store
from sealdesk.customers.errors import (
    CUSTOMER_EMAIL_TAKEN,
    CUSTOMER_HAS_TICKETS,
    CUSTOMER_MERGED,
    EXTERNAL_ID_NOT_UNIQUE,
)
from sealdesk.customers.store import Filter
from sealdesk.customers.types import Customer, CustomerChange, CustomerUpsert, NewCustomer
from sealdesk.db.engine import Row, Tx
from sealdesk.errors import BadRequest
from sealdesk.errors.general import QUERY_TOO_SLOW
from sealdesk.errors.requests import INVALID_PARAMETER
from sealdesk.resources import representation
from sealdesk.search.rules import MAX_QUERY_LENGTH
from sealdesk.web import body, conditional, envelope, query
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, ListRequest, page, read_list
from sealdesk.web.request import Header, Request, Response

_TAG = "Customers"
_FILTERS = (
    query.text(
        "q",
        "Words that the e-mail address, name, company or phone number begins with; not together"
        " with other filters, and newest first.",
        max_length=MAX_QUERY_LENGTH,
        example="maria cera",
    ),
    query.text(
        "email",
        "The customer with this e-mail address.",
        max_length=representation.MAX_EMAIL_LENGTH,
        example="maria.santos@example.com",
    ),
    query.text(
        "external_id",
        "Customers with this external_id; if there is none, those who had it and were merged.",
        max_length=255,
        example="C-1042",
    ),
    query.instant("updated_after", "Customers changed at this time or later."),
    query.one_of("sort_by", ("created_at",), "What to order by.", default="created_at"),
    query.one_of("sort", ("desc", "asc"), "Newest or oldest first.", default="desc"),
)
_OF_PAGE = frozenset({"per_page", "sort", "sort_by"})


@operation(
    "List customers",
    tag=_TAG,
    gives=examples.CUSTOMER,
    is_list=True,
    params=(*_FILTERS, *PAGING),
    fails=(QUERY_TOO_SLOW,),
)
async def list_customers(request: Request) -> Response:
    """Newest first. Filters are joined by "and"."""
    list_request = read_list(request, _FILTERS)
    if "q" in list_request.values:
        return await _search(request, list_request)
    filters = Filter(
        email=list_request.values.get("email"),
        external_id=list_request.values.get("external_id"),
        updated_after=list_request.values.get("updated_after"),
        newest_first=list_request.values.get("sort") != "asc",
    )

    async def work(tx: Tx) -> Sequence[Row]:
        return await store.list_rows(tx, request.caller.tenant_id, filters, list_request.page)

    rows = await (request.read(work) if filters.is_served() else request.read_unindexed(work))
    if not rows and {*list_request.values} - _OF_PAGE == {"external_id"}:
        return await _list_merged(request, list_request)
    return page(
        request,
        list_request,
        rows,
        show=lambda row: rules.to_json(store.customer_of(row)),
        position=lambda row: [row["id"]],
    )


async def _list_merged(request: Request, list_request: ListRequest) -> Response:
    """Whom the customers with an external_id were merged into stands in them."""
    external_id, limit = list_request.values["external_id"], list_request.page.per_page
    merged = await request.read(
        lambda tx: store.list_merged_with(tx, request.caller.tenant_id, external_id, limit)
    )
    return page(request, list_request, merged, show=rules.to_json)


async def _search(request: Request, list_request: ListRequest) -> Response:
    values = list_request.values
    others = sorted({*values} - {"q", "per_page", "cursor"})
    if others or not values["q"].strip():
        rule = f"cannot be used together with {others[0]}" if others else "must hold a word"
        raise BadRequest(INVALID_PARAMETER, parameter="q", rule=rule)
    found = await actions.find_customers(
        request.state, request.caller.tenant_id, values["q"], list_request.page
    )
    return page(request, list_request, found, show=rules.to_json)


@operation(
    "Create a customer",
    tag=_TAG,
    takes=NewCustomer,
    gives=examples.CUSTOMER,
    status=201,
    headers=("idempotency-key",),
    response_headers=("location", "etag"),
    fails=(CUSTOMER_EMAIL_TAKEN,),
    example=examples.NEW_CUSTOMER,
)
async def create_customer(request: Request) -> Response:
    """An e-mail address belongs to one customer of a tenant, whatever its case; a second one is
    409 with `existing_id`."""
    new = body.read(request, NewCustomer)

    async def work(tx: Tx) -> Response:
        customer = await actions.add_customer(
            tx, request.caller.tenant_id, new, now_us=request.now_us
        )
        return _respond(customer, 201, envelope.location(request, customer.id))

    return await request.write_idempotently(work)


@operation(
    "Get a customer",
    tag=_TAG,
    gives=examples.CUSTOMER,
    headers=("if-none-match",),
    response_headers=("etag",),
)
async def get_customer(request: Request, customer_id: str) -> Response:
    """One customer, with its ETag. One that was merged into another is shown as they were, and
    `merged_into_id` names the other one."""
    customer = await request.fetch(actions.get_also_merged, customer_id)
    response = envelope.one_document(rules.to_json(customer))
    return conditional.unless_unchanged(request, rules.etag(customer), response)


@operation(
    "Change a customer",
    tag=_TAG,
    takes=CustomerChange,
    gives=examples.CUSTOMER,
    headers=("if-match",),
    response_headers=("etag",),
    fails=(CUSTOMER_EMAIL_TAKEN, CUSTOMER_MERGED),
    example=examples.CUSTOMER_CHANGE,
)
async def change_customer(request: Request, customer_id: str) -> Response:
    """A JSON Merge Patch: what is left out stays, null clears, `metadata` is merged."""
    change = await body.read_change(request, CustomerChange, lambda: _show(request, customer_id))
    if_match = conditional.if_match(request)
    customer = await request.write(
        lambda tx: actions.change_customer(
            tx,
            request.caller.tenant_id,
            customer_id,
            change,
            if_match=if_match,
            now_us=request.now_us,
        )
    )
    return _respond(customer, 200)


async def _show(request: Request, customer_id: str) -> bytes:
    return rules.to_json(await request.fetch(actions.get_customer, customer_id))


@operation(
    "Create or change a customer by external_id",
    tag=_TAG,
    takes=CustomerUpsert,
    gives=examples.CUSTOMER,
    may_create=True,
    response_headers=("etag",),
    fails=(CUSTOMER_EMAIL_TAKEN, CUSTOMER_MERGED, EXTERNAL_ID_NOT_UNIQUE),
    example=examples.CUSTOMER_UPSERT,
)
async def upsert_customer(request: Request, external_id: str) -> Response:
    """Changes the customer with this external_id, as a JSON Merge Patch does; without one, gives it
    to the customer with this e-mail address; without either, creates the customer. Sent again, it
    changes nothing. If the customer who had it was merged, `merged_into_id` names the other one."""
    external_id = query.read_segment(external_id)
    wanted = body.read(request, CustomerUpsert)
    customer, is_new = await request.write(
        lambda tx: actions.upsert_customer(
            tx, request.caller.tenant_id, external_id, wanted, now_us=request.now_us
        )
    )
    return _respond(customer, 201 if is_new else 200)


@operation(
    "Delete a customer",
    tag=_TAG,
    status=204,
    headers=("if-match",),
    fails=(CUSTOMER_HAS_TICKETS, CUSTOMER_MERGED),
)
async def delete_customer(request: Request, customer_id: str) -> Response:
    """Only a customer without tickets. Events of the last 30 days still contain their data."""
    if_match = conditional.if_match(request)
    await request.write(
        lambda tx: actions.delete_customer(
            tx, request.caller.tenant_id, customer_id, if_match=if_match, now_us=request.now_us
        )
    )
    return envelope.nothing()


def _respond(customer: Customer, status: int, *headers: Header) -> Response:
    headers = (*headers, envelope.etag(rules.etag(customer)))
    return envelope.one_document(rules.to_json(customer), status, headers)
