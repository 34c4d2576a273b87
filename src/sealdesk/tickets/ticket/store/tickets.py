"""The SQL of single tickets; lists of tickets are in `lists`."""

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, NamedTuple

import msgspec

from sealdesk.customers.store import OF_ADDRESS
from sealdesk.customers.types import StoredReference
from sealdesk.db.column_lists import (
    assignment_list,
    column_list,
    delete_row,
    id_parameters,
    insert_into,
    insert_once,
    select_row,
)
from sealdesk.db.engine import Counter, Row, Tx
from sealdesk.resources import representation
from sealdesk.resources.identity import identity
from sealdesk.tickets.ticket import documents, rules
from sealdesk.tickets.ticket.clocks import Clocks, Due
from sealdesk.tickets.ticket.documents import decode_attachments, encode_attachments
from sealdesk.tickets.ticket.types import PRIORITIES, Satisfaction, Ticket

_STORED = tuple(name for name in Ticket.__struct_fields__ if name != "due")
# A change never sets these.
_FIXED = {
    *("tenant_id", "id", "number", "source", "customer_id", "created_at", "follower_count"),
    "key_id",
    "satisfaction",
}
COLUMNS = column_list(_STORED, "t")
# SQLite writes the index entries of every column behind SET, changed or not (2.5 µs each), so these
# are set only when they change.
_SET_IF_CHANGED = """
    status priority assignee_id team_id external_id waiting_since snoozed_until due_at alert_at
""".split()
_ASSIGNMENTS = assignment_list(
    (*(name for name in _STORED if name not in {*_FIXED, *_SET_IF_CHANGED}), "document")
)
_WITH_CUSTOMER = f"""
SELECT {COLUMNS}, c.reference, c.version AS customer_version, c.name AS customer_name
FROM tickets t JOIN customers c ON c.tenant_id = :tenant_id AND c.id = t.customer_id
WHERE t.tenant_id = :tenant_id
"""
_FIND = f"{_WITH_CUSTOMER} AND t.id = :id LIMIT 1"
_FIND_VIEW = """
SELECT t.document, t.version, c.reference, c.version AS customer_version
FROM tickets t JOIN customers c ON c.tenant_id = :tenant_id AND c.id = t.customer_id
WHERE t.tenant_id = :tenant_id AND t.id = :id LIMIT 1
"""
_EXISTS = select_row("tickets", "1")
_FIND_ID = select_row("tickets", "id", "tenant_id number")
_NUMBERS = Counter("ticket_numbers", key="tenant_id", value="last_number")
_CUSTOMER = f"""
SELECT reference, version FROM customers WHERE tenant_id = :tenant_id AND {OF_ADDRESS} LIMIT 1
"""
_ADD = insert_into("tickets", (*_STORED, "document"))
_REPLACE = f"""
UPDATE tickets SET {_ASSIGNMENTS}
WHERE tenant_id = :tenant_id AND id = :id AND version = :before
    AND coalesce(alert_at, 0) = :alert_before
"""
# Until the worker has renewed them, stored identities may be those of an earlier version.
_ADD_TAG = insert_once("ticket_tags", "tenant_id tag ticket_id", "tenant_id tag ticket_id")
_DROP_TAG = delete_row("ticket_tags", "tenant_id tag ticket_id")


_decode_clocks = msgspec.json.Decoder(Clocks).decode
_decode_satisfaction = msgspec.json.Decoder(Satisfaction).decode


class TicketAndCustomer(NamedTuple):
    """A ticket with what replies and events need of its customer.

    reference: the customer as a ticket shows it, as JSON.
    """

    ticket: Ticket
    reference: bytes
    customer_version: int
    customer_name: str | None

    @property
    def etag(self) -> str:
        return documents.etag(self.ticket.version, self.customer_version)


class TicketView(NamedTuple):
    """A ticket as the API shows it, as JSON, and its ETag."""

    json: bytes
    etag: str


async def find(tx: Tx, tenant_id: str, ticket_id: str) -> TicketAndCustomer | None:
    row = await tx.fetch_one(_FIND, {"tenant_id": tenant_id, "id": ticket_id})
    return None if row is None else _with_customer(row)


async def list_by_ids(
    tx: Tx, tenant_id: str, ticket_ids: Collection[str]
) -> list[TicketAndCustomer]:
    """Tickets by their ids; unknown ids are left out."""
    keys, params = id_parameters(ticket_ids)
    params |= {"tenant_id": tenant_id, "limit": len(ticket_ids)}
    sql = f"{_WITH_CUSTOMER} AND t.id IN ({keys}) ORDER BY t.id LIMIT :limit"
    return [_with_customer(row) for row in await tx.fetch_all(sql, params)] if keys else []


async def find_view(tx: Tx, tenant_id: str, ticket_id: str) -> TicketView | None:
    row = await tx.fetch_one(_FIND_VIEW, {"tenant_id": tenant_id, "id": ticket_id})
    if row is None:
        return None
    return TicketView(
        documents.with_customer(row["document"], row["reference"]),
        documents.etag(row["version"], row["customer_version"]),
    )


async def has_ticket(tx: Tx, tenant_id: str, ticket_id: str) -> bool:
    return await tx.fetch_one(_EXISTS, {"tenant_id": tenant_id, "id": ticket_id}) is not None


async def find_id(tx: Tx, tenant_id: str, number: int) -> str | None:
    row = await tx.fetch_one(_FIND_ID, {"tenant_id": tenant_id, "number": number})
    return None if row is None else str(row["id"])


async def draw_number(tx: Tx, tenant_id: str, email: str) -> tuple[int, StoredReference | None]:
    """The next ticket number of the tenant, and the customer with this address, if any."""
    params = {"tenant_id": tenant_id, "email_identity": representation.email_identity(email)}
    number, row = await tx.increment_and_fetch(_NUMBERS, tenant_id, _CUSTOMER, params)
    return number, None if row is None else StoredReference(row["reference"], row["version"])


async def add(tx: Tx, ticket: Ticket) -> bytes:
    """Store a new ticket; its ready document."""
    document = documents.ready_document(ticket)
    await tx.execute_one(_ADD, _params(ticket, document))
    await _for_each_tag(tx, _ADD_TAG, ticket, _tag_identities(ticket))
    return document


async def replace(tx: Tx, before: Ticket, after: Ticket) -> bytes:
    """Store a changed ticket; its ready document."""
    document = documents.ready_document(after)
    changed = tuple(
        name for name in _SET_IF_CHANGED if getattr(before, name) != getattr(after, name)
    )
    seen = {"before": before.version, "alert_before": before.alert_at or 0}
    params = _params(after, document) | seen
    await tx.execute_one(_replacing(changed), params)
    if before.tags != after.tags:
        old, new = _tag_identities(before), _tag_identities(after)
        await _for_each_tag(tx, _DROP_TAG, after, [tag for tag in old if tag not in new])
        await _for_each_tag(tx, _ADD_TAG, after, [tag for tag in new if tag not in old])
    return document


@cache
def _replacing(changed: tuple[str, ...]) -> str:
    """The UPDATE that also sets these of _SET_IF_CHANGED; there are 512."""
    return _REPLACE.replace(" SET ", f" SET {''.join(f'{name} = :{name}, ' for name in changed)}")


def encode_part(part: Satisfaction | Clocks | None) -> str | None:
    """As a column of tickets stores it."""
    return None if part is None else msgspec.json.encode(part).decode()


def decode_satisfaction(column: str | None) -> Satisfaction | None:
    return None if column is None else _decode_satisfaction(column)


def decode_clocks(column: str | None) -> Clocks | None:
    return None if column is None else _decode_clocks(column)


def decode_due(column: str | None) -> Due | None:
    """What is due, from the column of the clocks."""
    clocks = decode_clocks(column)
    return clocks.due() if clocks else None


def _tag_identities(ticket: Ticket) -> list[str]:
    return [identity(tag) for tag in ticket.tags]


async def _for_each_tag(tx: Tx, sql: str, ticket: Ticket, tags: Sequence[str]) -> None:
    for tag in tags:
        await tx.enqueue(sql, {"tenant_id": ticket.tenant_id, "tag": tag, "ticket_id": ticket.id})


def _with_customer(row: Row) -> TicketAndCustomer:
    return TicketAndCustomer(
        ticket_of(row), row["reference"], row["customer_version"], row["customer_name"]
    )


def ticket_of(row: Row) -> Ticket:
    """The ticket of a row that begins with COLUMNS."""
    values: dict[str, Any] = dict(zip(_STORED, row, strict=False))  # other columns follow
    values["priority"] = PRIORITIES[values["priority"] - 1]
    values["tags"] = tuple(msgspec.json.decode(values["tags"]))
    values["custom_fields"] = msgspec.json.decode(values["custom_fields"])
    values["attachments"] = decode_attachments(values["attachments"])
    values["satisfaction"] = decode_satisfaction(values["satisfaction"])
    values["clocks"] = clocks = decode_clocks(values["clocks"])
    values["due"] = clocks.due() if clocks else None
    return Ticket(**values)


def _params(ticket: Ticket, document: bytes) -> dict[str, object]:
    return msgspec.structs.asdict(ticket) | {
        "priority": rules.rank_of(ticket.priority),
        "tags": msgspec.json.encode(ticket.tags).decode(),
        "custom_fields": msgspec.json.encode(ticket.custom_fields).decode(),
        "attachments": encode_attachments(ticket.attachments),
        "satisfaction": encode_part(ticket.satisfaction),
        "clocks": encode_part(ticket.clocks),
        "document": document,
    }
