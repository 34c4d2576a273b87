"""The SQL of tags, and of tags that get another name.

The tags of a desk are read one by one from the index of their tickets, so their number counts, not
that of the tickets; nothing is written for them when a ticket is.
"""

import msgspec

from sealdesk.db.column_lists import column_list, insert_into
from sealdesk.db.engine import Row, StructRows, Tx
from sealdesk.resources.identity import identity
from sealdesk.tickets.tags import rules
from sealdesk.tickets.tags.types import CountedTag, Renaming

RENAMINGS = StructRows(Renaming)
RENAMING_COLUMNS = column_list(RENAMINGS.columns)
_LIST_TAGS = """
WITH RECURSIVE found(tenant_id, tag, place) AS (
    SELECT x.* FROM (
        SELECT tenant_id, tag, 1 FROM ticket_tags
        WHERE tenant_id = :tenant_id AND tag >= :first AND tag < :last
        ORDER BY tag, ticket_id LIMIT 1
    ) x
    UNION ALL
    SELECT f.tenant_id, (
        SELECT g.tag FROM ticket_tags g
        WHERE g.tenant_id = :tenant_id AND g.tag > f.tag AND g.tag < :last
        ORDER BY g.tag, g.ticket_id LIMIT 1
    ), f.place + 1
    FROM found f WHERE f.tenant_id = :tenant_id AND f.tag IS NOT NULL AND f.place < :limit
)
SELECT f.tag, (
    SELECT count(*) FROM (
        SELECT 1 FROM ticket_tags c WHERE c.tenant_id = :tenant_id AND c.tag = f.tag LIMIT :most
    ) y
) AS ticket_count, (
    SELECT t.tags FROM tickets t WHERE t.tenant_id = :tenant_id AND t.id = (
        SELECT n.ticket_id FROM ticket_tags n
        WHERE n.tenant_id = :tenant_id AND n.tag = f.tag ORDER BY n.ticket_id DESC LIMIT 1
    )
) AS newest_tags
FROM found f WHERE f.tenant_id = :tenant_id AND f.tag IS NOT NULL ORDER BY f.tag LIMIT :limit
"""
_COUNT = """
SELECT count(*) AS ticket_count FROM (
    SELECT 1 FROM ticket_tags WHERE tenant_id = :tenant_id AND tag = :tag LIMIT :most
) x
"""
_ADD = insert_into("tag_renamings", RENAMINGS.columns)
_LIST = f"""
SELECT {RENAMING_COLUMNS} FROM tag_renamings WHERE tenant_id = :tenant_id
ORDER BY id DESC LIMIT :limit
"""
_LIST_UNFINISHED = f"""
SELECT {RENAMING_COLUMNS} FROM tag_renamings
WHERE tenant_id = :tenant_id AND finished_at IS NULL ORDER BY id LIMIT :limit
"""


async def list_tags(
    tx: Tx, tenant_id: str, within: tuple[str, str], limit: int, most: int
) -> list[CountedTag]:
    """The tags whose identity is in a range, in byte order, each with its tickets up to `most`."""
    params = {"tenant_id": tenant_id, "first": within[0], "last": within[1]}
    rows = await tx.fetch_all(_LIST_TAGS, {**params, "limit": limit, "most": most})
    return [_counted(row) for row in rows]


def _counted(row: Row) -> CountedTag:
    newest_tags = msgspec.json.decode(row["newest_tags"] or "[]", type=list[str])
    return CountedTag(row["tag"], rules.spelled(row["tag"], newest_tags), row["ticket_count"])


async def count_tickets(tx: Tx, tenant_id: str, tag: str, most: int) -> int:
    """The tickets of a tag, up to `most`."""
    row = await tx.fetch_one(_COUNT, {"tenant_id": tenant_id, "tag": identity(tag), "most": most})
    return row["ticket_count"] if row else 0


async def add(tx: Tx, renaming: Renaming) -> None:
    await tx.execute_one(_ADD, RENAMINGS.params(renaming))


async def list_newest(tx: Tx, tenant_id: str, limit: int) -> list[Renaming]:
    """The newest renamings, finished or not."""
    rows = await tx.fetch_all(_LIST, {"tenant_id": tenant_id, "limit": limit})
    return [RENAMINGS.read(row) for row in rows]


async def list_unfinished(tx: Tx, tenant_id: str, limit: int) -> list[Renaming]:
    rows = await tx.fetch_all(_LIST_UNFINISHED, {"tenant_id": tenant_id, "limit": limit})
    return [RENAMINGS.read(row) for row in rows]
