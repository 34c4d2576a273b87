"""The SQL of rebuilds: how far each index has been made from all objects of all tenants."""

from sealdesk.db.column_lists import insert_or_update
from sealdesk.db.engine import Tx
from sealdesk.search.store.documents import ObjectKey

_FIND = """
SELECT tenant_id, object_id FROM search_rebuilds WHERE consumer = :consumer LIMIT :limit
"""
_STORE = insert_or_update("search_rebuilds", "consumer", "tenant_id object_id")
START = ObjectKey("", "")  # sorts before every key


async def find_rebuild(tx: Tx, consumer: str) -> ObjectKey | None:
    """The last object that the rebuild has indexed; None when the rebuild is finished."""
    row = await tx.fetch_one(_FIND, {"consumer": consumer, "limit": 1})
    if row is None:
        return START
    return None if row["tenant_id"] is None else ObjectKey(*row)


async def store_rebuild(tx: Tx, consumer: str, reached: ObjectKey | None) -> None:
    tenant_id, object_id = reached or (None, None)
    params = {"consumer": consumer, "tenant_id": tenant_id, "object_id": object_id}
    await tx.enqueue(_STORE, params)
