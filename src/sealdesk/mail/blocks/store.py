"""The SQL of blocked senders."""

from collections.abc import Sequence

import msgspec

from sealdesk.db.column_lists import column_list, delete_row, insert_into, select_row
from sealdesk.db.engine import Tx
from sealdesk.mail.blocks.types import Block
from sealdesk.resources.paging import PageRequest

_COLUMNS = column_list(Block.__struct_fields__)
_LIST = f"""
SELECT {_COLUMNS} FROM mail_blocks WHERE tenant_id = :tenant_id AND pattern > :after
ORDER BY pattern LIMIT :limit
"""
_FIND = select_row("mail_blocks", _COLUMNS, "tenant_id pattern")
_ADD = insert_into("mail_blocks", Block.__struct_fields__)
_DELETE = delete_row("mail_blocks", "tenant_id pattern")


async def list_blocks(tx: Tx, tenant_id: str, page: PageRequest) -> list[Block]:
    """By pattern, domains first; one more than the page when there are more."""
    after = page.after[0] if page.after else ""
    params = {"tenant_id": tenant_id, "after": after, "limit": page.per_page + 1}
    return [Block(*row) for row in await tx.fetch_all(_LIST, params)]


async def find(tx: Tx, tenant_id: str, pattern: str) -> Block | None:
    row = await tx.fetch_one(_FIND, {"tenant_id": tenant_id, "pattern": pattern})
    return None if row is None else Block(*row)


async def find_first(tx: Tx, tenant_id: str, patterns: Sequence[str]) -> str | None:
    """The first of these patterns that is blocked."""
    many = [{"tenant_id": tenant_id, "pattern": each} for each in patterns]
    found = await tx.fetch_for_each(_FIND, many)
    return next((str(rows[0]["pattern"]) for rows in found if rows), None)


async def add(tx: Tx, block: Block) -> None:
    await tx.execute_one(_ADD, msgspec.structs.asdict(block))


async def delete(tx: Tx, tenant_id: str, pattern: str) -> bool:
    """Whether it was blocked."""
    return await tx.execute(_DELETE, {"tenant_id": tenant_id, "pattern": pattern}) == 1
