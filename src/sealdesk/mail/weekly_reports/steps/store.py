"""The SQL with which weekly reports are queued."""

from sealdesk.db.column_lists import column_list, update_row
from sealdesk.db.engine import Tx
from sealdesk.mail.weekly_reports.store import REPORTS
from sealdesk.mail.weekly_reports.types import SavedReport

_LIST_TENANTS = """
SELECT DISTINCT tenant_id FROM saved_reports WHERE due_at <= :now ORDER BY tenant_id LIMIT :limit
"""
_DUE = f"""
SELECT {column_list(REPORTS.columns)} FROM saved_reports
WHERE tenant_id = :tenant_id AND due_at <= :now ORDER BY due_at, id LIMIT :limit
"""
_SET_DUE = update_row("saved_reports", "due_at")
_POSTPONE = """
UPDATE saved_reports SET due_at = :later
WHERE tenant_id = :tenant_id AND id = (SELECT id FROM saved_reports
    WHERE tenant_id = :tenant_id AND due_at <= :now ORDER BY due_at, id LIMIT 1)
"""
_POSTPONED_US = 60 * 1_000_000


async def list_due_tenants(tx: Tx, now_us: int, limit: int) -> list[str]:
    """The desks with reports that are due."""
    rows = await tx.fetch_all(_LIST_TENANTS, {"now": now_us, "limit": limit})
    return [row["tenant_id"] for row in rows]


async def take_due(tx: Tx, tenant_id: str, now_us: int) -> SavedReport | None:
    """The report of a desk that has been due longest, locked."""
    params = {"tenant_id": tenant_id, "now": now_us, "limit": 1}
    rows = await tx.select_for_update(_DUE, params)
    return REPORTS.read(rows[0]) if rows else None


async def set_due(tx: Tx, report: SavedReport, due_at: int) -> None:
    params = {"tenant_id": report.tenant_id, "id": report.id, "due_at": due_at}
    await tx.execute(_SET_DUE, params)


async def postpone(tx: Tx, tenant_id: str, now_us: int) -> None:
    """Put the report that would be next behind the rest."""
    params = {"tenant_id": tenant_id, "now": now_us, "later": now_us + _POSTPONED_US}
    await tx.execute(_POSTPONE, params)
