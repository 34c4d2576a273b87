"""The SQL of saved views."""

from collections.abc import Sequence

from sealdesk.db.column_lists import column_list, delete_row, insert_into, select_row, update_row
from sealdesk.db.engine import StructRows, Tx
from sealdesk.resources.identity import identity
from sealdesk.tickets.views.rules import MAX_VIEWS
from sealdesk.tickets.views.types import DESK, View

_ROWS = StructRows(View)
_COLUMNS = column_list(_ROWS.columns)
# Of these two owners only: a private view of anybody else is never read.
_LIST = f"""
SELECT {_COLUMNS} FROM views WHERE tenant_id = :tenant_id AND owner_id IN (:desk, :user_id)
ORDER BY owner_id, place, id LIMIT :limit
"""
_FIND = f"""
SELECT {_COLUMNS} FROM views
WHERE tenant_id = :tenant_id AND id = :id AND owner_id IN (:desk, :user_id) LIMIT 1
"""
_FIND_NAME = select_row("views", "id", "tenant_id owner_id name_identity")
_ADD = insert_into("views", (*_ROWS.columns, "name_identity"))
_REPLACE = update_row("views", "name name_identity query")
_SET_PLACE = update_row("views", "place")
_DELETE = delete_row("views")


async def list_views(tx: Tx, tenant_id: str, user_id: str) -> list[View]:
    """The views of the desk, then those of a user, in the order of their owner."""
    params = {"tenant_id": tenant_id, "user_id": user_id, "desk": DESK, "limit": 2 * MAX_VIEWS}
    return [_ROWS.read(row) for row in await tx.fetch_all(_LIST, params)]


async def find(tx: Tx, tenant_id: str, view_id: str, user_id: str) -> View | None:
    """A view of the desk or of this user."""
    params = {"tenant_id": tenant_id, "id": view_id, "user_id": user_id, "desk": DESK}
    return await _ROWS.find(tx, _FIND, params)


async def find_name(tx: Tx, tenant_id: str, owner_id: str, name: str) -> str | None:
    """The id of the owner's view with this name."""
    params = {"owner_id": owner_id, "name_identity": identity(name)}
    row = await tx.fetch_one(_FIND_NAME, {"tenant_id": tenant_id, **params})
    return None if row is None else str(row["id"])


async def add(tx: Tx, view: View) -> None:
    await tx.execute_one(_ADD, _params(view))


async def replace(tx: Tx, view: View) -> None:
    """Store a changed name and query."""
    await tx.execute_one(_REPLACE, _params(view))


async def set_order(tx: Tx, tenant_id: str, view_ids: Sequence[str]) -> None:
    """Store the order of an owner's views."""
    places = [
        {"tenant_id": tenant_id, "id": view_id, "place": place}
        for place, view_id in enumerate(view_ids)
    ]
    await tx.execute_many(_SET_PLACE, places)


async def delete(tx: Tx, tenant_id: str, view_id: str) -> None:
    await tx.execute_one(_DELETE, {"tenant_id": tenant_id, "id": view_id})


def _params(view: View) -> dict[str, object]:
    return _ROWS.params(view) | {"name_identity": identity(view.name)}
