"""The SQL of erasures, as requests begin and read them."""

import msgspec

from sealdesk.customers.types import Customer
from sealdesk.db.column_lists import column_list, insert_into, select_row, update_row
from sealdesk.db.engine import StructRows, Tx
from sealdesk.tickets.erasing.types import Erasure

ERASURES = StructRows(Erasure)
_ADD = insert_into("erasures", ERASURES.columns)
_RESTART = update_row(
    "erasures",
    "actor_kind actor_id actor_name texts stage cursor ticket_count erased_ticket_count"
    " created_at stepped_at finished_at",
    key="tenant_id customer_id",
)
_FIND = select_row("erasures", column_list(ERASURES.columns), "tenant_id customer_id")
_ERASE_MERGED = """
UPDATE customer_merges SET customer = :customer, external_id = NULL, gained = '{}',
    ticket_ids = '[]', merged_at = 0
WHERE tenant_id = :tenant_id AND source_id = :source_id
"""
_COUNT = """
SELECT count(*) AS number FROM (SELECT 1 FROM tickets
    WHERE tenant_id = :tenant_id AND customer_id = :customer_id LIMIT :limit) x
"""


async def add(tx: Tx, erasure: Erasure) -> None:
    """Store an erasure, in the place of an earlier one of the customer."""
    params = ERASURES.params(erasure)
    if not await tx.execute(_RESTART, params):
        await tx.execute_one(_ADD, params)


async def erase_merged(tx: Tx, anonymous: Customer) -> None:
    """Forget a customer who was merged into another one; the merge is final."""
    customer = msgspec.json.encode(anonymous).decode()
    params = {"tenant_id": anonymous.tenant_id, "source_id": anonymous.id, "customer": customer}
    await tx.execute(_ERASE_MERGED, params)


async def find(tx: Tx, tenant_id: str, customer_id: str) -> Erasure | None:
    return await ERASURES.find(tx, _FIND, {"tenant_id": tenant_id, "customer_id": customer_id})


async def count_tickets(tx: Tx, tenant_id: str, customer_id: str, most: int) -> int:
    """How many tickets a customer has, at most `most`."""
    params = {"tenant_id": tenant_id, "customer_id": customer_id, "limit": most}
    row = await tx.fetch_one(_COUNT, params)
    return 0 if row is None else int(row["number"])
