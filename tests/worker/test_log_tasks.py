"""The worker's tasks of the event log: what wakes them."""

import asyncio
from contextlib import closing
from functools import partial

import pytest

from sealdesk.db.engine import Tx
from sealdesk.db.sqlite.connection import connect, run_now
from sealdesk.event_log import events
from sealdesk.worker import log_tasks
from sealdesk.worker.log_tasks import SHORTEST_REST_S, next_rest_s, wait_for
from tests.support.databases import SQLITE_ONLY
from tests.support.feed import record
from tests.support.for_each import for_each
from tests.support.service import Service, Tenant, wait_until
from tests.webhooks.stored import stored_endpoint

_DELIVERIES = "SELECT id FROM deliveries WHERE tenant_id = :id"


@for_each("turns", range(6))
def test_cancellation_is_not_lost_beside_a_wakeup(turns: int) -> None:
    async def work() -> None:
        wakeup = asyncio.Event()
        waiting = asyncio.create_task(wait_for(wakeup, 60))
        await asyncio.sleep(0)
        wakeup.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        if waiting.cancel():
            await asyncio.wait([waiting])
            assert waiting.cancelled()

    asyncio.run(work())


def test_rests_grow_while_there_is_no_work_and_begin_anew_with_it() -> None:
    rests = [SHORTEST_REST_S]
    for _ in range(30):
        rests.append(next_rest_s(rests[-1], 0))
    assert rests == sorted(rests)
    assert rests[-1] == 0.5
    assert sum(rest < 0.25 for rest in rests) >= 8  # a second event within a second is soon found
    assert next_rest_s(rests[-1], 1) == SHORTEST_REST_S


@pytest.fixture
def watched_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks for events of other processes."""
    monkeypatch.setattr(log_tasks, "WATCH_EVERY_S", 3600.0)


@SQLITE_ONLY
@pytest.mark.usefixtures("watched_rarely")
def test_an_event_is_fanned_out_without_waiting_for_a_poll(own_service: Service) -> None:
    tenant = own_service.tenant()
    stored_endpoint(tenant, "ticket.created")
    for count in (1, 2):
        record(tenant, "ticket.created")
        wait_until(partial(has_deliveries, tenant, count))


@SQLITE_ONLY
def test_an_event_of_another_process_is_fanned_out(own_service: Service) -> None:
    tenant = own_service.tenant()
    stored_endpoint(tenant, "ticket.created")
    own_service.settle()

    async def work(tx: Tx) -> None:
        await events.record(tx, tenant.id, "ticket.created", b"{}", events.NO_CHANGES, 1)

    with closing(connect(own_service.settings.database_path)) as connection:
        run_now(connection, work)
    wait_until(partial(has_deliveries, tenant, 1))


def has_deliveries(tenant: Tenant, count: int) -> bool:
    return len(tenant.service.rows(_DELIVERIES, id=tenant.id)) == count
