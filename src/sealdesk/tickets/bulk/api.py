"""Several tickets in one request as JSON."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import msgspec

from sealdesk import ids
from sealdesk.caller import IMPORT
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, NotFound, ValidationFailed
from sealdesk.tickets import actions
from sealdesk.tickets.bulk.types import (
    MAX_ITEMS,
    BulkMeta,
    IdentifiedChange,
    NewTickets,
    TicketChanges,
    TicketResult,
)
from sealdesk.tickets.ticket import examples
from sealdesk.tickets.ticket.store.tickets import TicketView
from sealdesk.tickets.ticket.types import NewTicket, TicketBody, TicketChange
from sealdesk.web import body, bulk, conditional
from sealdesk.web.bulk import ItemResult, ItemWriter
from sealdesk.web.operation import operation
from sealdesk.web.request import Request, Response

T = TypeVar("T")
_MAX_SHOWN_BYTES = 4 * 1024 * 1024  # of the tickets in a response
_FIELDS = TicketChange.__struct_fields__
_encode = msgspec.json.Encoder().encode
_RESULT = TicketResult(201, '"1.1"', examples.TICKET)
_META = BulkMeta(item_count=1, refused_count=0)
_NEW_TICKETS = {"tickets": [examples.NEW_TICKET]}
_TICKET_CHANGES = {
    "tickets": [{"id": examples.TICKET.id, "status": "pending", "if_match": '"1.1"'}]
}


@operation(
    "Create several tickets",
    tag="Tickets",
    takes=NewTickets,
    gives=_RESULT,
    is_list=True,
    meta=_META,
    headers=("idempotency-key",),
    example=_NEW_TICKETS,
)
async def create_tickets(request: Request) -> Response:
    """Up to 100 tickets, each by itself: `data` has the result of each in their order, with the
    status that a request of its own would have got, and one that is refused stops no other. Each
    counts as a request against the rate limits. With an Idempotency-Key, a request that is sent
    again continues where the first one was interrupted. A key with `import:write` may set
    `created_at`, which is ignored for others."""
    accepted = NewTicket if IMPORT in request.caller.may else TicketBody
    items = body.read_items(request, "tickets", accepted, MAX_ITEMS)

    async def create(tx: Tx, wanted: TicketBody) -> Response:
        new = NewTicket(**msgspec.structs.asdict(wanted))
        _, view = await actions.open_ticket(
            tx, request.caller, new, source="api", now_us=request.now_us
        )
        return _respond(view, 201)

    return await _write_each(request, items, create)


@operation(
    "Change several tickets",
    tag="Tickets",
    takes=TicketChanges,
    gives=_RESULT,
    is_list=True,
    meta=_META,
    example=_TICKET_CHANGES,
)
async def change_tickets(request: Request) -> Response:
    """Up to 100 changes, each as `PATCH /tickets/{id}` makes it, with the `id` and, if wanted, an
    ETag in `if_match`. `data` has the result of each in their order; one that is refused stops no
    other. Each counts as a request against the rate limits. Behind the first 4 MiB of tickets, a
    result has no `data`; read the ticket by its id."""
    items = body.read_changes(request, "tickets", IdentifiedChange, MAX_ITEMS)

    async def change(tx: Tx, item: tuple[IdentifiedChange, dict[str, Any]]) -> Response:
        wanted, repeated = item
        if not ids.is_canonical(wanted.id):
            raise NotFound
        if repeated:
            present = await actions.get_view(tx, request.caller.tenant_id, wanted.id)
            body.check_repeated(repeated, present.json, IdentifiedChange)
        fields = {name: getattr(wanted, name) for name in _FIELDS}
        tag = wanted.if_match
        if_match = None if tag is None else (conditional.as_we_send_it(tag),)
        view = await actions.change_ticket(
            tx,
            request.caller,
            wanted.id,
            TicketChange(**fields),
            if_match=if_match,
            now_us=request.now_us,
        )
        return _respond(view, 200)

    return await _write_each(request, items, change)


async def _write_each(
    request: Request,
    items: Sequence[T | ValidationFailed],
    write: Callable[[Tx, T], Awaitable[Response]],
) -> Response:
    writer, results, shown_bytes = ItemWriter(request), list[ItemResult](), 0
    for place, item in enumerate(items):
        try:
            response = await _write(writer, place, item, write)
        except ApiError as error:
            results.append(bulk.refused(request, error))
            continue
        shown_bytes += len(response.body)
        results.append(bulk.written(response, is_shown=shown_bytes <= _MAX_SHOWN_BYTES))
    meta = BulkMeta(len(results), sum(each.problem is not None for each in results))
    return Response(200, _encode({"data": results, "meta": meta}))


async def _write(
    writer: ItemWriter,
    place: int,
    item: T | ValidationFailed,
    write: Callable[[Tx, T], Awaitable[Response]],
) -> Response:
    if isinstance(item, ValidationFailed):
        raise item
    return await writer.write(place, lambda tx: write(tx, item))


def _respond(view: TicketView, status: int) -> Response:
    return Response(status, view.json, [(b"etag", view.etag.encode())])
