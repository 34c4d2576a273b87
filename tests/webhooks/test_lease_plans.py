"""The worker finds due rows by an index, however many rows there are."""

from pathlib import Path

import pytest

from sealdesk.db.engine import Tx, Work
from sealdesk.webhooks.store import deliveries as delivery_store
from sealdesk.webhooks.types import Endpoint
from tests.support.plans import plan

ENDPOINT = Endpoint("t", "e", "", (), None, True, None, b"", 1, None, None, None, 0)


async def claim(tx: Tx) -> None:
    for sql in (delivery_store._CLAIM_HEALTHY, delivery_store._CLAIM_FAILING):
        await tx.select_for_update(sql, {"now": 1, "limit": 8})


@pytest.mark.parametrize(
    ("work", "indexes"),
    [
        (
            lambda tx: delivery_store.list_due(tx, ENDPOINT, delivery_store.START, 1, 16),
            {"deliveries_due"},
        ),
        (
            lambda tx: tx.fetch_all(delivery_store._STATE, {"tenant_id": "t", "id": "e"}),
            {"deliveries_due"},
        ),
        (
            lambda tx: tx.fetch_all(delivery_store.FIND_BACKLOG, {"now": 1}),
            {"replays_open", "endpoints_due"},
        ),
        (claim, {"endpoints_due"}),
    ],
    ids=["due", "state", "look", "claim"],
)
def test_due_rows_are_found_by_an_index(
    template: Path, work: Work[object], indexes: set[str]
) -> None:
    steps = plan(template, work)
    assert {name for name in indexes if any(name in step for step in steps)} == indexes
    tables = ("deliveries", "endpoints", "replays", "events")
    scanned = [step for step in steps if step.startswith("SCAN") and "INDEX" not in step]
    assert not any(name in step for step in scanned for name in tables)
