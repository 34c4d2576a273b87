"""The SQL of field definitions."""

from collections.abc import Sequence

from sealdesk.db.column_lists import column_list, delete_row, insert_into, select_row, update_row
from sealdesk.db.engine import StructRows, Tx
from sealdesk.tickets.custom_fields.types import MAX_FIELDS, Field

_ROWS = StructRows(Field)
_COLUMNS = column_list(_ROWS.columns)
_LIST = f"""
SELECT {_COLUMNS} FROM field_definitions WHERE tenant_id = :tenant_id
ORDER BY place, id LIMIT :limit
"""
_FIND = select_row("field_definitions", _COLUMNS)
_ADD = insert_into("field_definitions", _ROWS.columns)
_REPLACE = update_row("field_definitions", "label choices required_on_resolve is_active updated_at")
_DELETE = delete_row("field_definitions")
_SET_PLACE = update_row("field_definitions", "place")


async def list_fields(tx: Tx, tenant_id: str) -> list[Field]:
    """All definitions of a tenant, in their order."""
    rows = await tx.fetch_all(_LIST, {"tenant_id": tenant_id, "limit": MAX_FIELDS})
    return [_ROWS.read(row) for row in rows]


async def find(tx: Tx, tenant_id: str, field_id: str) -> Field | None:
    return await _ROWS.find(tx, _FIND, {"tenant_id": tenant_id, "id": field_id})


async def add(tx: Tx, field: Field) -> None:
    await tx.execute_one(_ADD, _ROWS.params(field))


async def replace(tx: Tx, field: Field) -> None:
    """Store a changed definition, apart from its place."""
    await tx.execute_one(_REPLACE, _ROWS.params(field))


async def delete(tx: Tx, tenant_id: str, field_id: str) -> None:
    await tx.execute_one(_DELETE, {"tenant_id": tenant_id, "id": field_id})


async def set_order(tx: Tx, tenant_id: str, field_ids: Sequence[str]) -> None:
    places = [
        {"tenant_id": tenant_id, "id": field_id, "place": place}
        for place, field_id in enumerate(field_ids)
    ]
    await tx.execute_many(_SET_PLACE, places)
