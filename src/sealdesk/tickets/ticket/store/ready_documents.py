"""The SQL that rewrites the ready documents of tickets after their members have changed.

It also fills in what tickets of earlier versions do not have: who wrote last, when and what.
"""

import hashlib
from typing import NamedTuple

import msgspec

from sealdesk.db.column_lists import update_row
from sealdesk.db.engine import Row, Tx
from sealdesk.tickets.ticket import documents, rules
from sealdesk.tickets.ticket.store.tickets import COLUMNS, ticket_of
from sealdesk.tickets.ticket.types import Ticket, TicketDocument

FIRST_ID = ""  # sorts before every id
# Tells the members of one version from those of another.
SHAPE = hashlib.sha256(" ".join(TicketDocument.__struct_fields__).encode()).hexdigest()[:16]

_NEXT_TENANT = "SELECT id FROM tenants WHERE id > :after_id ORDER BY id LIMIT 1"
_LAST = """CASE WHEN t.last_message_at IS NULL THEN (SELECT r.{column} FROM replies r
    WHERE r.tenant_id = :tenant_id AND r.ticket_id = t.id{condition}
    ORDER BY r.id DESC LIMIT 1) END AS {name}"""
_PUBLIC = " AND r.is_internal = false"
_OF_CUSTOMER = f"{_PUBLIC} AND r.author_type = 'customer'"
_LIST = f"""
SELECT {COLUMNS}, t.document,
{_LAST.format(column="body", condition="", name="body")},
{_LAST.format(column="is_internal", condition="", name="is_note")},
{_LAST.format(column="created_at", condition="", name="messaged_at")},
{_LAST.format(column="author_type", condition=_PUBLIC, name="replied_by")},
{_LAST.format(column="created_at", condition=_OF_CUSTOMER, name="customer_replied_at")}
FROM tickets t
WHERE t.tenant_id = :tenant_id AND t.id > :after_id ORDER BY t.id LIMIT :limit
"""
# A ticket that was changed meanwhile has a new document already.
_REPLACE = update_row(
    "tickets",
    "document snippet last_message_at last_reply_by last_customer_reply_at",
    key="tenant_id id version",
)
_REWRITTEN = (
    *("tenant_id", "id", "version"),
    *("snippet", "last_message_at", "last_reply_by", "last_customer_reply_at"),
)


async def next_tenant(tx: Tx, after_id: str) -> str | None:
    """The id of the tenant behind this one."""
    row = await tx.fetch_one(_NEXT_TENANT, {"after_id": after_id})
    return None if row is None else str(row["id"])


class Batch(NamedTuple):
    """What one step did. last_id: where the next step begins, None when no ticket is left."""

    last_id: str | None
    rewritten: int


async def rewrite_batch(tx: Tx, tenant_id: str, after_id: str, limit: int) -> Batch:
    """Rewrite the documents that differ from their columns, of up to `limit` tickets by id.

    It may be repeated: a document that is right already is not written.
    """
    params = {"tenant_id": tenant_id, "after_id": after_id, "limit": limit}
    rows = await tx.fetch_all(_LIST, params)
    rewritten = 0
    for row in rows:
        stored = ticket_of(row)
        ticket = stored if stored.last_message_at is not None else _filled_in(stored, row)
        document = documents.ready_document(ticket)
        if ticket is not stored or document != bytes(row["document"]):
            fields = {name: getattr(ticket, name) for name in _REWRITTEN}
            await tx.enqueue(_REPLACE, fields | {"document": document})
            rewritten += 1
    return Batch(rows[-1]["id"] if len(rows) == limit else None, rewritten)


def _filled_in(ticket: Ticket, row: Row) -> Ticket:
    return msgspec.structs.replace(
        ticket,
        snippet=rules.snippet(
            ticket.description if row["body"] is None else row["body"],
            is_note=bool(row["is_note"]),
        ),
        last_message_at=row["messaged_at"] or ticket.created_at,
        last_reply_by=row["replied_by"],
        last_customer_reply_at=row["customer_replied_at"],
    )
