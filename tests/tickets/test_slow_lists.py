"""Lists that no index serves block no other request and take at most 2 s (decisions 9)."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sealdesk.db.engine import Row, Tx
from sealdesk.db.sqlite import database
from sealdesk.tickets.store import lists
from sealdesk.tickets.store.lists import Filter
from tests.support.client import Key

TICKETS = "/api/v1/external/tickets"
UNSERVED = f"{TICKETS}?status=open&priority=low"
ENDLESS = """
WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted)
SELECT max(n) FROM counted LIMIT 1
"""


@pytest.fixture
def slow_key(key: Key, monkeypatch: pytest.MonkeyPatch) -> Key:
    """A key whose lists without an index never finish, as with very many tickets."""
    list_tickets = lists.list_tickets

    async def list_slowly(tx: Tx, tenant_id: str, wanted: Filter, page: Any) -> Sequence[Row]:
        if wanted.is_served():
            return await list_tickets(tx, tenant_id, wanted, page)
        return await tx.fetch_all(ENDLESS, {})

    monkeypatch.setattr(lists, "list_tickets", list_slowly)
    return key


def test_a_slow_query_is_cancelled_and_others_continue(slow_key: Key) -> None:
    began = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(slow_key.get, UNSERVED)
        served = 0
        while not slow.done():
            slow_key.ticket()
            assert slow_key.get(f"{TICKETS}?status=open").status_code == 200
            served += 1
    response = slow.result()
    assert (response.status_code, response.json()["code"]) == (503, "query_too_slow")
    assert int(response.headers["retry-after"]) > 0
    assert database.SLOW_READ_LIMIT_S == 2
    assert time.monotonic() - began > 1.95
    assert served > 2  # one that had to wait would have been the only one
