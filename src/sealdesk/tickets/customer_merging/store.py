"""The SQL of merged customers, and of tickets that move between customers."""

from collections.abc import Sequence

from sealdesk.db.column_lists import column_list, delete_row, insert_into, select_row
from sealdesk.db.engine import StructRows, Tx
from sealdesk.tickets.customer_merging.types import StoredMerge

_ROWS = StructRows(StoredMerge)
_ADD = insert_into("customer_merges", (*_ROWS.columns, "external_id"))
_FIND = select_row("customer_merges", column_list(_ROWS.columns), "tenant_id source_id")
_LIST_SINCE = f"""
SELECT {column_list(_ROWS.columns)} FROM customer_merges
WHERE tenant_id = :tenant_id AND target_id = :target_id AND merged_at > :kept_since
ORDER BY source_id LIMIT :limit
"""
_DELETE = delete_row("customer_merges", "tenant_id source_id")
_LIST_TICKETS = """
SELECT id FROM tickets WHERE tenant_id = :tenant_id AND customer_id = :customer_id
ORDER BY id LIMIT :limit
"""
_MOVE_TICKET = """
UPDATE tickets SET customer_id = :to_id
WHERE tenant_id = :tenant_id AND id = :id AND customer_id = :customer_id
"""


async def add(tx: Tx, merge: StoredMerge) -> None:
    external_id = {"external_id": merge.customer.external_id}
    await tx.execute_one(_ADD, _ROWS.params(merge) | external_id)


async def find(tx: Tx, tenant_id: str, source_id: str) -> StoredMerge | None:
    return await _ROWS.find(tx, _FIND, {"tenant_id": tenant_id, "source_id": source_id})


async def list_since(
    tx: Tx, tenant_id: str, target_id: str, since: int, limit: int
) -> list[StoredMerge]:
    """The customers that were merged into this one after a time."""
    params = {"tenant_id": tenant_id, "target_id": target_id, "kept_since": since, "limit": limit}
    return [_ROWS.read(row) for row in await tx.fetch_all(_LIST_SINCE, params)]


async def delete(tx: Tx, tenant_id: str, source_id: str) -> None:
    await tx.execute_one(_DELETE, {"tenant_id": tenant_id, "source_id": source_id})


async def list_ticket_ids(tx: Tx, tenant_id: str, customer_id: str, limit: int) -> tuple[str, ...]:
    params = {"tenant_id": tenant_id, "customer_id": customer_id, "limit": limit}
    return tuple(row["id"] for row in await tx.fetch_all(_LIST_TICKETS, params))


async def move_tickets(
    tx: Tx, tenant_id: str, ticket_ids: Sequence[str], *, from_id: str, to_id: str
) -> None:
    """Give tickets to another customer; those that are no longer this one's stay."""
    one = {"tenant_id": tenant_id, "customer_id": from_id, "to_id": to_id}
    await tx.execute_many(_MOVE_TICKET, [{**one, "id": each} for each in ticket_ids])
