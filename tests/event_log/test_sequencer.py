"""Sequencing: every event gets its place once, in order, together with its deliveries."""

import asyncio
from typing import Any

import pytest

from sealdesk.db.engine import Tx
from sealdesk.event_log import events
from sealdesk.worker import sequencer
from tests.support.service import Service, Tenant, wait_until
from tests.webhooks.stored import stored_endpoint

CREATED: events.EventType = "ticket.created"


def record(tenant: Tenant, *kinds: events.EventType) -> None:
    """Events, one after the other, in one transaction."""
    now_us = tenant.service.clock.now_us()

    async def work(tx: Tx) -> None:
        for kind in kinds:
            await events.record(tx, tenant.id, kind, b"{}", {}, now_us)

    tenant.service.write(work)


def until_placed(tenant: Tenant) -> list[tuple[int, str]]:
    """(position, id) of all events of a tenant, in the order of their ids."""
    sql = "SELECT position, id FROM events WHERE tenant_id = :id ORDER BY id"
    rows: list[Any] = []

    def are_placed() -> bool:
        rows[:] = tenant.service.rows(sql, id=tenant.id)
        return bool(rows) and None not in {row["position"] for row in rows}

    wait_until(are_placed)
    return [(row["position"], row["id"]) for row in rows]


def deliveries(tenant: Tenant) -> list[tuple[str, str]]:
    """(endpoint, event type), in the order in which they were made."""
    sql = "SELECT endpoint_id, event_type FROM deliveries WHERE tenant_id = :id ORDER BY id"
    rows = tenant.service.rows(sql, id=tenant.id)
    return [(row["endpoint_id"], row["event_type"]) for row in rows]


def test_positions_count_up_from_one_within_the_tenant(service: Service) -> None:
    tenants = [service.tenant() for _ in range(3)]
    for _ in range(4):
        for tenant in tenants:
            record(tenant, "ticket.created", "ticket.updated")
    for tenant in tenants:
        assert [position for position, _ in until_placed(tenant)] == list(range(1, 9))


def test_an_event_is_handed_to_the_active_endpoints_that_want_it(
    service: Service, tenant: Tenant
) -> None:
    both = stored_endpoint(tenant, "ticket.created", "reply.created").id
    one = stored_endpoint(tenant, "reply.created").id
    stored_endpoint(tenant, "reply.created", is_active=False)
    stored_endpoint(service.tenant(), "reply.created")
    record(tenant, "ticket.created", "reply.created", "webhook.test", "customer.created")
    until_placed(tenant)
    assert sorted(deliveries(tenant)) == sorted(
        [(both, "ticket.created"), (both, "reply.created"), (one, "reply.created")]
    )


def test_much_is_handed_on_in_steps_and_in_order(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sequencer, "_STEP_DELIVERIES", 4)
    endpoints = {stored_endpoint(tenant, "ticket.created").id for _ in range(3)}
    record(tenant, *[CREATED] * 10)
    placed = until_placed(tenant)
    assert [position for position, _ in placed] == list(range(1, 11))
    sql = "SELECT event_id FROM deliveries WHERE tenant_id = :id AND endpoint_id = :of ORDER BY id"
    for endpoint_id in endpoints:
        rows = tenant.service.rows(sql, id=tenant.id, of=endpoint_id)
        assert [row["event_id"] for row in rows] == [event_id for _, event_id in placed]


def test_no_event_has_a_place_without_its_deliveries(own_service: Service) -> None:
    tenant = own_service.tenant()
    stored_endpoint(tenant, "ticket.created")
    own_service.refuse_rows("deliveries")
    record(tenant, "ticket.created")
    with pytest.raises(Exception, match="no"):
        own_service.in_background(sequencer.sequence)
    sql = "SELECT position FROM events WHERE tenant_id = :id"
    assert own_service.rows(sql, id=tenant.id)[0]["position"] is None
    own_service.take_rows("deliveries")
    until_placed(tenant)
    assert len(deliveries(tenant)) == 1


def test_several_sequencers_at_once_place_everything_once(service: Service, tenant: Tenant) -> None:
    stored_endpoint(tenant, "ticket.created")
    for _ in range(20):
        record(tenant, *[CREATED] * 5)

        async def four_times(shared: Any) -> None:
            await asyncio.gather(*(sequencer.sequence(shared) for _ in range(4)))

        service.in_background(four_times)
    assert [position for position, _ in until_placed(tenant)] == list(range(1, 101))
    assert len(deliveries(tenant)) == 100
