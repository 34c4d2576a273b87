"""The search indexes as consumers of the event log, and their rebuilds."""

from collections.abc import Sequence
from typing import NamedTuple

from sealdesk.db.engine import Tx
from sealdesk.event_log import consumers
from sealdesk.event_log.consumers import LogEvent
from sealdesk.search.store import documents, rebuilds
from sealdesk.search.store.customers import CUSTOMERS
from sealdesk.search.store.documents import ObjectKey, SearchIndex
from sealdesk.search.store.tickets import TICKETS

INDEXES = (TICKETS, CUSTOMERS)
_BATCH_EVENTS = 200  # most of them change no document of an index


class Budget(NamedTuple):
    """How much one transaction does. On SQLite other writes wait for its end.

    documents: are made. chars: of them are written. pages: of segments are merged.
    """

    documents: int
    chars: int
    pages: int


BESIDE_REQUESTS = Budget(40, 20_000, 16)
ALONE = Budget(80, 50_000, 64)


class Indexer:
    """Keeps one index up to date with the event log.

    Texts are read from the tables in the transaction that writes the document, never from the
    event, so handling events late or again changes nothing. tenant_id: of this tenant, else of all
    tenants.
    """

    def __init__(self, index: SearchIndex, budget: Budget, tenant_id: str = "") -> None:
        self.name = index.name
        self.tenant_id = tenant_id
        self.batch_size = _BATCH_EVENTS
        self.reads_objects = True
        self._index = index
        self._budget = budget

    async def wants_any(self, tx: Tx, first: int, last: int) -> bool:
        return True

    async def handle(self, tx: Tx, events: Sequence[LogEvent], now_us: int) -> int:
        rebuilt = await rebuilds.find_rebuild(tx, self.name)
        handled_before: dict[ObjectKey, int] = {}  # object → events before the first about it
        handled = 0
        for event in events:
            if len(handled_before) >= self._budget.documents:
                break
            for object_id in await self._index.affected_by(tx, event):
                key = ObjectKey(event.tenant_id, object_id)
                # The rebuild reaches the others later. Numbered now, they would come before
                # older objects of the tenant, and searches list the newest numbers first.
                if rebuilt is None or key <= rebuilt:
                    handled_before.setdefault(key, handled)
            handled += 1
        written = await self._update(tx, [*handled_before])
        return [*handled_before.values(), handled][written]

    async def recover(self, tx: Tx) -> None:
        await rebuilds.store_rebuild(tx, self.name, rebuilds.START)

    async def rebuild(self, tx: Tx) -> int:
        """Index the next objects of a rebuild; how many. 0 when the rebuild is finished."""
        if not await consumers.hold(tx, self):
            return 0
        rebuilt = await rebuilds.find_rebuild(tx, self.name)
        if rebuilt is None:
            return 0
        limit = self._budget.documents
        keys = await documents.list_after(tx, self._index, rebuilt, limit)
        written = await self._update(tx, keys)
        is_finished = written == len(keys) < limit
        reached = None if is_finished else keys[written - 1]
        await rebuilds.store_rebuild(tx, self.name, reached)
        return written

    async def _update(self, tx: Tx, keys: Sequence[ObjectKey]) -> int:
        written = await documents.update(tx, self._index, keys, self._budget.chars)
        return written.documents


async def needs_rebuild(tx: Tx, index: SearchIndex) -> bool:
    return await rebuilds.find_rebuild(tx, index.name) is not None


async def merge(tx: Tx, pages: int) -> bool:
    """Merge segments of the indexes on SQLite; whether there was anything to merge."""
    return any([await documents.merge(tx, index, pages) for index in INDEXES])
