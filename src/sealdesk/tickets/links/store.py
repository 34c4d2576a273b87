"""The SQL of links between tickets."""

from sealdesk.db.column_lists import delete_row, insert_into, select_row
from sealdesk.db.engine import Tx
from sealdesk.tickets.links.rules import MAX_LINKS, MIRRORED
from sealdesk.tickets.links.types import Relation, StoredLink

_MAX_EXAMINED = 10_000
_LIST = """
SELECT t.id, t.number, t.subject, t.status, t.merged_into_id, l.relation, l.created_at
FROM ticket_links l JOIN tickets t ON t.tenant_id = :tenant_id AND t.id = l.other_id
WHERE l.tenant_id = :tenant_id AND l.ticket_id = :ticket_id ORDER BY l.other_id LIMIT :limit
"""
_COUNT = """
SELECT count(*) AS number FROM (SELECT 1 FROM ticket_links
    WHERE tenant_id = :tenant_id AND ticket_id = :ticket_id LIMIT :limit) x
"""
_FIND = select_row("ticket_links", "relation", "tenant_id ticket_id other_id")
_IS_BLOCKING = """
WITH RECURSIVE blocked(tenant_id, id) AS (
    SELECT l.tenant_id, l.other_id FROM ticket_links l
    WHERE l.tenant_id = :tenant_id AND l.ticket_id = :ticket_id AND l.relation = 'blocks'
    UNION
    SELECT l.tenant_id, l.other_id FROM blocked b JOIN ticket_links l
        ON l.tenant_id = :tenant_id AND l.ticket_id = b.id AND l.relation = 'blocks'
    WHERE b.tenant_id = :tenant_id
)
SELECT 1 FROM (
    SELECT id FROM blocked WHERE tenant_id = :tenant_id LIMIT :examined
) x WHERE id = :other_id LIMIT 1
"""
_ADD = insert_into("ticket_links", "tenant_id ticket_id other_id relation created_at")
_DELETE = delete_row("ticket_links", "tenant_id ticket_id other_id")


async def list_links(tx: Tx, tenant_id: str, ticket_id: str) -> list[StoredLink]:
    """By the id of the other ticket."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "limit": MAX_LINKS}
    return [
        StoredLink(
            row["id"],
            row["number"],
            row["subject"],
            row["status"],
            row["merged_into_id"] is not None,
            row["relation"],
            row["created_at"],
        )
        for row in await tx.fetch_all(_LIST, params)
    ]


async def is_full(tx: Tx, tenant_id: str, ticket_id: str) -> bool:
    """Whether a ticket can have no further link."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "limit": MAX_LINKS}
    row = await tx.fetch_one(_COUNT, params)
    return row is not None and row["number"] >= MAX_LINKS


async def find_relation(tx: Tx, tenant_id: str, ticket_id: str, other_id: str) -> Relation | None:
    """What a ticket is to another one."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "other_id": other_id}
    row = await tx.fetch_one(_FIND, params)
    return None if row is None else row["relation"]


async def is_blocking(tx: Tx, tenant_id: str, ticket_id: str, other_id: str) -> bool:
    """Whether a ticket blocks another one, itself or through others."""
    params = {"tenant_id": tenant_id, "ticket_id": ticket_id, "other_id": other_id}
    return await tx.fetch_one(_IS_BLOCKING, params | {"examined": _MAX_EXAMINED}) is not None


async def add(
    tx: Tx, tenant_id: str, ticket_id: str, other_id: str, relation: Relation, now_us: int
) -> None:
    """Both rows of a link."""
    one = {"tenant_id": tenant_id, "created_at": now_us}
    there = {**one, "ticket_id": ticket_id, "other_id": other_id, "relation": relation}
    back = {"ticket_id": other_id, "other_id": ticket_id, "relation": MIRRORED[relation]}
    await tx.execute_many(_ADD, [there, one | back])


async def remove(tx: Tx, tenant_id: str, ticket_id: str, other_id: str) -> None:
    """Both rows of a link."""
    pairs = (ticket_id, other_id), (other_id, ticket_id)
    keys = [{"tenant_id": tenant_id, "ticket_id": a, "other_id": b} for a, b in pairs]
    await tx.execute_many(_DELETE, keys)


async def remove_all(tx: Tx, tenant_id: str, ticket_id: str) -> None:
    """All links of a ticket."""
    for link in await list_links(tx, tenant_id, ticket_id):
        await remove(tx, tenant_id, ticket_id, link.other_id)
