"""Steps that make the search documents of the customer and their tickets anew."""

from sealdesk.db.engine import Tx
from sealdesk.event_log import consumers
from sealdesk.search.indexing import BESIDE_REQUESTS, Indexer
from sealdesk.search.store import documents
from sealdesk.search.store.customers import CUSTOMERS
from sealdesk.search.store.documents import ObjectKey, SearchIndex
from sealdesk.search.store.tickets import TICKETS
from sealdesk.tickets.erasing.steps import store
from sealdesk.tickets.erasing.types import FINISHED, Done, Erasure

_STEP_TICKETS = 40
_MERGED_PAGES = 16


async def update_customer(tx: Tx, erasure: Erasure) -> Done:
    key = ObjectKey(erasure.tenant_id, erasure.customer_id)
    return FINISHED if await _update(tx, CUSTOMERS, [key]) else Done("", is_waiting=True)


async def update_tickets(tx: Tx, erasure: Erasure) -> Done:
    """The documents of the next tickets."""
    after = f"{erasure.cursor}~" if erasure.cursor else ""
    ids = await store.list_ticket_ids(tx, erasure, after, _STEP_TICKETS)
    if not ids:
        return FINISHED
    keys = [ObjectKey(erasure.tenant_id, each) for each in ids]
    made = await _update(tx, TICKETS, keys)
    return Done(ids[made - 1]) if made else Done(erasure.cursor, is_waiting=True)


async def update_ticket(tx: Tx, tenant_id: str, ticket_id: str) -> None:
    """The document of a ticket of somebody else, which has brought texts of the customer."""
    await documents.update(tx, TICKETS, [ObjectKey(tenant_id, ticket_id)], 1)


async def purge_words(tx: Tx, erasure: Erasure) -> Done:
    """Let SQLite write its indexes anew, as FTS5 keeps deleted words in old segments.

    The negative number puts all segments on one level, and the worker merges them in its steps
    (sqlite.org/fts5.html, "The 'merge' Command").
    """
    if tx.dialect == "sqlite":
        for index in (TICKETS, CUSTOMERS):
            await documents.merge(tx, index, -_MERGED_PAGES)
    return FINISHED


async def _update(tx: Tx, index: SearchIndex, keys: list[ObjectKey]) -> int:
    """How many documents were made; 0 while another process indexes."""
    for log in ("", keys[0].tenant_id):  # of the installation, or of each tenant
        if not await consumers.hold(tx, Indexer(index, BESIDE_REQUESTS, log)):
            return 0
    written = await documents.update(tx, index, keys, BESIDE_REQUESTS.chars)
    return written.documents
