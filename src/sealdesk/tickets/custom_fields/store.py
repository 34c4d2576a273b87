"""The SQL of field definitions."""

from collections.abc import Sequence

import msgspec

from sealdesk.db.column_lists import column_list, insert_into, update_row
from sealdesk.db.engine import Row, Tx
from sealdesk.tickets.custom_fields.types import MAX_FIELDS, Field

_STORED = Field.__struct_fields__
_COLUMNS = column_list(_STORED)
_LIST = f"""
SELECT {_COLUMNS} FROM field_definitions WHERE tenant_id = :tenant_id
ORDER BY place, id LIMIT :limit
"""
_FIND = f"""
SELECT {_COLUMNS} FROM field_definitions WHERE tenant_id = :tenant_id AND id = :id LIMIT 1
"""
_ADD = insert_into("field_definitions", _STORED)
_REPLACE = update_row("field_definitions", "label choices required_on_resolve is_active updated_at")
_DELETE = "DELETE FROM field_definitions WHERE tenant_id = :tenant_id AND id = :id"
_SET_PLACE = "UPDATE field_definitions SET place = :place WHERE tenant_id = :tenant_id AND id = :id"


async def list_fields(tx: Tx, tenant_id: str) -> list[Field]:
    """All definitions of a tenant, in their order."""
    rows = await tx.fetch_all(_LIST, {"tenant_id": tenant_id, "limit": MAX_FIELDS})
    return [_field(row) for row in rows]


async def find(tx: Tx, tenant_id: str, field_id: str) -> Field | None:
    row = await tx.fetch_one(_FIND, {"tenant_id": tenant_id, "id": field_id})
    return None if row is None else _field(row)


async def add(tx: Tx, field: Field) -> None:
    await tx.execute_one(_ADD, _params(field))


async def replace(tx: Tx, field: Field) -> None:
    """Store a changed definition, apart from its place."""
    await tx.execute_one(_REPLACE, _params(field))


async def delete(tx: Tx, tenant_id: str, field_id: str) -> None:
    await tx.execute_one(_DELETE, {"tenant_id": tenant_id, "id": field_id})


async def set_order(tx: Tx, tenant_id: str, field_ids: Sequence[str]) -> None:
    places = [
        {"tenant_id": tenant_id, "id": field_id, "place": place}
        for place, field_id in enumerate(field_ids)
    ]
    await tx.execute_many(_SET_PLACE, places)


def _field(row: Row) -> Field:
    values = dict(zip(_STORED, row, strict=True))
    values["choices"] = tuple(msgspec.json.decode(values["choices"]))
    for name in ("required_on_resolve", "is_active"):
        values[name] = bool(values[name])
    return Field(**values)


def _params(field: Field) -> dict[str, object]:
    choices = msgspec.json.encode(field.choices).decode()
    return msgspec.structs.asdict(field) | {"choices": choices}
