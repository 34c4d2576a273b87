"""Queries of the log use an index, however many events and tenants there are."""

from pathlib import Path

import pytest

from sealdesk.db.engine import Work
from sealdesk.event_log import consumers
from sealdesk.search.indexing import INDEXES
from sealdesk.search.store import documents, rebuilds
from sealdesk.webhooks.store import fan_out
from tests.support.plans import plan

TICKETS, CUSTOMERS = INDEXES
_NEXT = {"position": 1, "limit": 9}


@pytest.mark.parametrize(
    ("work", "indexes"),
    [
        (
            lambda tx: tx.fetch_all(consumers._NEXT, _NEXT),
            ["events USING INDEX events_log (log_position>?)"],
        ),
        (
            lambda tx: tx.fetch_page(consumers._NEXT_WITH_OBJECTS, _NEXT, ("object",), 1),
            ["events USING INDEX events_log (log_position>?)"],
        ),
        (
            lambda tx: fan_out.list_subscriptions(tx, 1, 9),
            [
                "endpoints USING INDEX sqlite_autoindex_endpoints_1 (tenant_id=?)",
                "events USING INDEX events_log (log_position>? AND log_position<?)",
            ],
        ),
        (
            lambda tx: documents.list_after(tx, TICKETS, rebuilds.START, 9),
            ["tickets USING COVERING INDEX sqlite_autoindex_tickets_1 ((tenant_id,id)>(?,?))"],
        ),
        (
            lambda tx: documents.list_after(tx, CUSTOMERS, rebuilds.START, 9),
            ["customers USING COVERING INDEX sqlite_autoindex_customers_1 ((tenant_id,id)>(?,?))"],
        ),
    ],
    ids=["next", "objects", "subscriptions", "tickets", "customers"],
)
def test_an_index_leads_to_the_rows(template: Path, work: Work[object], indexes: list[str]) -> None:
    steps = plan(template, work)
    found = [step.partition(" ")[2] for step in steps if step.startswith(("SEARCH", "SCAN"))]
    assert sorted(found) == sorted(indexes)
