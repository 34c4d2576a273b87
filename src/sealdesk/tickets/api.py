"""Tickets and replies as JSON (interface section 4.2)."""

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from sealdesk.caller import IMPORT
from sealdesk.db.engine import Row, Tx
from sealdesk.errors import NotFound
from sealdesk.errors.general import QUERY_TOO_SLOW
from sealdesk.resources.paging import MAX_PAGE_BYTES
from sealdesk.tickets import actions, examples, inclusion, list_query, listing, rules
from sealdesk.tickets.errors import (
    INVALID_TRANSITION,
    SNOOZE_OF_ENDED,
    TICKET_CLOSED,
    TOO_MANY_SNOOZED,
)
from sealdesk.tickets.new_replies import NewReply, ReplyBody
from sealdesk.tickets.store import lists, replies
from sealdesk.tickets.store import tickets as ticket_store
from sealdesk.tickets.store.tickets import TicketView
from sealdesk.tickets.text.html_fields import add_html
from sealdesk.tickets.types import NewTicket, Reply, TicketBody, TicketChange
from sealdesk.web import body, conditional, envelope, query
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, ListRequest, page, read_list
from sealdesk.web.request import Header, Request, Response

F = TypeVar("F", NewTicket, NewReply)
_TAG = "Tickets"


class _Text(msgspec.Struct):
    description: str


_decode_text = msgspec.json.Decoder(_Text).decode
_LIST_PARAMS = (*list_query.FILTERS, inclusion.PARAM)
_HTML = query.flag("html", "Also give the text as safe HTML, rendered from its Markdown.")
_REPLY_FILTERS = (
    query.flag("is_internal", "Only internal notes (true) or only public replies (false)."),
    query.one_of("sort", ("desc", "asc"), "Newest first, or reading order.", default="desc"),
    _HTML,
)


@operation(
    "List tickets",
    tag=_TAG,
    gives=examples.TICKET,
    is_list=True,
    params=(*_LIST_PARAMS, *PAGING),
    fails=(QUERY_TOO_SLOW,),
)
async def list_tickets(request: Request) -> Response:
    """Newest first. Filters are joined by "and"; `status` and `priority` take several values,
    separated by commas, of which any is enough; `tag` may be repeated, and a ticket carries all of
    them. One filter in the default order is as fast as none, and so are `status` by `updated_at`,
    and `waiting=true` by `waiting_since`; combinations may take longer and are cut off
    after 2 s."""
    list_request = read_list(request, _LIST_PARAMS)
    included = inclusion.read_included(request.caller, list_request.values)
    filters = list_query.filter_of(list_request.values)
    email = list_request.values.get("customer_email")
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> Sequence[Row]:
        found = await listing.with_customer(tx, tenant_id, filters, email)
        return await lists.list_tickets(tx, tenant_id, found, list_request.page) if found else []

    fields = list_query.custom_fields_of(list_request.values)
    if fields:
        found = await request.read(lambda tx: listing.with_customer(tx, tenant_id, filters, email))
        return await listing.list_by_fields(request, list_request, fields, found)
    rows = await (request.read(work) if filters.is_served() else request.read_unindexed(work))
    documents: dict[str, bytes] = {}
    if included:
        documents, list_request = await listing.include(request, list_request, rows, included)

    def show_included(row: Row) -> bytes:
        return documents.get(row["id"]) or lists.to_json(row)

    return page(
        request,
        list_request,
        rows,
        show=show_included if included else lists.to_json,
        position=lambda row: lists.position(filters, row),
    )


@operation(
    "Create a ticket",
    tag=_TAG,
    takes=NewTicket,
    gives=examples.TICKET,
    status=201,
    headers=("idempotency-key",),
    response_headers=("location", "etag"),
    fails=(SNOOZE_OF_ENDED, TOO_MANY_SNOOZED),
    example=examples.NEW_TICKET,
)
async def create_ticket(request: Request) -> Response:
    """The customer is found by e-mail address, or added; a name is filled in only if none is
    known. Send an Idempotency-Key to make a retry safe. A key with `import:write` may set
    `created_at`; nobody is notified then."""
    new = _read_importable(request, NewTicket, TicketBody)

    async def work(tx: Tx) -> Response:
        ticket_id, view = await actions.open_ticket(
            tx, request.caller, new, source="api", now_us=request.now_us
        )
        location = (b"location", f"/api/v1/external/tickets/{ticket_id}".encode())
        return _respond(view, 201, location)

    return await request.write_idempotently(work)


@operation(
    "Get a ticket",
    tag=_TAG,
    gives=examples.TICKET,
    params=(_HTML, inclusion.PARAM),
    headers=("if-none-match",),
    response_headers=("etag",),
)
async def get_ticket(request: Request) -> Response:
    """One ticket, with its ETag, which changes with the ticket and with its customer. With
    `html=true` it also has `description_html`."""
    (ticket_id,) = request.params
    values = query.parse(request.query, (_HTML, inclusion.PARAM))
    included = inclusion.read_included(request.caller, values)
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> TicketView:
        view = await actions.get_view(tx, tenant_id, ticket_id)
        if not included:
            return view
        rows = await lists.list_by_ids(tx, tenant_id, [ticket_id])
        (document,) = await inclusion.list_documents(tx, tenant_id, rows, included, MAX_PAGE_BYTES)
        return view._replace(json=document)

    view = await request.read(work)
    document = await _with_html(request, view) if values.get("html") else view.json
    response = envelope.one_document(document)
    return conditional.unless_unchanged(request, view.etag, response)


@operation(
    "Change a ticket",
    tag=_TAG,
    takes=TicketChange,
    gives=examples.TICKET,
    headers=("if-match",),
    response_headers=("etag",),
    fails=(INVALID_TRANSITION, SNOOZE_OF_ENDED, TOO_MANY_SNOOZED),
    example=examples.TICKET_CHANGE,
)
async def change_ticket(request: Request) -> Response:
    """A JSON Merge Patch: what is left out stays, null clears, `custom_fields` are merged, `tags`
    are replaced. From `closed` the status can only become `open`."""
    (ticket_id,) = request.params
    change = body.read(request, TicketChange)
    if_match = conditional.if_match(request)

    async def work(tx: Tx) -> Response:
        view = await actions.change_ticket(
            tx, request.caller, ticket_id, change, if_match=if_match, now_us=request.now_us
        )
        return _respond(view, 200)

    return await request.write_idempotently(work)


@operation(
    "List a ticket's replies",
    tag="Replies",
    gives=examples.REPLY,
    is_list=True,
    params=(*_REPLY_FILTERS, *PAGING),
)
async def list_replies(request: Request) -> Response:
    """Newest first; `sort=asc` gives reading order. Internal notes are marked by `is_internal`.
    With `html=true` each has `body_html`, and a page ends early when rendering takes long."""
    (ticket_id,) = request.params
    list_request = read_list(request, _REPLY_FILTERS)
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> list[Reply]:
        if not await ticket_store.has_ticket(tx, tenant_id, ticket_id):
            raise NotFound
        return await replies.list_replies(
            tx,
            tenant_id,
            ticket_id,
            list_request.page,
            is_internal=list_request.values.get("is_internal"),
            newest_first=list_request.values.get("sort") != "asc",
        )

    rows = await request.read(work)
    if not list_request.values.get("html"):
        return _reply_page(request, list_request, rows, {})
    shown = rows[: list_request.page.per_page]
    documents, steps = await add_html(
        [*map(rules.reply_json, shown)], [row.body for row in shown], "body_html"
    )
    request.rendered_steps += steps
    rendered = {row.id: document for row, document in zip(rows, documents, strict=False)}
    if len(documents) < len(shown):
        list_request = listing.ending_behind(list_request, documents)
    return _reply_page(request, list_request, rows, rendered)


def _reply_page(
    request: Request, list_request: ListRequest, rows: list[Reply], rendered: dict[str, bytes]
) -> Response:
    """rendered: the documents of replies with their HTML, by their id."""
    return page(
        request,
        list_request,
        rows,
        show=lambda row: rendered.get(row.id) or rules.reply_json(row),
        position=lambda row: [row.id],
    )


@operation(
    "Reply to a ticket",
    tag="Replies",
    takes=NewReply,
    gives=examples.REPLY,
    status=201,
    headers=("idempotency-key",),
    fails=(TICKET_CLOSED,),
    example=examples.NEW_REPLY,
)
async def create_reply(request: Request) -> Response:
    """Written by the calling key; with `author: {"type": "customer"}` in the customer's name,
    which reopens a pending, held or resolved ticket. A closed ticket takes none. A key with
    `import:write` may name an agent as the author, and set `created_at`."""
    (ticket_id,) = request.params
    new = _read_importable(request, NewReply, ReplyBody)

    async def work(tx: Tx) -> Response:
        written = await actions.reply(tx, request.caller, ticket_id, new, now_us=request.now_us)
        return envelope.one_document(rules.reply_json(written), 201)

    return await request.write_idempotently(work)


def _read_importable(request: Request, full: type[F], plain: type[msgspec.Struct]) -> F:
    """The body; what only imports have is ignored unless the caller may import."""
    if IMPORT in request.caller.may:
        return body.read(request, full)
    return full(**msgspec.structs.asdict(body.read(request, plain)))


async def _with_html(request: Request, view: TicketView) -> bytes:
    description = _decode_text(view.json).description
    (document,), steps = await add_html([view.json], [description], "description_html")
    request.rendered_steps += steps
    return document


def _respond(view: TicketView, status: int, *headers: Header) -> Response:
    etag = (b"etag", view.etag.encode())
    return envelope.one_document(view.json, status, [*headers, etag])
