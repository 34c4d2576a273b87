"""Lists of tickets that take too long, as with very many tickets."""

from collections.abc import Sequence
from typing import Any

import pytest

from sealdesk.db.engine import Row, Tx
from sealdesk.tickets.ticket.store import lists
from sealdesk.tickets.ticket.store.filters import Filter
from tests.support.service import Tenant

# A combination of filters that no index serves.
UNSERVED = "/api/v1/external/tickets?status=open&priority=low"
_ENDLESS = """
WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted)
SELECT max(n) FROM counted LIMIT 1
"""
_SLEEP = "SELECT pg_sleep(60)"  # takes no processor time from other tests


def never_end(tenant: Tenant, patch: pytest.MonkeyPatch) -> None:
    """Make the tenant's lists that no index serves run until they are stopped."""
    list_tickets = lists.list_tickets

    async def list_slowly(tx: Tx, tenant_id: str, wanted: Filter, page: Any) -> Sequence[Row]:
        if tenant_id != tenant.id or wanted.is_served():
            return await list_tickets(tx, tenant_id, wanted, page)
        return await tx.fetch_all(_ENDLESS if tx.dialect == "sqlite" else _SLEEP, {})

    patch.setattr(lists, "list_tickets", list_slowly)
