"""Tickets and replies as JSON (interface section 4.2)."""

from collections.abc import Sequence

import msgspec

from sealdesk.db.engine import Row, Tx
from sealdesk.errors import NotFound
from sealdesk.errors.general import QUERY_TOO_SLOW
from sealdesk.tickets import actions, examples, rules, types
from sealdesk.tickets.errors import (
    INVALID_TRANSITION,
    SNOOZE_OF_ENDED,
    TICKET_CLOSED,
    TOO_MANY_SNOOZED,
)
from sealdesk.tickets.store import lists, replies
from sealdesk.tickets.store import tickets as ticket_store
from sealdesk.tickets.store.selection import Filter
from sealdesk.tickets.store.tickets import TicketView
from sealdesk.tickets.text.html_fields import add_html
from sealdesk.tickets.types import NewReply, NewTicket, Reply, TicketChange
from sealdesk.web import body, conditional, envelope, query
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, ListRequest, page, read_list
from sealdesk.web.request import Header, Request, Response

_TAG = "Tickets"


class _Text(msgspec.Struct):
    description: str


_decode_text = msgspec.json.Decoder(_Text).decode
_FILTERS = (
    query.any_of("status", types.STATUSES, "Tickets in one of these statuses."),
    query.any_of("priority", types.PRIORITIES, "Tickets with one of these priorities."),
    query.identifier("customer_id", "Tickets of this customer."),
    query.identifier("assignee_id", "Tickets assigned to this agent."),
    query.identifier("team_id", "Tickets of this team."),
    query.flag(
        "waiting",
        "Tickets whose customer waits for a public reply (true), or the others (false).",
    ),
    query.flag("snoozed", "Tickets that are snoozed (true), or the others (false)."),
    query.identifier("follower_id", "Tickets that this user follows."),
    query.text("tag", "Tickets that carry this tag.", max_length=64, example="refund"),
    query.text(
        "external_id", "Tickets with this external_id.", max_length=255, example="order-7731"
    ),
    query.instant("created_after", "Tickets created at this time or later."),
    query.instant("created_before", "Tickets created before this time."),
    query.instant("updated_after", "Tickets changed at this time or later."),
    query.one_of(
        "sort_by",
        ("created_at", "updated_at", "priority", "waiting_since"),
        "What to order by; equal ones by id. `waiting_since` lists only those who wait.",
        default="created_at",
    ),
    query.one_of("sort", ("desc", "asc"), "Descending or ascending.", default="desc"),
)
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
    params=(*_FILTERS, *PAGING),
    fails=(QUERY_TOO_SLOW,),
)
async def list_tickets(request: Request) -> Response:
    """Newest first. Filters are joined by "and"; `status` and `priority` take several values,
    separated by commas, of which any is enough. One filter in the default order is as fast as
    none, and so are `status` by `updated_at`, and `waiting=true` by `waiting_since`; combinations
    may take longer and are cut off after 2 s."""
    list_request = read_list(request, _FILTERS)
    values = dict(list_request.values)
    values.pop("per_page", None)
    values.pop("cursor", None)
    values["is_waiting"] = values.pop("waiting", None)
    values["is_snoozed"] = values.pop("snoozed", None)
    values["newest_first"] = values.pop("sort", "desc") == "desc"
    filters = Filter(**values)

    async def work(tx: Tx) -> Sequence[Row]:
        return await lists.list_tickets(tx, request.caller.tenant_id, filters, list_request.page)

    rows = await (request.read(work) if filters.is_served() else request.read_unindexed(work))
    return page(
        request,
        list_request,
        rows,
        show=lists.to_json,
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
    known. Send an Idempotency-Key to make a retry safe."""
    new = body.read(request, NewTicket)

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
    params=(_HTML,),
    headers=("if-none-match",),
    response_headers=("etag",),
)
async def get_ticket(request: Request) -> Response:
    """One ticket, with its ETag, which changes with the ticket and with its customer. With
    `html=true` it also has `description_html`."""
    (ticket_id,) = request.params
    wants_html = query.parse(request.query, (_HTML,)).get("html", False)
    view = await request.read(lambda tx: actions.get_view(tx, request.caller.tenant_id, ticket_id))
    document = await _with_html(request, view) if wants_html else view.json
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
        # The page ends behind what was rendered, as it ends behind what fits.
        most = min(sum(map(len, documents)), list_request.page.max_bytes)
        ended = msgspec.structs.replace(list_request.page, max_bytes=most)
        list_request = list_request._replace(page=ended)
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
    which reopens a pending, held or resolved ticket. A closed ticket takes none."""
    (ticket_id,) = request.params
    new = body.read(request, NewReply)

    async def work(tx: Tx) -> Response:
        written = await actions.reply(tx, request.caller, ticket_id, new, now_us=request.now_us)
        return envelope.one_document(rules.reply_json(written), 201)

    return await request.write_idempotently(work)


async def _with_html(request: Request, view: TicketView) -> bytes:
    description = _decode_text(view.json).description
    (document,), steps = await add_html([view.json], [description], "description_html")
    request.rendered_steps += steps
    return document


def _respond(view: TicketView, status: int, *headers: Header) -> Response:
    etag = (b"etag", view.etag.encode())
    return envelope.one_document(view.json, status, [*headers, etag])
