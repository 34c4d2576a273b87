"""Paginated lists: reads the page request from the query string, and builds the response."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.resources.paging import (
    DEFAULT_PER_PAGE,
    MAX_CURSOR_LENGTH,
    MAX_PER_PAGE,
    Listing,
    PageRequest,
    Position,
    open_cursor,
    seal_cursor,
    take_page,
)
from sealdesk.web import envelope, query
from sealdesk.web.query import Param
from sealdesk.web.request import Request, Response

R = TypeVar("R")

PAGING = (
    query.count(
        "per_page",
        "The number of items in a page; more than 100 becomes 100. A page ends early when its data"
        " would be larger than 1 MiB.",
        default=DEFAULT_PER_PAGE,
        maximum=MAX_PER_PAGE,
    ),
    Param(
        "cursor",
        "`meta.next_cursor` of the previous page; the rest of the query must be the same.",
        str,
        {"type": "string", "pattern": "^[A-Za-z0-9_-]+$", "maxLength": MAX_CURSOR_LENGTH},
        lambda _: None,
        envelope.EXAMPLE_CURSOR,
    ),
)


class ListRequest(NamedTuple):
    """A requested list: the values of its parameters, the page, and the identity of the list."""

    values: dict[str, Any]
    page: PageRequest
    listing: Listing


def read_list(request: Request, params: Sequence[Param]) -> ListRequest:
    """The list and page that a request asks for. Raises BadRequest, Gone."""
    declared = (*params, *PAGING)
    values = query.parse(request.query, declared)
    texts = {p.name: p.cursor_text(values[p.name]) for p in params if p.name in values}
    filters = {name: text for name, text in texts.items() if text is not None}
    listing = Listing(request.caller.tenant_id, request.path, filters, request.state.epoch)
    cursor = values.get("cursor")
    after = None if cursor is None else open_cursor(request.state.key_ring, listing, cursor)
    return ListRequest(
        values, PageRequest(values.get("per_page", DEFAULT_PER_PAGE), after), listing
    )


def _by_id(row: Any) -> Position:
    return [row.id]


async def list_all(
    request: Request,
    list_rows: Callable[[Tx, str, PageRequest], Awaitable[Sequence[R]]],
    show: Callable[[R], Any],
    position: Callable[[R], Position] = _by_id,
) -> Response:
    """The response of an endpoint without filters. `list_rows` gets the id of the tenant.

    show: a row as its struct, or as JSON.
    """
    list_request = read_list(request, ())
    rows = await request.fetch(list_rows, list_request.page)
    return page(request, list_request, rows, show=_encoded(show), position=position)


async def list_few(
    request: Request,
    list_items: Callable[[], Awaitable[Sequence[R]]],
    show: Callable[[R], Any],
    position: Callable[[R], Position] = _by_id,
) -> Response:
    """The same of a list that is always read as a whole, in the order of its positions."""
    list_request = read_list(request, ())
    items, after = await list_items(), list_request.page.after
    rest = [each for each in items if after is None or position(each) > after]
    rest = rest[: list_request.page.per_page + 1]
    return page(request, list_request, rest, show=_encoded(show), position=position)


def _encoded(show: Callable[[R], Any]) -> Callable[[R], bytes]:
    def encode(row: R) -> bytes:
        shown = show(row)
        return shown if isinstance(shown, bytes) else msgspec.json.encode(shown)

    return encode


def page(
    request: Request,
    list_request: ListRequest,
    rows: Sequence[R],
    *,
    show: Callable[[R], bytes],
    position: Callable[[R], Position] = _by_id,
) -> Response:
    """The response with one page. `rows` has one row more than the page when there is a next page.

    show: encodes a row as JSON. position: the sort key of a row, for the cursor.
    """
    documents = take_page(map(show, rows), list_request.page, len)
    has_more = len(rows) > len(documents)
    cursor = None
    if has_more:
        last = position(rows[len(documents) - 1])
        cursor = seal_cursor(request.state.key_ring, list_request.listing, last)
    meta = envelope.PageMeta(list_request.page.per_page, has_more, cursor)
    return envelope.many(documents, meta)
