"""The SQL of attachments."""

from collections.abc import Mapping, Sequence

from sealdesk.db.column_lists import column_list, id_parameters, insert_into, select_row, update_row
from sealdesk.db.engine import StructRows, Tx
from sealdesk.db.postgres.tenant_moves import is_moving
from sealdesk.tickets.attachments import rules
from sealdesk.tickets.attachments.types import Attachment, Content

_ROWS = StructRows(Attachment)
_COLUMNS = column_list(_ROWS.columns, "a")
_ADD = insert_into("attachments", _ROWS.columns)
_FIND = select_row("attachments a", _COLUMNS)
_LINK = """
UPDATE attachments SET ticket_id = :ticket_id, reply_id = :reply_id
WHERE tenant_id = :tenant_id AND id = :id AND ticket_id IS NULL
"""
_RELINK = update_row("attachments", "ticket_id reply_id")
_KEEP = """
UPDATE attachments SET macro_id = :macro_id
WHERE tenant_id = :tenant_id AND id = :id AND ticket_id IS NULL
"""
_LIST_OF_MACRO = f"""
SELECT {_COLUMNS} FROM attachments a
WHERE a.tenant_id = :tenant_id AND a.macro_id = :macro_id ORDER BY a.id LIMIT :limit
"""
_USED = select_row("attachment_usage", "used_bytes", "tenant_id")
_BEGIN_USAGE = """
INSERT INTO attachment_usage (tenant_id, used_bytes) VALUES (:tenant_id, 0)
ON CONFLICT (tenant_id) DO NOTHING
"""
_USE = """
UPDATE attachment_usage SET used_bytes = used_bytes + :size
WHERE tenant_id = :tenant_id AND used_bytes + :size <= :quota
"""
_PRUNE_USED = (
    "UPDATE attachment_usage SET used_bytes = used_bytes - :size WHERE tenant_id = :tenant_id"
)
_PRUNE_LIST = """
SELECT tenant_id, id, sha256, size_bytes FROM attachments
WHERE ticket_id IS NULL AND macro_id IS NULL AND created_at < :before
ORDER BY created_at, tenant_id, id LIMIT :limit
"""
_PRUNE_UNUSED = """
DELETE FROM attachments
WHERE tenant_id = :tenant_id AND id = :id AND ticket_id IS NULL AND macro_id IS NULL
"""
_HAS_CONTENT = select_row("attachments", "1", "tenant_id sha256")
# Raw messages of the room `mail` are kept in the same storage.
_PRUNE_FIND_MESSAGE = """
SELECT 1 FROM received_messages
WHERE tenant_id = :tenant_id AND raw_sha256 = :sha256 AND raw_until > :now LIMIT 1
"""


async def add(tx: Tx, attachment: Attachment) -> None:
    await tx.execute_one(_ADD, _ROWS.params(attachment))


async def find(tx: Tx, tenant_id: str, attachment_id: str) -> Attachment | None:
    return await _ROWS.find(tx, _FIND, {"tenant_id": tenant_id, "id": attachment_id})


async def list_unlinked(tx: Tx, tenant_id: str, ids: Sequence[str]) -> list[Attachment]:
    """Of these attachments those that no ticket refers to; unknown ids are left out."""
    keys, params = id_parameters(ids)
    params |= {"tenant_id": tenant_id, "limit": len(ids)}
    sql = (
        f"SELECT {_COLUMNS} FROM attachments a WHERE a.tenant_id = :tenant_id"
        f" AND a.id IN ({keys}) AND a.ticket_id IS NULL ORDER BY a.id LIMIT :limit"
    )
    return [_ROWS.read(row) for row in await tx.fetch_all(sql, params)] if keys else []


async def link(
    tx: Tx, tenant_id: str, attachment_id: str, *, ticket_id: str, reply_id: str | None
) -> None:
    """Let a ticket or a reply refer to an attachment that nothing refers to yet."""
    await tx.execute_one(
        _LINK,
        {"tenant_id": tenant_id, "id": attachment_id, "ticket_id": ticket_id, "reply_id": reply_id},
    )


async def keep(tx: Tx, tenant_id: str, ids: Sequence[str], macro_id: str | None) -> None:
    """Let a macro keep attachments that no ticket refers to, or None, so that they are pruned."""
    key = {"tenant_id": tenant_id, "macro_id": macro_id}
    await tx.execute_many(_KEEP, [{**key, "id": each} for each in ids])


async def list_of_macro(tx: Tx, tenant_id: str, macro_id: str) -> list[Attachment]:
    params = {"tenant_id": tenant_id, "macro_id": macro_id, "limit": rules.MAX_PER_MESSAGE}
    return [_ROWS.read(row) for row in await tx.fetch_all(_LIST_OF_MACRO, params)]


async def relink(
    tx: Tx, tenant_id: str, reply_of: Mapping[str, str | None], ticket_id: str
) -> None:
    """Let attachments belong to another ticket. reply_of: attachment → reply, None for none."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id}
    many = [{**params, "id": each, "reply_id": reply} for each, reply in reply_of.items()]
    await tx.execute_many(_RELINK, many)


async def used_bytes(tx: Tx, tenant_id: str) -> int:
    row = await tx.fetch_one(_USED, {"tenant_id": tenant_id})
    return 0 if row is None else int(row["used_bytes"])


async def use_bytes(tx: Tx, tenant_id: str, size: int, quota: int) -> bool:
    """Count the bytes of a new attachment; False when they are over the quota."""
    await tx.execute(_BEGIN_USAGE, {"tenant_id": tenant_id})
    params = {"tenant_id": tenant_id, "size": size, "quota": quota}
    return await tx.execute(_USE, params) == 1


async def delete_unused(tx: Tx, before_us: int, limit: int) -> list[Content]:
    """Delete some attachments that nothing refers to, of all tenants; their contents."""
    rows = await tx.fetch_all(_PRUNE_LIST, {"before": before_us, "limit": limit})
    deleted = []
    for row in rows:
        key = {"tenant_id": row["tenant_id"], "id": row["id"]}
        if await tx.execute(_PRUNE_UNUSED, key):
            free = {"tenant_id": row["tenant_id"], "size": row["size_bytes"]}
            await tx.execute(_PRUNE_USED, free)
            deleted.append(Content(row["tenant_id"], row["sha256"]))
    return deleted


async def has_content(tx: Tx, content: Content, now_us: int) -> bool:
    """Whether an attachment has this content, or a received message that is kept.

    True for all content of a tenant that is being moved, as its rows may be hidden.
    """
    if await tx.fetch_one(_HAS_CONTENT, content._asdict()) is not None:
        return True
    if await tx.fetch_one(_PRUNE_FIND_MESSAGE, content._asdict() | {"now": now_us}) is not None:
        return True
    return await is_moving(tx, content.tenant_id)
