"""The SQL with which the worker keeps due times."""

from collections.abc import Sequence

from sealdesk.db.engine import Tx
from sealdesk.tickets.ticket.store.tickets import encode_part
from sealdesk.tickets.ticket.types import Ticket

_POSTPONED_US = 60 * 1_000_000
_UNFINISHED = ("open", "pending", "on_hold")

# Test tenants, whose clocks are ahead, have no policies.
_LIST_TENANTS = """
SELECT tenant_id FROM (
    SELECT tenant_id FROM (SELECT tenant_id, alert_at FROM tickets WHERE alert_at <= :now
        ORDER BY alert_at, tenant_id, id LIMIT 10000) t
    UNION
    SELECT tenant_id FROM sla_renewals WHERE stepped_at <= :now
) d ORDER BY tenant_id LIMIT :limit
"""
# By what is due: SQLite would not search the index of alert_at, but read all tickets of the tenant.
_ALERTED = """
SELECT id FROM tickets WHERE tenant_id = :tenant_id AND due_at > 0 AND alert_at <= :now
ORDER BY alert_at, id LIMIT :limit
"""
_STORE_ALERTED = """
UPDATE tickets SET clocks = :clocks, alert_at = :alert_at
WHERE tenant_id = :tenant_id AND id = :id AND version = :version AND alert_at = :alert_before
"""
_POSTPONE_ALERT = """
UPDATE tickets SET alert_at = :later
WHERE tenant_id = :tenant_id AND id = :id AND alert_at <= :now
"""
_RENEWAL = """
SELECT tenant_id, ticket_id FROM sla_renewals
WHERE tenant_id = :tenant_id AND stepped_at <= :now LIMIT :limit
"""
_UNRENEWED = """
SELECT t.id FROM tickets t WHERE t.tenant_id = :tenant_id AND t.status = :status AND t.id > :after
ORDER BY t.id LIMIT :limit
"""
_STORE_STEP = """
UPDATE sla_renewals SET ticket_id = :reached, stepped_at = :now
WHERE tenant_id = :tenant_id AND ticket_id = :before
"""
_END_RENEWAL = "DELETE FROM sla_renewals WHERE tenant_id = :tenant_id AND ticket_id = :before"
_POSTPONE_RENEWAL = """
UPDATE sla_renewals SET stepped_at = :later WHERE tenant_id = :tenant_id
"""


async def list_due_tenants(tx: Tx, now_us: int, limit: int) -> list[str]:
    """The desks that have something to announce or to renew."""
    rows = await tx.fetch_all(_LIST_TENANTS, {"now": now_us, "limit": limit})
    return [row["tenant_id"] for row in rows]


async def list_alerted(tx: Tx, tenant_id: str, now_us: int, limit: int) -> Sequence[str]:
    """The ids of tickets with something to announce, the earliest first."""
    params = {"tenant_id": tenant_id, "now": now_us, "limit": limit}
    return [row["id"] for row in await tx.fetch_all(_ALERTED, params)]


async def store_alerted(tx: Tx, before: Ticket, after: Ticket) -> None:
    """Store what was announced; a ticket that was changed meanwhile is a conflict."""
    await tx.execute_one(
        _STORE_ALERTED,
        {
            "tenant_id": before.tenant_id,
            "id": before.id,
            "version": before.version,
            "alert_before": before.alert_at,
            "clocks": encode_part(after.clocks),
            "alert_at": after.alert_at,
        },
    )


async def find_renewal(tx: Tx, tenant_id: str, now_us: int) -> str | None:
    """Up to which ticket a desk's due times are renewed; None if nothing is to be done."""
    params = {"tenant_id": tenant_id, "now": now_us, "limit": 1}
    row = await tx.fetch_one(_RENEWAL, params)
    return None if row is None else str(row["ticket_id"])


async def list_unrenewed(tx: Tx, tenant_id: str, after: str, limit: int) -> list[str]:
    """The next tickets that are not finished."""
    params = {"tenant_id": tenant_id, "after": after, "limit": limit}
    found: list[str] = []
    for status in _UNFINISHED:
        rows = await tx.fetch_all(_UNRENEWED, {**params, "status": status})
        found += [row["id"] for row in rows]
    return sorted(found)[:limit]


async def store_step(tx: Tx, tenant_id: str, before: str, reached: str, now_us: int) -> None:
    """Nothing if the policies were changed again, which begins anew."""
    params = {"tenant_id": tenant_id, "before": before, "reached": reached, "now": now_us}
    await tx.execute(_STORE_STEP, params)


async def end_renewal(tx: Tx, tenant_id: str, before: str) -> None:
    await tx.execute(_END_RENEWAL, {"tenant_id": tenant_id, "before": before})


async def postpone(tx: Tx, tenant_id: str, now_us: int) -> None:
    """Put what would be next behind the rest."""
    params: dict[str, object] = {"tenant_id": tenant_id, "later": now_us + _POSTPONED_US}
    for ticket_id in await list_alerted(tx, tenant_id, now_us, 1):
        # A change of the ticket may have announced it meanwhile.
        await tx.execute(_POSTPONE_ALERT, {**params, "id": ticket_id, "now": now_us})
        return
    await tx.execute(_POSTPONE_RENEWAL, params)
