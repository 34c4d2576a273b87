"""The SQL of snoozed tickets."""

from collections.abc import Sequence
from typing import NamedTuple

from sealdesk import clock
from sealdesk.db.engine import Tx
from sealdesk.tickets.ticket import documents
from sealdesk.tickets.ticket.types import Ticket

# Those whose time has come, of all tenants, in turns: the first of each tenant, then the second of
# each. A tenant has at most 5,000, so four tenants that wake all at once delay no other one.
PRUNE_ENDED = """
SELECT tenant_id, id FROM (
    SELECT d.tenant_id, d.id, d.snoozed_until,
        row_number() OVER (PARTITION BY d.tenant_id ORDER BY d.snoozed_until, d.id) AS turn
    FROM (SELECT t.tenant_id, t.id, t.snoozed_until FROM tickets t WHERE t.snoozed_until <= :now
        ORDER BY t.snoozed_until, t.tenant_id, t.id LIMIT 25000) d
) e ORDER BY turn, snoozed_until, tenant_id, id LIMIT :limit
"""
_LIST_ENDED_OF = """
SELECT t.tenant_id, t.id FROM tickets t
WHERE t.tenant_id = :tenant_id AND t.snoozed_until <= :until ORDER BY t.snoozed_until, t.id
LIMIT :limit
"""
# Only what the worker's role may change on PostgreSQL.
_WAKE = """
UPDATE tickets SET snoozed_until = NULL, updated_at = :updated_at, version = :version,
    document = :document
WHERE tenant_id = :tenant_id AND id = :id AND version = :before
"""
_COUNT = """
SELECT count(*) AS count FROM (SELECT 1 FROM tickets
    WHERE tenant_id = :tenant_id AND snoozed_until IS NOT NULL LIMIT :limit) snoozed
"""


class DueTicket(NamedTuple):
    """A ticket whose snooze has ended."""

    tenant_id: str
    id: str


async def list_ended(tx: Tx, now_us: int, limit: int) -> Sequence[DueTicket]:
    """Some tickets whose snooze has ended, of all tenants in turns; the earliest first."""
    rows = await tx.fetch_all(PRUNE_ENDED, {"now": clock.iso(now_us), "limit": limit})
    return [DueTicket(*row) for row in rows]


async def list_ended_of(tx: Tx, tenant_id: str, now_us: int, limit: int) -> Sequence[DueTicket]:
    """Some tickets of a tenant whose snooze has ended; the earliest first."""
    params = {"tenant_id": tenant_id, "until": clock.iso(now_us), "limit": limit}
    return [DueTicket(*row) for row in await tx.fetch_all(_LIST_ENDED_OF, params)]


async def wake(tx: Tx, before: Ticket, after: Ticket) -> bytes:
    """Store a ticket that is awake; its ready document."""
    document = documents.ready_document(after)
    fields = {name: getattr(after, name) for name in ("tenant_id", "id", "updated_at", "version")}
    await tx.execute_one(_WAKE, {**fields, "document": document, "before": before.version})
    return document


async def count_snoozed(tx: Tx, tenant_id: str, limit: int) -> int:
    """How many tickets are snoozed, up to a limit."""
    row = await tx.fetch_one(_COUNT, {"tenant_id": tenant_id, "limit": limit})
    return 0 if row is None else int(row["count"])
