"""Tickets and replies as JSON (interface section 4.2)."""

from collections.abc import Sequence
from typing import TypeVar
from zlib import crc32

import msgspec

from sealdesk.caller import IMPORT
from sealdesk.db.engine import Row, Tx
from sealdesk.errors import BadRequest, NotFound
from sealdesk.errors.general import QUERY_TOO_SLOW
from sealdesk.errors.requests import INVALID_PARAMETER
from sealdesk.resources.paging import MAX_PAGE_BYTES, take_page
from sealdesk.tickets import actions
from sealdesk.tickets.text.html_fields import add_html
from sealdesk.tickets.ticket import examples, listing
from sealdesk.tickets.ticket.documents import reply_json
from sealdesk.tickets.ticket.errors import (
    INVALID_TRANSITION,
    NO_RECIPIENT,
    SNOOZE_OF_ENDED,
    TICKET_CLOSED,
    TICKET_MERGED,
    TOO_MANY_SNOOZED,
)
from sealdesk.tickets.ticket.store import lists, replies
from sealdesk.tickets.ticket.store import tickets as ticket_store
from sealdesk.tickets.ticket.store.filters import Filter
from sealdesk.tickets.ticket.store.tickets import TicketView
from sealdesk.tickets.ticket.types import (
    NewReply,
    NewTicket,
    Reply,
    ReplyBody,
    TicketBody,
    TicketChange,
)
from sealdesk.tickets.views import searching
from sealdesk.tickets.views.searching import Results
from sealdesk.web import body, conditional, envelope, query
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, ListRequest, page, read_list
from sealdesk.web.request import Header, Request, Response

F = TypeVar("F", NewTicket, NewReply)
_TAG = "Tickets"


class _Text(msgspec.Struct):
    description: str


_decode_text = msgspec.json.Decoder(_Text).decode
_LIST_PARAMS = (*listing.FILTERS, listing.INCLUDE)
_NEWEST_FIRST = "must be created_at, with sort=desc, if custom_field is sent"
# They read what the stamp says nothing of: replies, and the search index.
_READS_MORE = frozenset({"include", "custom_field"})
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
    headers=("if-none-match",),
    some_headers=("etag",),  # not with _READS_MORE, and not on PostgreSQL
    fails=(QUERY_TOO_SLOW,),
)
async def list_tickets(request: Request) -> Response:
    """Newest first. Filters are joined by "and"; `status` and `priority` take several values,
    separated by commas, of which any is enough; `tag` may be repeated, and a ticket carries all of
    them. One filter in the default order is as fast as none, and so are `status` by `updated_at`,
    and `waiting=true` by `waiting_since`; combinations may take longer and are cut off
    after 2 s."""
    caller, cache = request.caller, request.state.ticket_pages
    stamp = await request.state.database.read_ticket_stamp(caller.tenant_id)
    name = caller.may, request.query
    shown = b"" if stamp is None else cache.find(caller.tenant_id, name, stamp)
    if not shown:
        list_request = read_list(request, _LIST_PARAMS)
        response = await _list_tickets(request, list_request)
        if stamp is None or not _READS_MORE.isdisjoint(list_request.values):
            return response
        shown = response.body
        cache.add(caller.tenant_id, name, shown, stamp)
    etag = f'"{request.state.epoch:x}.{stamp:x}.{crc32(request.query):x}"'
    return conditional.unless_unchanged(request, etag, Response(200, shown))


async def _list_tickets(request: Request, list_request: ListRequest) -> Response:
    included = listing.read_included(request.caller, list_request.values)
    filters = listing.filter_of(list_request.values)
    email = list_request.values.get("customer_email")
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> Sequence[Row]:
        found = await listing.with_customer(tx, tenant_id, filters, email)
        return await lists.list_tickets(tx, tenant_id, found, list_request.page) if found else []

    fields = listing.custom_fields_of(list_request.values)
    if fields:
        found = await request.fetch(listing.with_customer, filters, email)
        return await _list_by_fields(request, list_request, fields, found)
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


async def _list_by_fields(
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
    included = listing.read_included(request.caller, list_request.values)
    listed = await listing.read_documents(request, list_request, found.rows, included)
    documents = take_page(listed, list_request.page, len)
    cursor = searching.next_cursor(request, list_request, found, len(documents))
    meta = envelope.PageMeta(list_request.page.per_page, cursor is not None, cursor)
    return envelope.many(documents, meta)


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
        return _respond(view, 201, envelope.location(request, ticket_id))

    return await request.write_idempotently(work)


@operation(
    "Get a ticket",
    tag=_TAG,
    gives=examples.TICKET,
    params=(_HTML, listing.INCLUDE),
    headers=("if-none-match",),
    response_headers=("etag",),
)
async def get_ticket(request: Request, ticket_id: str) -> Response:
    """One ticket, with its ETag, which changes with the ticket and with its customer. With
    `html=true` it also has `description_html`."""
    values = query.parse(request.query, (_HTML, listing.INCLUDE))
    included = listing.read_included(request.caller, values)
    tenant_id = request.caller.tenant_id

    async def work(tx: Tx) -> TicketView:
        view = await actions.get_view(tx, tenant_id, ticket_id)
        if not included:
            return view
        rows = await lists.list_by_ids(tx, tenant_id, [ticket_id])
        (document,) = await listing.list_documents(tx, tenant_id, rows, included, MAX_PAGE_BYTES)
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
    fails=(INVALID_TRANSITION, TICKET_MERGED, SNOOZE_OF_ENDED, TOO_MANY_SNOOZED),
    example=examples.TICKET_CHANGE,
)
async def change_ticket(request: Request, ticket_id: str) -> Response:
    """A JSON Merge Patch: what is left out stays, null clears, `custom_fields` are merged, `tags`
    are replaced, `add_tags` and `remove_tags` leave the others. From `closed` the status can only
    become `open`."""
    change = await body.read_change(request, TicketChange, lambda: _show(request, ticket_id))
    if_match = conditional.if_match(request)
    view = await request.act(
        actions.change_ticket, ticket_id, change, if_match=if_match, now_us=request.now_us
    )
    return _respond(view, 200)


async def _show(request: Request, ticket_id: str) -> bytes:
    view = await request.fetch(actions.get_view, ticket_id)
    return view.json


@operation(
    "List a ticket's replies",
    tag="Replies",
    gives=examples.REPLY,
    is_list=True,
    params=(*_REPLY_FILTERS, *PAGING),
)
async def list_replies(request: Request, ticket_id: str) -> Response:
    """Newest first; `sort=asc` gives reading order. Internal notes are marked by `is_internal`.
    With `html=true` each has `body_html`, and a page ends early when rendering takes long."""
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
        request.state.sandbox,
        [*map(reply_json, shown)],
        [row.body for row in shown],
        "body_html",
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
        show=lambda row: rendered.get(row.id) or reply_json(row),
    )


@operation(
    "Reply to a ticket",
    tag="Replies",
    takes=NewReply,
    gives=examples.REPLY,
    status=201,
    headers=("idempotency-key",),
    fails=(TICKET_CLOSED, TICKET_MERGED, NO_RECIPIENT),
    example=examples.NEW_REPLY,
)
async def create_reply(request: Request, ticket_id: str) -> Response:
    """Written by the calling key; with `author: {"type": "customer"}` in the customer's name,
    which reopens a pending, held or resolved ticket. A closed ticket takes none, and one that came
    by e-mail takes only notes while nobody can get a reply. A key with `import:write` may name an
    agent as the author, and set `created_at`."""
    new = _read_importable(request, NewReply, ReplyBody)

    async def work(tx: Tx) -> Response:
        written = await actions.reply(
            tx, request.caller, ticket_id, new, now_us=request.now_us, needs_recipient=True
        )
        return envelope.one_document(reply_json(written), 201)

    return await request.write_idempotently(work)


def _read_importable(request: Request, full: type[F], plain: type[msgspec.Struct]) -> F:
    """The body; what only imports have is ignored unless the caller may import."""
    if IMPORT in request.caller.may:
        return body.read(request, full)
    return full(**msgspec.structs.asdict(body.read(request, plain)))


async def _with_html(request: Request, view: TicketView) -> bytes:
    description = _decode_text(view.json).description
    (document,), steps = await add_html(
        request.state.sandbox, [view.json], [description], "description_html"
    )
    request.rendered_steps += steps
    return document


def _respond(view: TicketView, status: int, *headers: Header) -> Response:
    return envelope.one_document(view.json, status, [*headers, envelope.etag(view.etag)])
