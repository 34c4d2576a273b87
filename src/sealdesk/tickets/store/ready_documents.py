"""The SQL that rewrites the ready documents of tickets after their struct has changed."""

from typing import NamedTuple

from sealdesk.db.engine import Tx
from sealdesk.tickets import rules
from sealdesk.tickets.store.tickets import COLUMNS, ticket_of

FIRST_ID = ""  # sorts before every id

_LIST = f"""
SELECT {COLUMNS}, t.document FROM tickets t
WHERE t.tenant_id = :tenant_id AND t.id > :after_id ORDER BY t.id LIMIT :limit
"""
# A ticket that was changed meanwhile has a new document already.
_REPLACE = """
UPDATE tickets SET document = :document
WHERE tenant_id = :tenant_id AND id = :id AND version = :version
"""


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
        ticket = ticket_of(row)
        document = rules.ready_document(ticket)
        if document != bytes(row["document"]):
            key = {"tenant_id": tenant_id, "id": ticket.id, "version": ticket.version}
            await tx.enqueue(_REPLACE, key | {"document": document})
            rewritten += 1
    return Batch(rows[-1]["id"] if len(rows) == limit else None, rewritten)
