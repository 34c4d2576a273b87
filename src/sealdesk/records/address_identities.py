"""The SQL that renews the identities of addresses by which users log in and e-mail finds its way.

In the role that serves, because whoever changes these rows says whose an address is. What is stored
is renewed itself, since not every row has the text.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from sealdesk.db.column_lists import (
    column_list,
    delete_row,
    insert_into,
    parameter_list,
    select_row,
    update_row,
)
from sealdesk.db.engine import Row, Tx
from sealdesk.db.schema import TABLES
from sealdesk.resources.representation import email_identity


class Alike(msgspec.Struct, frozen=True, array_like=True):
    """A row whose identity another one has, since identities are computed otherwise."""

    tenant_id: str
    table: str
    id: str


class Step(NamedTuple):
    """What one step did. last: the key where the next one begins, None behind the last row."""

    last: tuple[str, ...] | None
    changed_count: int
    alike: tuple[Alike, ...] = ()


class Keys:
    """Rows that are found by the identity of an address, which is in their key."""

    def __init__(self, table: str, column: str = "address_identity") -> None:
        columns = [each.name for each in TABLES[table].columns]
        key = [each.name for each in TABLES[table].columns if each.is_key]
        self._column, self._walked = column, [name for name in key if name != "tenant_id"]
        order, after = column_list(self._walked), parameter_list(self._walked)
        self._select = f"""
SELECT {column_list(columns)} FROM {table} WHERE tenant_id = :tenant_id AND ({order}) > ({after})
ORDER BY {order} LIMIT :limit"""
        self._find = select_row(table, column_list(columns), " ".join(key))
        self._delete = delete_row(table, " ".join(key))
        self._insert = insert_into(table, columns)

    async def renew(self, tx: Tx, tenant_id: str, after: Sequence[str], limit: int) -> Step:
        """Give the next rows their identities, unless another row has it."""
        begin = dict(zip(self._walked, after or ("", ""), strict=False))
        rows = await tx.fetch_all(self._select, {**begin, "tenant_id": tenant_id, "limit": limit})
        for row in rows:
            wanted = email_identity(row[self._column])
            if wanted != row[self._column]:
                await self.rename(tx, row, wanted)
        last = tuple(rows[-1][name] for name in self._walked) if len(rows) == limit else None
        return Step(last, 0)

    async def find(self, tx: Tx, identity: str) -> Row | None:
        return await tx.fetch_one(self._find, {self._column: identity})

    async def rename(self, tx: Tx, row: Row, wanted: str) -> None:
        """Give a row another identity, unless another row has it: then it keeps its own."""
        renamed = {**row, self._column: wanted}
        if await tx.fetch_one(self._find, renamed) is None:
            await tx.execute(self._delete, {**row})
            await tx.execute(self._insert, renamed)


class Owners:
    """Rows with an address, whose identities are in a directory of the installation too."""

    def __init__(self, table: str, text: str, directory: Keys, id_column: str) -> None:
        """id_column: of the directory."""
        self._table, self._column = table, f"{text}_identity"
        self._directory, self._id_column = directory, id_column
        named = f"id, {text} AS name, {self._column} AS identity, '' AS owner_id"
        self._find = select_row(table, named)
        self._select = f"""
SELECT {named} FROM {table} WHERE tenant_id = :tenant_id AND id > :after ORDER BY id LIMIT :limit"""
        self._is_taken = select_row(table, "1", f"tenant_id {self._column}")
        self._update = update_row(table, self._column)

    async def renew(self, tx: Tx, tenant_id: str, after: Sequence[str], limit: int) -> Step:
        """Give the next rows their identities, and list those whose identity another row has."""
        params = {"tenant_id": tenant_id, "after": after[0] if after else "", "limit": limit}
        rows = await tx.fetch_all(self._select, params)
        alike = [
            Alike(tenant_id, self._table, row["id"])
            for row in rows
            if not _is_renewed(row) and not await self._renew_row(tx, tenant_id, row)
        ]
        return Step((rows[-1]["id"],) if len(rows) == limit else None, 0, tuple(alike))

    async def _renew_row(self, tx: Tx, tenant_id: str, row: Row) -> bool:
        wanted = email_identity(row["identity"])
        of_row = {"tenant_id": tenant_id, "id": row["id"], self._column: wanted}
        listed = await self._directory.find(tx, wanted)
        is_others = listed is not None and listed[self._id_column] != row["id"]
        if is_others or await tx.fetch_one(self._is_taken, of_row) is not None:
            return False
        listed = await self._directory.find(tx, row["identity"])
        if listed is not None and listed[self._id_column] == row["id"]:
            await self._directory.rename(tx, listed, wanted)
        return await tx.execute(self._update, of_row) == 1

    async def find_alike(self, tx: Tx, alike: Alike) -> Row | None:
        """The row, if it still has not got its identity."""
        row = await tx.fetch_one(self._find, {"tenant_id": alike.tenant_id, "id": alike.id})
        return None if row is None or _is_renewed(row) else row


def _is_renewed(row: Row) -> bool:
    return row["identity"] is None or row["identity"] == email_identity(row["identity"])


_USERS = Keys("user_directory", "email_identity")
_MAILBOXES = Keys("mailbox_directory")
# The directory first: it has the aliases too.
ADDRESS_TABLES: dict[str, Keys | Owners] = {
    "users": Owners("users", "email", _USERS, "user_id"),
    "mailbox_directory": _MAILBOXES,
    "mailboxes": Owners("mailboxes", "address", _MAILBOXES, "mailbox_id"),
    "mail_blocks": Keys("mail_blocks", "pattern"),
    "ticket_participants": Keys("ticket_participants"),
}
