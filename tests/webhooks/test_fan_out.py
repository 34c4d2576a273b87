"""The fan-out makes one delivery of each event for each endpoint that subscribes to it."""

from collections.abc import Iterator

import pytest

from sealdesk.db.engine import Tx
from sealdesk.event_log import events, sequencer
from sealdesk.event_log.events import EventType
from sealdesk.state import AppState
from sealdesk.webhooks.delivery import fan_out
from sealdesk.webhooks.store import endpoints as endpoint_store
from sealdesk.worker import steps
from tests.support.client import Key
from tests.support.databases import POSTGRESQL_ONLY
from tests.support.feed import EVENTS, record, unplaced
from tests.support.service import Service, Tenant, wait_until
from tests.webhooks.stored import stored_endpoint

_DELIVERIES = """
SELECT id, endpoint_id, event_type, event_id FROM deliveries WHERE tenant_id = :id ORDER BY id
"""
_LOG = "SELECT id FROM events WHERE tenant_id = :id ORDER BY position"


def deliveries(tenant: Tenant) -> list[tuple[str, str]]:
    """(endpoint, event type), in the order in which they were made."""
    rows = tenant.service.rows(_DELIVERIES, id=tenant.id)
    return [(row["endpoint_id"], row["event_type"]) for row in rows]


@pytest.fixture
def fast_failures(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(steps, "_AFTER_FAILURE_S", 0.01)
    yield


def test_an_event_is_delivered_to_the_active_endpoints_that_subscribe_to_it(
    service: Service, tenant: Tenant
) -> None:
    both = stored_endpoint(tenant, "ticket.created", "reply.created").id
    one = stored_endpoint(tenant, "reply.created").id
    stored_endpoint(tenant, "reply.created", is_active=False)
    other = service.tenant()
    stored_endpoint(other, "reply.created")
    kinds: tuple[EventType, ...] = (
        "ticket.created",
        "reply.created",
        "webhook.test",
        "customer.created",
    )
    now_us = service.clock.now_us()

    async def work(tx: Tx) -> None:  # so that the events of both tenants are handled in one step
        await events.record(tx, other.id, "customer.created", b"{}", {}, now_us)
        for kind in kinds:
            await events.record(tx, tenant.id, kind, b"{}", {}, now_us)

    service.write(work)
    service.settle()
    assert sorted(deliveries(tenant)) == sorted(
        [(both, "ticket.created"), (both, "reply.created"), (one, "reply.created")]
    )


def test_many_deliveries_are_made_in_several_steps_and_in_order(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fan_out, "_BATCH_DELIVERIES", 4)
    endpoints = {stored_endpoint(tenant, "ticket.created").id for _ in range(3)}
    record(tenant, "ticket.created", 10)
    tenant.service.settle()
    log = [row["id"] for row in tenant.service.rows(_LOG, id=tenant.id)]
    rows = tenant.service.rows(_DELIVERIES, id=tenant.id)
    for endpoint_id in endpoints:
        assert [row["event_id"] for row in rows if row["endpoint_id"] == endpoint_id] == log


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fan_out, "_BATCH_DELIVERIES", 50)
    monkeypatch.setattr(fan_out, "_MANY_DELIVERIES", 10)


@pytest.mark.usefixtures("small_steps")
def test_a_tenant_with_many_events_does_not_delay_the_deliveries_of_another(
    own_service: Service,
) -> None:
    busy, quiet = own_service.tenant(), own_service.tenant()
    for tenant in (*[busy] * 5, quiet):
        stored_endpoint(tenant, "ticket.created")
    now_us = own_service.clock.now_us()

    async def work(tx: Tx) -> None:
        for tenant in (*[busy] * 600, quiet):
            await events.record(tx, tenant.id, "ticket.created", b"{}", {}, now_us)

    own_service.write(work)
    own_service.settle()
    (of_quiet,) = own_service.rows(_DELIVERIES, id=quiet.id)
    of_busy = own_service.rows(_DELIVERIES, id=busy.id)
    assert len(of_busy) == len({(row["endpoint_id"], row["event_id"]) for row in of_busy}) == 3000
    assert len([row for row in of_busy if row["id"] < of_quiet["id"]]) < 1000


@pytest.mark.usefixtures("small_steps")
def test_deliveries_of_a_backlog_are_made_in_order(tenant: Tenant) -> None:
    endpoints = {stored_endpoint(tenant, "ticket.created").id for _ in range(3)}
    for _ in range(4):
        record(tenant, "ticket.created", 40)
    tenant.service.settle()
    log = [row["id"] for row in tenant.service.rows(_LOG, id=tenant.id)]
    rows = tenant.service.rows(_DELIVERIES, id=tenant.id)
    for endpoint_id in endpoints:
        assert [row["event_id"] for row in rows if row["endpoint_id"] == endpoint_id] == log


@pytest.mark.usefixtures("fast_failures")
def test_deliveries_that_cannot_be_made_are_made_later_and_do_not_hold_back_the_feed(
    own_service: Service,
) -> None:
    tenant = own_service.tenant()
    key: Key = tenant.key()
    stored_endpoint(tenant, "ticket.created")
    own_service.settle()
    own_service.refuse_rows("deliveries")
    record(tenant, "ticket.created")
    wait_until(lambda: len(key.get(f"{EVENTS}?type=ticket.created").json()["data"]) == 1)
    assert deliveries(tenant) == []
    own_service.take_rows("deliveries")
    own_service.settle()
    assert len(deliveries(tenant)) == 1


def test_events_of_a_tenant_without_endpoints_are_skipped(service: Service, tenant: Tenant) -> None:
    record(tenant, "ticket.created", 3)
    service.settle()
    stored_endpoint(tenant, "ticket.created")
    record(tenant, "ticket.created")
    service.settle()
    assert len(deliveries(tenant)) == 1


@POSTGRESQL_ONLY
def test_a_worker_delivers_what_another_has_placed(service: Service, tenant: Tenant) -> None:
    stored_endpoint(tenant, "ticket.created")
    with unplaced():  # by the worker of the service

        async def place_and_die(state: AppState) -> int:
            return await state.database.write(lambda tx: sequencer.place_pending(tx, 200))

        record(tenant, "ticket.created")
        assert service.in_background(place_and_die) > 0
        service.settle()
    assert len(deliveries(tenant)) == 1


@pytest.mark.usefixtures("fast_failures")
def test_an_endpoint_receives_no_event_from_before_its_activation_however_late_the_fan_out_is(
    own_service: Service,
) -> None:
    tenant = own_service.tenant()
    key: Key = tenant.key()
    old = stored_endpoint(tenant, "ticket.created").id
    paused = stored_endpoint(tenant, "ticket.created", is_active=False).id
    own_service.settle()
    own_service.refuse_rows("deliveries")
    record(tenant, "ticket.created")
    wait_until(lambda: len(key.get(f"{EVENTS}?type=ticket.created").json()["data"]) == 1)
    new = stored_endpoint(tenant, "ticket.created").id
    now_us = own_service.clock.now_us()
    own_service.write(lambda tx: endpoint_store.resume(tx, tenant.id, paused, now_us))
    own_service.take_rows("deliveries")
    own_service.settle()
    assert [endpoint for endpoint, _ in deliveries(tenant)] == [old]
    record(tenant, "ticket.created")
    own_service.settle()
    assert sorted(endpoint for endpoint, _ in deliveries(tenant)[1:]) == sorted([old, paused, new])
