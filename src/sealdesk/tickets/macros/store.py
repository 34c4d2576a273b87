"""The SQL of macros."""

from collections.abc import Sequence

from sealdesk.db.column_lists import (
    column_list,
    delete_row,
    id_parameters,
    insert_into,
    select_row,
    update_row,
)
from sealdesk.db.engine import Row, StructRows, Tx
from sealdesk.resources.identity import identity
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets.macros import rules
from sealdesk.tickets.macros.types import OF_THE_DESK, Macro, MacroChoice, Reader

_DESK = {"desk": ""}  # the owner of the macros of the desk
_LIST_TEAMS = "SELECT id FROM teams WHERE tenant_id = :tenant_id ORDER BY id DESC LIMIT :limit"
_LIST_OWN_TEAMS = """
SELECT team_id AS id FROM team_members WHERE tenant_id = :tenant_id AND user_id = :user_id
ORDER BY team_id LIMIT :limit
"""
_MAX_OWNERS = 1000
_MAX_LISTED = rules.MAX_MACROS + rules.MAX_OWN_MACROS
_ROWS = StructRows(Macro)
_COLUMNS = column_list(_ROWS.columns)
_ALL = (*_ROWS.columns, "shortcut_identity")
_CHANGED = (*rules.FIELDS, "shortcut_identity", "updated_at")
_FIND = select_row("macros", _COLUMNS)
_LIST = f"""
SELECT {_COLUMNS} FROM macros WHERE tenant_id = :tenant_id AND id < :before AND owner_id = :desk
ORDER BY id DESC LIMIT :limit
"""
_SHORT_COLUMNS = _COLUMNS.replace("body", "substr(body, 1, 200) AS body")
_COUNT = """
SELECT count(*) AS number FROM (SELECT 1 FROM macros
    WHERE tenant_id = :tenant_id AND (owner_id = :owner_id OR (CAST(:owner_id AS TEXT) = ''
        AND owner_id IN (SELECT id FROM teams WHERE tenant_id = :tenant_id))) LIMIT :limit) x
"""
_FIND_SHORTCUT = select_row("macros", "id", "tenant_id owner_id shortcut_identity")
_ADD = insert_into("macros", _ALL)
_REPLACE = update_row("macros", _CHANGED)
_DELETE = delete_row("macros")


async def list_macros(tx: Tx, tenant_id: str, page: PageRequest) -> list[Macro]:
    """Newest first; one more than the page when there are more."""
    params = page.params(tenant_id) | _DESK
    return [
        _ROWS.read(row) for row in await tx.fetch_page(_LIST, params, ("body",), page.max_bytes)
    ]


async def list_short(tx: Tx, tenant_id: str, reader: Reader) -> list[Macro]:
    """The macros that somebody sees, by name, with the beginnings of their texts."""
    found = map(_ROWS.read, await _list_seen(tx, tenant_id, reader, _SHORT_COLUMNS))
    return sorted(found, key=rules.order)


async def list_choices(tx: Tx, tenant_id: str, reader: Reader = OF_THE_DESK) -> list[MacroChoice]:
    """The same without their texts."""
    rows = await _list_seen(tx, tenant_id, reader, column_list(MacroChoice._fields))
    return sorted((MacroChoice(*row) for row in rows), key=rules.order)


async def count(tx: Tx, tenant_id: str, owner_id: str) -> int:
    """The macros of a user, or of the desk with its teams."""
    params = {"tenant_id": tenant_id, "owner_id": owner_id, "limit": _MAX_LISTED}
    row = await tx.fetch_one(_COUNT, params)
    return row["number"] if row else 0


async def find(tx: Tx, tenant_id: str, macro_id: str, reader: Reader = OF_THE_DESK) -> Macro | None:
    """A macro that somebody sees."""
    row = await tx.fetch_one(_FIND, {"tenant_id": tenant_id, "id": macro_id})
    if row is None or row["owner_id"] in ("", reader.user_id):
        return None if row is None else _ROWS.read(row)
    return _ROWS.read(row) if row["owner_id"] in await _list_owners(tx, tenant_id, reader) else None


async def find_shortcut(tx: Tx, tenant_id: str, shortcut: str, owner_id: str) -> str | None:
    """The id of the macro with this shortcut, in any case, of an owner."""
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


async def _list_owners(tx: Tx, tenant_id: str, reader: Reader) -> list[str]:
    """The desk, the user, and the teams."""
    if reader == OF_THE_DESK:
        return [""]
    own = {} if reader.of_all_teams else {"user_id": reader.user_id}
    params = {"tenant_id": tenant_id, "limit": _MAX_OWNERS, **own}
    rows = await tx.fetch_all(_LIST_OWN_TEAMS if own else _LIST_TEAMS, params)
    return ["", reader.user_id, *(row["id"] for row in rows)]


async def _list_seen(tx: Tx, tenant_id: str, reader: Reader, columns: str) -> Sequence[Row]:
    keys, params = id_parameters(await _list_owners(tx, tenant_id, reader))
    sql = (
        f"SELECT {columns} FROM macros WHERE tenant_id = :tenant_id AND owner_id IN ({keys})"
        " ORDER BY owner_id, shortcut_identity LIMIT :limit"
    )
    return await tx.fetch_all(sql, {**params, "tenant_id": tenant_id, "limit": _MAX_LISTED})


def _params(macro: Macro) -> dict[str, object]:
    return _ROWS.params(macro) | {"shortcut_identity": identity(macro.shortcut)}
