"""The SQL of saved reports."""

from sealdesk.db.column_lists import column_list, delete_row, insert_into, select_row
from sealdesk.db.engine import StructRows, Tx
from sealdesk.mail.weekly_reports.types import SavedReport

REPORTS = StructRows(SavedReport)
_COLUMNS = column_list(REPORTS.columns)
_ADD = insert_into("saved_reports", REPORTS.columns)
_LIST = f"""
SELECT {_COLUMNS} FROM saved_reports
WHERE tenant_id = :tenant_id AND user_id = :user_id ORDER BY id LIMIT :limit
"""
_OF_DESK = "SELECT id FROM saved_reports WHERE tenant_id = :tenant_id ORDER BY id LIMIT :limit"
_FIND = select_row("saved_reports", _COLUMNS)
_DELETE = delete_row("saved_reports")


async def add(tx: Tx, report: SavedReport) -> None:
    await tx.execute_one(_ADD, REPORTS.params(report))


async def list_of_user(tx: Tx, tenant_id: str, user_id: str, limit: int) -> list[SavedReport]:
    """The oldest first."""
    params = {"tenant_id": tenant_id, "user_id": user_id, "limit": limit}
    return [REPORTS.read(row) for row in await tx.fetch_all(_LIST, params)]


async def count_of_desk(tx: Tx, tenant_id: str, limit: int) -> int:
    """How many there are, up to a limit."""
    return len(await tx.fetch_all(_OF_DESK, {"tenant_id": tenant_id, "limit": limit}))


async def find(tx: Tx, tenant_id: str, report_id: str) -> SavedReport | None:
    return await REPORTS.find(tx, _FIND, {"tenant_id": tenant_id, "id": report_id})


async def delete(tx: Tx, tenant_id: str, report_id: str) -> None:
    await tx.execute(_DELETE, {"tenant_id": tenant_id, "id": report_id})
