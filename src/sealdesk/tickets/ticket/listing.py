"""Lists of tickets: their query parameters, the filter that these make, and what `include` adds."""

from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from sealdesk.caller import Caller
from sealdesk.customers import rules as customer_rules
from sealdesk.customers import store as customers
from sealdesk.customers.types import Customer, CustomerRef
from sealdesk.db.engine import Row, Tx
from sealdesk.errors import Forbidden
from sealdesk.errors.general import INSUFFICIENT_PERMISSIONS
from sealdesk.resources import representation
from sealdesk.resources.identity import identity
from sealdesk.resources.paging import PageRequest, take_page
from sealdesk.tickets.ticket import types
from sealdesk.tickets.ticket.documents import reply_json
from sealdesk.tickets.ticket.store import lists, replies
from sealdesk.tickets.ticket.store.filters import Filter
from sealdesk.web import query
from sealdesk.web.pagination import ListRequest
from sealdesk.web.request import Request

_NOBODY = "none"
_RATINGS = ("1", "2", "3", "4", "5")
ANY = "any"  # stands for the customer of an address until they are known
_MAX_TAGS = 10
_MAX_FIELD_LENGTH = 320  # of a key and a value
CUSTOMER, REPLIES = "customer", "replies"
MAX_REPLIES = 25
INCLUDE = query.any_of(
    "include",
    (CUSTOMER, REPLIES),
    "Adds `included` to each ticket: its customer, which needs `customers:read`, and its newest 25"
    " replies. A page ends early when its data would be larger than 1 MiB.",
)
_READ_CUSTOMERS = "customers:read"
_decode_reference = msgspec.json.Decoder(CustomerRef).decode


def custom_field(about: str = "") -> query.Param:
    """A custom field and its value."""

    def read(text: str) -> str:
        key, colon, value = text.partition(":")
        if not (key and colon and value) or len(text) > _MAX_FIELD_LENGTH:
            raise query.BadValue("a key and a value, as in carrier:DHL")
        return text

    param = query.text("custom_field", about, max_length=_MAX_FIELD_LENGTH, example="carrier:DHL")
    return msgspec.structs.replace(
        param, read=read, schema={**param.schema, "pattern": r"^[^:]+:[\s\S]"}
    )


def _tag() -> query.Param:
    """Of any spelling, so that a cursor goes on with another one."""
    param = query.text("tag", "", max_length=64, example="refund")
    return msgspec.structs.replace(param, read=lambda text: identity(param.read(text)))


def _rating() -> query.Param:
    def read(text: str) -> int:
        if text not in _RATINGS:
            raise query.BadValue("a whole number from 1 to 5")
        return int(text)

    param = query.number("rating", "Tickets that their customer has rated so, from 1 to 5.")
    schema = {"type": "integer", "minimum": 1, "maximum": 5}
    return msgspec.structs.replace(param, read=read, schema=schema, example="2")


FILTERS = (
    query.any_of("status", types.STATUSES, "Tickets in one of these statuses."),
    query.any_of("priority", types.PRIORITIES, "Tickets with one of these priorities."),
    query.number("number", "The ticket with this number."),
    query.identifier("customer_id", "Tickets of this customer."),
    query.text(
        "customer_email",
        "Tickets of the customer with this e-mail address, whatever its case.",
        max_length=representation.MAX_EMAIL_LENGTH,
        example="maria.santos@example.com",
    ),
    query.identifier(
        "assignee_id", "Tickets assigned to this agent, or `none`: to nobody.", besides=_NOBODY
    ),
    query.identifier("team_id", "Tickets of this team."),
    query.flag(
        "waiting", "Tickets whose customer waits for a public reply (true), or the others (false)."
    ),
    query.flag("snoozed", "Tickets that are snoozed (true), or the others (false)."),
    query.identifier("follower_id", "Tickets that this user follows."),
    query.repeated(
        _tag(),
        "Tickets that carry this tag, in any spelling; sent several times, all of these tags.",
        most=_MAX_TAGS,
    ),
    query.repeated(
        custom_field(),
        "Tickets with this value of a custom field, as `key:value`, regardless of case; sent"
        " several times, all of these values. The newest first; a page may end before it is full.",
        most=_MAX_TAGS,
    ),
    query.text(
        "external_id", "Tickets with this external_id.", max_length=255, example="order-7731"
    ),
    _rating(),
    query.instant("created_after", "Tickets created at this time or later."),
    query.instant("created_before", "Tickets created before this time."),
    query.instant("updated_after", "Tickets changed at this time or later."),
    query.instant("updated_before", "Tickets changed before this time, and not since."),
    query.instant(
        "due_before",
        "Tickets with something due by an SLA policy before this time, or late.",
    ),
    query.one_of(
        "sort_by",
        ("created_at", "updated_at", "priority", "waiting_since", "due_at"),
        "What to order by; equal ones by id. `waiting_since` lists only those who wait, `due_at`"
        " only those with something due by an SLA policy.",
        default="created_at",
    ),
    query.one_of("sort", ("desc", "asc"), "Descending or ascending.", default="desc"),
)
_PLAIN = """
    status priority number customer_id team_id follower_id external_id rating created_after
    created_before updated_after updated_before due_before sort_by
""".split()


def filter_of(values: dict[str, Any]) -> Filter:
    """The filter of the values that were sent.

    Its customer_id is ANY if only `customer_email` says whose tickets are meant.
    """
    fields = {name: values[name] for name in _PLAIN if name in values}
    if "customer_email" in values:
        fields.setdefault("customer_id", ANY)
    is_unassigned = values.get("assignee_id") == _NOBODY
    tag, *more_tags = values.get("tag", (None,))
    return Filter(
        **fields,
        assignee_id=None if is_unassigned else values.get("assignee_id"),
        is_unassigned=is_unassigned,
        is_waiting=values.get("waiting"),
        is_snoozed=values.get("snoozed"),
        tag=tag,
        more_tags=tuple(more_tags),
        newest_first=values.get("sort", "desc") == "desc",
    )


def custom_fields_of(values: dict[str, Any]) -> list[tuple[str, str]]:
    """The keys of custom fields with the values that tickets must have."""
    pairs = [text.partition(":") for text in values.get("custom_field", ())]
    return [(key, value) for key, _, value in pairs]


async def with_customer(
    tx: Tx, tenant_id: str, filters: Filter, email: str | None
) -> Filter | None:
    """The filters with the customer of an address; None if no ticket can match.

    A customer who was merged stands for the one that has their tickets.
    """
    if filters.customer_id not in (None, ANY):
        customer_id = await customers.find_lasting_id(tx, tenant_id, filters.customer_id)
        filters = msgspec.structs.replace(filters, customer_id=customer_id)
    if email is None:
        return filters
    customer = await customers.find_by_email(tx, tenant_id, email)
    if customer is None or filters.customer_id not in (ANY, customer.id):
        return None
    return msgspec.structs.replace(filters, customer_id=customer.id)


def read_included(caller: Caller, values: dict[str, Any]) -> frozenset[str]:
    """What a request asks to include. Raises Forbidden if the key may not read it."""
    included = frozenset(values.get("include", ()))
    if CUSTOMER in included:
        check_reads_customers(caller)
    return included


def check_reads_customers(caller: Caller) -> None:
    """Raises Forbidden for a key that may not read customers."""
    if caller.actor.kind == "api_key" and _READ_CUSTOMERS not in caller.may:
        raise Forbidden(
            INSUFFICIENT_PERMISSIONS,
            needs=_READ_CUSTOMERS,
            required=[_READ_CUSTOMERS],
            granted=sorted(caller.may),
        )


async def list_documents(
    tx: Tx, tenant_id: str, rows: Sequence[Row], included: Collection[str], max_bytes: int
) -> list[bytes]:
    """Tickets as JSON with what is included: the first ones that fit, at least one."""
    people = await _list_customers(tx, tenant_id, rows) if CUSTOMER in included else {}
    documents: list[bytes] = []
    left = max_bytes
    for row in rows:
        parts = []
        if CUSTOMER in included:
            customer = people.get(_decode_reference(row[1]).id)
            parts += [b'"customer":' + customer_rules.to_json(customer)] if customer else []
        if REPLIES in included:
            parts.append(b'"replies":' + await _read_replies(tx, tenant_id, row["id"], max_bytes))
        document = b'%b,"included":{%b}}' % (lists.to_json(row)[:-1], b",".join(parts))
        left -= len(document)
        if left < 0 and documents:
            break
        documents.append(document)
    return documents


async def include(
    request: Request, list_request: ListRequest, rows: Sequence[Row], included: frozenset[str]
) -> tuple[dict[str, bytes], ListRequest]:
    """Documents by the id of the ticket, and a page that ends behind them."""
    shown = rows[: list_request.page.per_page]
    listed = await read_documents(request, list_request, shown, included)
    if len(listed) < len(shown):
        list_request = ending_behind(list_request, listed)
    pairs = zip(shown, listed, strict=False)
    return {row["id"]: document for row, document in pairs}, list_request


async def read_documents(
    request: Request, list_request: ListRequest, rows: Sequence[Row], included: frozenset[str]
) -> list[bytes]:
    """Tickets as JSON with what is included: the first ones that fit."""
    if not included:
        return [*map(lists.to_json, rows)]
    max_bytes = list_request.page.max_bytes
    return await request.fetch(list_documents, rows, included, max_bytes)


def ending_behind(list_request: ListRequest, documents: Sequence[bytes]) -> ListRequest:
    """The same request, whose page ends behind these documents, as it ends behind what fits."""
    most = min(sum(map(len, documents)), list_request.page.max_bytes)
    return list_request._replace(page=msgspec.structs.replace(list_request.page, max_bytes=most))


async def _list_customers(tx: Tx, tenant_id: str, rows: Sequence[Row]) -> dict[str, Customer]:
    customer_ids = sorted({_decode_reference(row[1]).id for row in rows})
    found = await customers.list_by_ids(tx, tenant_id, customer_ids) if customer_ids else []
    return {customer.id: customer for customer in found}


async def _read_replies(tx: Tx, tenant_id: str, ticket_id: str, max_bytes: int) -> bytes:
    """The newest replies as a list with `has_more`."""
    page = PageRequest(MAX_REPLIES, None, max_bytes)
    listed = await replies.list_replies(
        tx, tenant_id, ticket_id, page, is_internal=None, newest_first=True
    )
    shown = take_page(map(reply_json, listed), page, len)
    has_more = msgspec.json.encode(len(listed) > len(shown))
    return b'{"data":[%b],"has_more":%b}' % (b",".join(shown), has_more)
