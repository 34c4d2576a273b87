"""The SQL of macros."""

import msgspec

from sealdesk.db.column_lists import assignment_list, column_list, parameter_list
from sealdesk.db.engine import Row, Tx
from sealdesk.resources.identity import identity
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.macros import rules
from sealdesk.tickets.macros.types import Macro, MacroChoice

_DESK = {"desk": ""}  # the owner of the macros of the desk
_MAX_LISTED = rules.MAX_MACROS + rules.MAX_OWN_MACROS
_STORED = Macro.__struct_fields__
_COLUMNS = column_list(_STORED)
_ALL = (*_STORED, "shortcut_identity")
_CHANGED = (*rules.FIELDS, "shortcut_identity", "updated_at")
_FIND = f"""
SELECT {_COLUMNS} FROM macros
WHERE tenant_id = :tenant_id AND id = :id AND owner_id IN (:desk, :user_id) LIMIT 1
"""
_LIST = f"""
SELECT {_COLUMNS} FROM macros WHERE tenant_id = :tenant_id AND id < :before AND owner_id = :desk
ORDER BY id DESC LIMIT :limit
"""
_SHORT_COLUMNS = _COLUMNS.replace("body", "substr(body, 1, 200) AS body")
_LIST_SHORT = f"""
SELECT {_SHORT_COLUMNS} FROM macros
WHERE tenant_id = :tenant_id AND owner_id IN (:desk, :user_id)
ORDER BY owner_id, shortcut_identity LIMIT :limit
"""
_LIST_CHOICES = """
SELECT id, name, shortcut FROM macros
WHERE tenant_id = :tenant_id AND owner_id IN (:desk, :user_id)
ORDER BY owner_id, shortcut_identity LIMIT :limit
"""
_COUNT = """
SELECT count(*) AS number FROM (SELECT 1 FROM macros
    WHERE tenant_id = :tenant_id AND owner_id = :owner_id LIMIT :limit) x
"""
_FIND_SHORTCUT = """
SELECT id FROM macros
WHERE tenant_id = :tenant_id AND owner_id = :owner_id AND shortcut_identity = :shortcut_identity
LIMIT 1
"""
_ADD = f"INSERT INTO macros ({column_list(_ALL)}) VALUES ({parameter_list(_ALL)})"
_REPLACE = f"""
UPDATE macros SET {assignment_list(_CHANGED)} WHERE tenant_id = :tenant_id AND id = :id
"""
_DELETE = "DELETE FROM macros WHERE tenant_id = :tenant_id AND id = :id"
_decode_tags = msgspec.json.Decoder(tuple[str, ...]).decode


async def list_macros(tx: Tx, tenant_id: str, page: PageRequest) -> list[Macro]:
    """Newest first; one more than the page when there are more."""
    params = page.params(tenant_id) | _DESK
    return [_macro(row) for row in await tx.fetch_page(_LIST, params, ("body",), page.max_bytes)]


async def list_short(tx: Tx, tenant_id: str, user_id: str) -> list[Macro]:
    """The macros of the desk and of a user, by name, with the beginnings of their texts."""
    params = {"tenant_id": tenant_id, "user_id": user_id, "limit": _MAX_LISTED} | _DESK
    found = [_macro(row) for row in await tx.fetch_all(_LIST_SHORT, params)]
    return sorted(found, key=rules.order)


async def list_choices(tx: Tx, tenant_id: str, user_id: str = "") -> list[MacroChoice]:
    """The macros of the desk, and of a user, by name, without their texts."""
    params = {"tenant_id": tenant_id, "user_id": user_id, "limit": _MAX_LISTED} | _DESK
    found = [MacroChoice(*row) for row in await tx.fetch_all(_LIST_CHOICES, params)]
    return sorted(found, key=rules.order)


async def count(tx: Tx, tenant_id: str, owner_id: str) -> int:
    """The macros of a user, or of the desk."""
    params = {"tenant_id": tenant_id, "owner_id": owner_id, "limit": _MAX_LISTED}
    row = await tx.fetch_one(_COUNT, params)
    return row["number"] if row else 0


async def find(tx: Tx, tenant_id: str, macro_id: str, user_id: str = "") -> Macro | None:
    """A macro of the desk, or of a user."""
    params = {"tenant_id": tenant_id, "id": macro_id, "user_id": user_id} | _DESK
    row = await tx.fetch_one(_FIND, params)
    return None if row is None else _macro(row)


async def find_shortcut(tx: Tx, tenant_id: str, shortcut: str, owner_id: str) -> str | None:
    """The id of the macro with this shortcut, in any case, of a user or of the desk."""
    key = {"owner_id": owner_id, "shortcut_identity": identity(shortcut)}
    params = {"tenant_id": tenant_id, **key}
    row = await tx.fetch_one(_FIND_SHORTCUT, params)
    return None if row is None else str(row["id"])


async def add(tx: Tx, macro: Macro) -> None:
    await tx.execute_one(_ADD, _params(macro))


async def replace(tx: Tx, macro: Macro) -> None:
    """Store the changed fields of a macro."""
    await tx.execute_one(_REPLACE, _params(macro))


async def delete(tx: Tx, tenant_id: str, macro_id: str) -> None:
    await tx.execute_one(_DELETE, {"tenant_id": tenant_id, "id": macro_id})


def _macro(row: Row) -> Macro:
    values = {name: row[name] for name in _STORED}  # a page may have a column more
    return Macro(**values | {"tags": _decode_tags(values["tags"])})


def _params(macro: Macro) -> dict[str, object]:
    stored = msgspec.structs.asdict(macro)
    return stored | {
        "tags": msgspec.json.encode(macro.tags).decode(),
        "shortcut_identity": identity(macro.shortcut),
    }
