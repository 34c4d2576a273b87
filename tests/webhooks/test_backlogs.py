"""The consumer of the log and the task that continues backlogs work at the same time."""

import asyncio
from collections.abc import Collection, Iterator

import pytest

from sealdesk.db.engine import Tx
from sealdesk.state import AppState
from sealdesk.webhooks.delivery import fan_out
from sealdesk.webhooks.store import fan_out as fan_out_store
from sealdesk.webhooks.store.fan_out import Backlog
from sealdesk.worker.one_log import OneLog
from sealdesk_citus.tenant_logs import TenantLogs
from tests.support.databases import POSTGRESQL_ONLY
from tests.support.feed import record
from tests.support.service import Service, Tenant, wait_until
from tests.webhooks.stored import stored_endpoint

# SQLite has one transaction that writes at a time.
pytestmark = POSTGRESQL_ONLY
_DELIVERED = "SELECT event_id FROM deliveries WHERE tenant_id = :id ORDER BY id"
_LOG = "SELECT id FROM events WHERE tenant_id = :id ORDER BY position"
_UNREAD = """
SELECT 1 FROM event_outbox UNION ALL SELECT 1 FROM events
WHERE log_position > (SELECT position FROM log_positions WHERE name = 'webhooks')
"""
_WAITING = """
SELECT 1 FROM fan_out_backlogs WHERE until_position =
    (SELECT last_position FROM feed_positions WHERE tenant_id = :id) AND tenant_id = :id
"""


@pytest.fixture
def tenant(own_service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tenant]:
    """A tenant with a backlog that only the test continues."""

    async def nothing(*_: object) -> int:
        return 0

    for log in (OneLog, TenantLogs):
        monkeypatch.setattr(log, "continue_backlogs", nothing)
    monkeypatch.setattr(fan_out, "_MANY_DELIVERIES", 10)
    tenant = own_service.tenant()
    stored_endpoint(tenant, "ticket.created")
    record(tenant, "ticket.created", 40)
    wait_until(lambda: _is_waiting(tenant))
    yield tenant


def _is_waiting(tenant: Tenant) -> bool:
    """Whether the consumer has read the log, and the last event is in the backlog."""
    service = tenant.service
    return not service.rows(_UNREAD) and bool(service.rows(_WAITING, id=tenant.id))


def _continue_all(tenant: Tenant) -> None:
    while tenant.service.in_background(fan_out.continue_backlogs):
        pass


def _assert_each_is_delivered_once_and_in_order(tenant: Tenant) -> None:
    service = tenant.service
    delivered = [row["event_id"] for row in service.rows(_DELIVERED, id=tenant.id)]
    assert delivered == [row["id"] for row in service.rows(_LOG, id=tenant.id)]


def test_a_backlog_is_continued_while_the_consumer_is_in_a_step(tenant: Tenant) -> None:
    async def continue_beside(state: AppState) -> int:
        async def hold(tx: Tx) -> int:
            await tx.lock(f"consumer {fan_out.FanOut.name}")
            return await fan_out.continue_backlogs(state)

        return await state.database.write(hold)

    assert tenant.service.in_background(continue_beside) == 1
    _continue_all(tenant)
    _assert_each_is_delivered_once_and_in_order(tenant)


def test_a_backlog_that_is_extended_at_its_end_goes_on(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The consumer extends it between the reading of its last events and its end."""
    end_backlog = fan_out_store.end_backlog
    extended = False

    async def extend_before(tx: Tx, backlog: Backlog) -> bool:
        nonlocal extended
        if not extended:
            extended = True
            await asyncio.to_thread(record, tenant, "ticket.created", 5)
            await asyncio.to_thread(wait_until, lambda: _is_waiting(tenant))
        return await end_backlog(tx, backlog)

    monkeypatch.setattr(fan_out_store, "end_backlog", extend_before)
    _continue_all(tenant)
    assert extended
    _assert_each_is_delivered_once_and_in_order(tenant)


def test_a_backlog_that_has_ended_when_it_is_extended_begins_with_the_new_events(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends between the consumer's look for backlogs and the extension."""
    add_to_backlogs = fan_out_store.add_to_backlogs
    ended = False

    async def end_before(tx: Tx, backlogs: Collection[Backlog], now_us: int) -> None:
        nonlocal ended
        if not ended:
            await asyncio.to_thread(_continue_all, tenant)
            ended = True
        await add_to_backlogs(tx, backlogs, now_us)

    monkeypatch.setattr(fan_out_store, "add_to_backlogs", end_before)
    record(tenant, "ticket.created", 5)
    wait_until(lambda: ended and _is_waiting(tenant))
    _continue_all(tenant)
    _assert_each_is_delivered_once_and_in_order(tenant)
