"""The SQL of ratings."""

from sealdesk.db.engine import Tx
from sealdesk.tickets import rules as ticket_rules
from sealdesk.tickets.store.tickets import encode_satisfaction
from sealdesk.tickets.types import Ticket

_RATE = """
UPDATE tickets SET rating = :rating, satisfaction = :satisfaction, updated_at = :updated_at,
    version = :version, document = :document
WHERE tenant_id = :tenant_id AND id = :id AND version = :before
"""


async def rate(tx: Tx, before: Ticket, after: Ticket) -> bytes:
    """Store the first rating of a ticket; its ready document."""
    document = ticket_rules.ready_document(after)
    given = after.satisfaction
    await tx.execute_one(
        _RATE,
        {
            "tenant_id": before.tenant_id,
            "id": before.id,
            "before": before.version,
            "rating": given.rating if given else None,
            "satisfaction": encode_satisfaction(given),
            "updated_at": after.updated_at,
            "version": after.version,
            "document": document,
        },
    )
    return document
