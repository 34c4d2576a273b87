"""Rebuilds of the search indexes where each tenant has a log of its own."""

from sealdesk.db.engine import Tx
from sealdesk.event_log import consumers
from sealdesk.search import indexing
from sealdesk.search.indexing import Budget, Indexer
from sealdesk.search.store import documents, rebuilds
from sealdesk.search.store.documents import SearchIndex
from sealdesk.state import AppState


async def rebuild(index: SearchIndex, budget: Budget, state: AppState) -> int:
    """Index the next objects of a rebuild, of one tenant; how many."""
    if not await state.database.read(lambda tx: indexing.needs_rebuild(tx, index)):
        return 0
    return await state.database.write(lambda tx: _rebuild(tx, index, budget))


async def _rebuild(tx: Tx, index: SearchIndex, budget: Budget) -> int:
    if not await consumers.hold(tx, Indexer(index, budget)):
        return 0
    rebuilt = await rebuilds.find_rebuild(tx, index.name)
    if rebuilt is None:
        return 0
    keys = await documents.list_after(tx, index, rebuilt, budget.documents)
    if not keys:
        await rebuilds.store_rebuild(tx, index.name, None)
        return 0
    # Of the first tenant, without its events meanwhile.
    of_tenant = [key for key in keys if key.tenant_id == keys[0].tenant_id]
    if not await consumers.hold(tx, Indexer(index, budget, keys[0].tenant_id)):
        return 0
    written = await documents.update(tx, index, of_tenant, budget.chars)
    await rebuilds.store_rebuild(tx, index.name, of_tenant[written.documents - 1])
    return written.documents
