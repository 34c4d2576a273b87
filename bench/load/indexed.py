"""Waits until new tickets are indexed for search."""

import time

from bench.databases.webhook_databases import DirectSql
from bench.load.clients import WrongResponse
from sealdesk import ids

_COUNT = """
SELECT sum((SELECT count(*) FROM search_documents AS document
            WHERE document.tenant_id = tenants.id AND document.ticket_id >= '{since}')) FROM tenants
"""
_WITHIN_S = 120.0
_POLL_EVERY_S = 0.05


class IndexedTickets:
    """The tickets that have been created since this object was."""

    def __init__(self, sql: DirectSql) -> None:
        self._sql = sql
        self._count = _COUNT.format(since=ids.lowest(time.time_ns() // 1000))

    def wait_for(self, count: int) -> None:
        """Wait until so many of them are indexed. Raises WrongResponse."""
        deadline = time.monotonic() + _WITHIN_S
        while (indexed := int(self._sql.fetch_value(self._count))) < count:
            if time.monotonic() > deadline:
                raise WrongResponse(f"{indexed} of {count} tickets are indexed in {_WITHIN_S:g} s")
            time.sleep(_POLL_EVERY_S)
