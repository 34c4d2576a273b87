"""The SQL that gives stored names, addresses and tags the identities that filters compute now.

One of two rows that get the same identity is listed. Who logs in with an address, and where e-mail
goes, is for the role that serves to say; the worker renews everything else.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import msgspec

from sealdesk.db.column_lists import select_row
from sealdesk.db.engine import Params, Row, Tx
from sealdesk.db.schema import TABLES
from sealdesk.records.address_identities import ADDRESS_TABLES, Alike, Keys, Owners, Step
from sealdesk.resources.identity import identity
from sealdesk.resources.representation import email_identity

_FIND_NOTE = select_row("installation_notes", "note", "name")
# The names of the notes: of the worker, and of the processes that serve.
IDENTITIES, ADDRESSES = "identities", "addresses"


class IdentitiesNote(msgspec.Struct, frozen=True):
    """How far stored texts have got the identities of this version.

    shape: the version. tenant_id: whose turn it is. table, after: the row up to which; no table:
    all of theirs. has_changed: whether the search must be built anew. alike: the first ones.
    """

    shape: str
    tenant_id: str = ""
    table: str = ""
    after: tuple[str, ...] = ()
    has_changed: bool = False
    is_finished: bool = False
    alike: tuple[Alike, ...] = ()


class _Names:
    """Rows with a text and its identity, both in columns."""

    def __init__(self, table: str, text: str, scope: Sequence[str]) -> None:
        """scope: the columns within which two rows should not have one identity."""
        self._table = table
        self._compute = email_identity if text == "email" else identity
        older = "".join(f" AND o.{name} = r.{name}" for name in (*scope, f"{text}_identity"))
        # coalesce: SQLite has no statistics, and would read all rows with an older id instead.
        self._select = f"""
SELECT r.id, r.{text} AS name, r.{text}_identity AS identity, {_owner_of(scope)} AS owner_id,
    EXISTS (SELECT 1 FROM {table} o WHERE o.tenant_id = :tenant_id{older}
    AND coalesce(o.id, NULL) < r.id) AS has_older
FROM {table} r WHERE r.tenant_id = :tenant_id"""
        # Not the identity of a deleted team, which is its id.
        self._update = f"""
UPDATE {table} SET {text}_identity = :identity
WHERE tenant_id = :tenant_id AND id = :id AND {text} = :name AND {text}_identity <> id"""

    async def renew(self, tx: Tx, tenant_id: str, after: Sequence[str], limit: int) -> Step:
        """Give the next rows their identities."""
        params = {"tenant_id": tenant_id, "after": after[0] if after else "", "limit": limit}
        sql = f"{self._select} AND r.id > :after ORDER BY r.id LIMIT :limit"
        rows = await tx.fetch_all(sql, params)
        changed = 0
        for row in rows:
            wanted = self._compute(row["name"])
            if row["identity"] not in (wanted, row["id"]):
                of_row = {"tenant_id": tenant_id, "id": row["id"], "name": row["name"]}
                changed += await tx.execute(self._update, {**of_row, "identity": wanted})
        if changed:  # what has an older one is known now
            rows = await tx.fetch_all(sql, params)
        alike = (Alike(tenant_id, self._table, row["id"]) for row in rows if row["has_older"])
        return Step((rows[-1]["id"],) if len(rows) == limit else None, changed, tuple(alike))

    async def find_alike(self, tx: Tx, alike: Alike) -> Row | None:
        """The row, if an older one still has its identity."""
        params = {"tenant_id": alike.tenant_id, "id": alike.id, "limit": 1}
        row = await tx.fetch_one(f"{self._select} AND r.id = :id LIMIT :limit", params)
        return row if row is not None and row["has_older"] else None


def _owner_of(scope: Sequence[str]) -> str:
    return "r.owner_id" if "owner_id" in scope else "''"


class _Lists:
    """Rows that are the identities of texts in another table's row, with its id.

    An address is one customer's: others have it too, in rows that have their id behind it.
    """

    def __init__(self, table: str, column: str, owner: tuple[str, str], texts: str) -> None:
        """owner: the column of the id, and its table. texts: as SQL, `text` and `texts` in JSON."""
        id_column, owner_table = owner
        self._table, self._is_of_one = table, column == "email_identity"
        self._compute = email_identity if self._is_of_one else identity
        self._is_other = f"""
SELECT 1 FROM {table}
WHERE tenant_id = :tenant_id AND {column} = :identity AND {id_column} <> :id LIMIT 1"""
        self._find_alike = f"""
SELECT t.email AS name, '' AS owner_id
FROM {table} r
JOIN {owner_table} t ON t.tenant_id = :tenant_id AND t.id = :id
JOIN {table} o ON o.tenant_id = :tenant_id
    AND o.{column} = substr(r.{column}, 1, length(r.{column}) - length(:id) - 1)
WHERE r.tenant_id = :tenant_id AND r.{id_column} = :id AND r.{column} LIKE '% ' || :id LIMIT 1"""
        self._delete = f"""
DELETE FROM {table} WHERE tenant_id = :tenant_id AND {column} = :identity AND {id_column} = :id"""
        self._insert = f"""
INSERT INTO {table} (tenant_id, {column}, {id_column}) VALUES (:tenant_id, :identity, :id)
ON CONFLICT DO NOTHING"""
        self._select = f"""
SELECT r.{column} AS identity, r.{id_column} AS id, {texts}
FROM {table} r JOIN {owner_table} t ON t.tenant_id = :tenant_id AND t.id = r.{id_column}
WHERE r.tenant_id = :tenant_id AND (r.{column}, r.{id_column}) > (:after, :after_2)
ORDER BY r.{column}, r.{id_column} LIMIT :limit"""

    async def renew(self, tx: Tx, tenant_id: str, after: Sequence[str], limit: int) -> Step:
        """Replace the next rows that are not, or no longer, the identity of a text."""
        first, second = after or ("", "")
        params = {"tenant_id": tenant_id, "after": first, "after_2": second, "limit": limit}
        rows = await tx.fetch_all(self._select, params)
        changed, alike = 0, list[Alike]()
        for row in rows:
            wanted = [*map(self._compute, _texts(row))]
            shared = {row["identity"].removesuffix(f" {row['id']}")}
            if shared <= {*wanted}:
                shared -= {row["identity"]}
            else:
                of_row = {"tenant_id": tenant_id, "id": row["id"]}
                await tx.execute(self._delete, {**of_row, "identity": row["identity"]})
                shared = {each for each in wanted if not await self._add(tx, of_row, each)}
                changed += 1
            if shared - {*wanted[:1]}:  # the first address lists its customer
                alike.append(Alike(tenant_id, self._table, row["id"]))
        last = (rows[-1]["identity"], rows[-1]["id"]) if len(rows) == limit else None
        return Step(last, changed, tuple(alike))

    async def _add(self, tx: Tx, of_row: Params, text: str) -> bool:
        """False if it is another row's, which it then is with the id."""
        row = {**of_row, "identity": text}
        is_shared = self._is_of_one and await tx.fetch_one(self._is_other, row) is not None
        if is_shared:
            row["identity"] = f"{text} {of_row['id']}"
        await tx.execute(self._insert, row)
        return not is_shared

    async def find_alike(self, tx: Tx, alike: Alike) -> Row | None:
        """The customer, if another one still has one of the addresses."""
        params = {"tenant_id": alike.tenant_id, "id": alike.id}
        return await tx.fetch_one(self._find_alike, params)


def _texts(row: Row) -> Iterable[str]:
    if row["text"] is not None:
        yield row["text"]
    yield from msgspec.json.decode(row["texts"] or "[]", type=list[str])


_NAMES = {
    table.name: _Names(
        table.name,
        column.identity_of,
        next(each for each in table.indexes if column.name in each.columns).columns[1:-1],
    )
    for table in TABLES.values()
    for column in table.columns
    if column.identity_of
}
_LISTS: dict[str, _Lists] = {
    "ticket_tags": _Lists(
        "ticket_tags", "tag", ("ticket_id", "tickets"), "NULL AS text, t.tags AS texts"
    ),
    "customer_addresses": _Lists(
        "customer_addresses",
        "email_identity",
        ("customer_id", "customers"),
        "t.email AS text, t.other_emails AS texts",
    ),
}
_ALL: dict[str, _Names | _Lists | Keys | Owners] = {
    **_LISTS,
    **_NAMES,
    **ADDRESS_TABLES,
}
# By note, in this order: the next one begins behind the last row of the one before.
NEXT = {
    IDENTITIES: dict(pairwise(("", *_LISTS, *_NAMES, ""))),
    ADDRESSES: dict(pairwise(("", *ADDRESS_TABLES, ""))),
}


async def find_note(tx: Tx, name: str) -> IdentitiesNote | None:
    """How far the rows of a note are; None before the first step."""
    row = await tx.fetch_one(_FIND_NOTE, {"name": name})
    return None if row is None else msgspec.json.decode(row["note"], type=IdentitiesNote)


async def renew(tx: Tx, tenant_id: str, table: str, after: Sequence[str], limit: int) -> Step:
    """Give the next rows of a table the identities that filters compute now."""
    return await _ALL[table].renew(tx, tenant_id, after, limit)


async def find_alike(tx: Tx, alike: Alike) -> Row | None:
    """`name` and `owner_id` of the row, if another one still has the same identity."""
    found = _ALL[alike.table]
    return None if isinstance(found, Keys) else await found.find_alike(tx, alike)
