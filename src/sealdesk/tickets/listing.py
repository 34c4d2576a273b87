"""A page of a list of tickets: by an address or custom fields, and with what is included."""

from collections.abc import Sequence

import msgspec

from sealdesk.customers import store as customer_store
from sealdesk.db.engine import Row, Tx
from sealdesk.errors import BadRequest
from sealdesk.errors.requests import INVALID_PARAMETER
from sealdesk.resources.paging import take_page
from sealdesk.tickets import inclusion, list_query
from sealdesk.tickets.store import lists
from sealdesk.tickets.store.filters import Filter
from sealdesk.tickets.views import searching
from sealdesk.tickets.views.searching import Results
from sealdesk.web import envelope
from sealdesk.web.pagination import ListRequest
from sealdesk.web.request import Request, Response

_NEWEST_FIRST = "created_at, with sort=desc, if custom_field is sent"


async def with_customer(
    tx: Tx, tenant_id: str, filters: Filter, email: str | None
) -> Filter | None:
    """The filters with the customer of an address; None if no ticket can match."""
    if email is None:
        return filters
    customer = await customer_store.find_by_email(tx, tenant_id, email)
    if customer is None or filters.customer_id not in (list_query.ANY, customer.id):
        return None
    return msgspec.structs.replace(filters, customer_id=customer.id)


async def list_by_fields(
    request: Request,
    list_request: ListRequest,
    fields: list[tuple[str, str]],
    filters: Filter | None,
) -> Response:
    """A page of the tickets with these values of custom fields. Raises BadRequest."""
    if filters and not (filters.sort_by == "created_at" and filters.newest_first):
        raise BadRequest(INVALID_PARAMETER, parameter="sort_by", rule=_NEWEST_FIRST)
    found = Results()
    if filters:
        found = await searching.list_by_fields(request, fields, filters, list_request.page)
    included = inclusion.read_included(request.caller, list_request.values)
    listed = await _list_documents(request, list_request, found.rows, included)
    documents = take_page(listed, list_request.page, len)
    cursor = searching.next_cursor(request, list_request, found, len(documents))
    meta = envelope.PageMeta(list_request.page.per_page, cursor is not None, cursor)
    return envelope.many(documents, meta)


async def include(
    request: Request, list_request: ListRequest, rows: Sequence[Row], included: frozenset[str]
) -> tuple[dict[str, bytes], ListRequest]:
    """Documents by the id of the ticket, and a page that ends behind them."""
    shown = rows[: list_request.page.per_page]
    listed = await _list_documents(request, list_request, shown, included)
    if len(listed) < len(shown):
        list_request = ending_behind(list_request, listed)
    pairs = zip(shown, listed, strict=False)
    return {row["id"]: document for row, document in pairs}, list_request


async def _list_documents(
    request: Request, list_request: ListRequest, rows: Sequence[Row], included: frozenset[str]
) -> list[bytes]:
    """Tickets as JSON with what is included: the first ones that fit."""
    if not included:
        return [*map(lists.to_json, rows)]
    tenant_id, max_bytes = request.caller.tenant_id, list_request.page.max_bytes
    return await request.read(
        lambda tx: inclusion.list_documents(tx, tenant_id, rows, included, max_bytes)
    )


def ending_behind(list_request: ListRequest, documents: Sequence[bytes]) -> ListRequest:
    """The same request, whose page ends behind these documents, as it ends behind what fits."""
    most = min(sum(map(len, documents)), list_request.page.max_bytes)
    return list_request._replace(page=msgspec.structs.replace(list_request.page, max_bytes=most))
