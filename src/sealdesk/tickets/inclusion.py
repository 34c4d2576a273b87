"""What `include` adds to tickets: their customers and their newest replies, within bounds."""

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
from sealdesk.resources.paging import PageRequest, take_page
from sealdesk.tickets import rules
from sealdesk.tickets.store import lists, replies
from sealdesk.web import query

CUSTOMER, REPLIES = "customer", "replies"
MAX_REPLIES = 25
PARAM = query.any_of(
    "include",
    (CUSTOMER, REPLIES),
    "Adds `included` to each ticket: its customer, which needs `customers:read`, and its newest 25"
    " replies. A page ends early when its data would be larger than 1 MiB.",
)
_NEEDED = "customers:read"
_decode_reference = msgspec.json.Decoder(CustomerRef).decode


def read_included(caller: Caller, values: dict[str, Any]) -> frozenset[str]:
    """What a request asks to include. Raises Forbidden if the key may not read it."""
    included = frozenset(values.get("include", ()))
    if CUSTOMER in included:
        check_reads_customers(caller)
    return included


def check_reads_customers(caller: Caller) -> None:
    """Raises Forbidden for a key that may not read customers."""
    if caller.actor.kind == "api_key" and _NEEDED not in caller.may:
        raise Forbidden(
            INSUFFICIENT_PERMISSIONS,
            needs=_NEEDED,
            required=[_NEEDED],
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
    shown = take_page(map(rules.reply_json, listed), page, len)
    has_more = msgspec.json.encode(len(listed) > len(shown))
    return b'{"data":[%b],"has_more":%b}' % (b",".join(shown), has_more)
