"""The sequencer gives every event its positions once, in order."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from sealdesk.db import deadline
from sealdesk.db.engine import Params, Row, Tx
from sealdesk.db.postgres.transaction import PostgresTx
from sealdesk.errors import BadRequest
from sealdesk.errors.requests import MISSING_BODY
from sealdesk.event_log import events, sequencer
from sealdesk.state import AppState
from sealdesk.worker import log_tasks
from sealdesk_citus import store, tenant_logs
from tests.support.databases import POSTGRESQL_ONLY
from tests.support.feed import unplaced
from tests.support.service import Service, Tenant, wait_until

CREATED: events.EventType = "ticket.created"
_PENDING = "SELECT id FROM event_outbox WHERE tenant_id = :id"
_WAITING = "SELECT pid FROM pg_locks WHERE NOT granted LIMIT 1"
# On a busy machine the second is seen late, or not; then both are placed one after the other.
_LOOKS = 50
_DEADLINE_S = 100.0
_LAST = "SELECT last_position FROM feed_positions WHERE tenant_id = :id"
_POSITIONS = "SELECT position, id, log_position FROM events WHERE tenant_id = :id ORDER BY id"


def record(tenant: Tenant, *kinds: events.EventType) -> None:
    """Record events in one transaction."""
    now_us = tenant.service.clock.now_us()

    async def work(tx: Tx) -> None:
        for kind in kinds:
            await events.record(tx, tenant.id, kind, b"{}", {}, now_us)

    tenant.service.write(work)


def placed(tenant: Tenant) -> list[Any]:
    """The positions of all events of a tenant in the order of their ids, once all have one."""

    def are_placed() -> bool:
        return not tenant.service.rows(_PENDING, id=tenant.id)

    wait_until(are_placed)
    return tenant.service.rows(_POSITIONS, id=tenant.id)


def test_positions_count_up_from_one_within_the_tenant(service: Service) -> None:
    tenants = [service.tenant() for _ in range(3)]
    for _ in range(4):
        for tenant in tenants:
            record(tenant, "ticket.created", "ticket.updated")
    for tenant in tenants:
        assert [row["position"] for row in placed(tenant)] == list(range(1, 9))


def test_positions_of_the_log_have_no_gaps_and_the_order_of_each_feed(
    own_service: Service,
) -> None:
    tenants = [own_service.tenant() for _ in range(3)]
    for _ in range(4):
        for tenant in tenants:
            record(tenant, "ticket.created", "ticket.updated")
    own_service.settle()
    rows = own_service.rows("SELECT tenant_id, position, log_position FROM events")
    assert sorted(row["log_position"] for row in rows) == list(range(1, len(rows) + 1))
    for tenant in tenants:
        of_tenant = [row for row in rows if row["tenant_id"] == tenant.id]
        of_tenant.sort(key=lambda row: row["position"])
        log_positions = [row["log_position"] for row in of_tenant]
        assert log_positions == sorted(log_positions)


def test_a_write_that_fails_leaves_no_gap(own_service: Service) -> None:
    tenant = own_service.tenant()

    async def fail(tx: Tx) -> None:
        await events.record(tx, tenant.id, CREATED, b"{}", {}, own_service.clock.now_us())
        raise BadRequest(MISSING_BODY)

    for _ in range(3):
        record(tenant, CREATED)
        with pytest.raises(BadRequest):
            own_service.write(fail)
    assert [row["position"] for row in placed(tenant)] == [1, 2, 3]
    rows = own_service.rows("SELECT log_position FROM events ORDER BY log_position")
    assert [row["log_position"] for row in rows] == list(range(1, len(rows) + 1))


@POSTGRESQL_ONLY
def test_several_sequencers_at_once_place_everything_once(service: Service, tenant: Tenant) -> None:
    for _ in range(20):
        record(tenant, *[CREATED] * 5)

        async def four_times(state: Any) -> None:
            await asyncio.gather(*(log_tasks.sequence(state) for _ in range(4)))

        service.in_background(four_times)
    assert [row["position"] for row in placed(tenant)] == list(range(1, 101))


@POSTGRESQL_ONLY
def test_sequencers_whose_named_locks_hold_on_one_node_only_place_everything_once_in_order(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def take(*_: object) -> bool:
        return True

    monkeypatch.setattr(PostgresTx, "try_lock", take)
    monkeypatch.setattr(log_tasks, "_BATCH_EVENTS", 0)  # the loop's own sequencer places nothing
    tenants = [own_service.tenant() for _ in range(3)]
    for tenant in tenants:
        record(tenant, *[CREATED] * 40)

    async def both(state: AppState) -> None:
        is_placed, is_waiting = asyncio.Event(), asyncio.Event()

        async def first(tx: Tx) -> None:
            await sequencer.place_pending(tx, 50)
            is_placed.set()
            await is_waiting.wait()

        async def second(tx: Tx) -> None:
            await is_placed.wait()
            await sequencer.place_pending(tx, 200)

        async def watch() -> None:
            for _ in range(_LOOKS):
                if await state.database.read(lambda tx: tx.fetch_one(_WAITING, {})):
                    break
            is_waiting.set()

        write = state.database.write
        deadline.deadline.set(deadline.Deadline(total_s=_DEADLINE_S))
        await asyncio.gather(write(first), write(second), watch())

    own_service.in_background(both)
    for tenant in tenants:
        assert [row["position"] for row in placed(tenant)] == list(range(1, 41))
    rows = own_service.rows("SELECT log_position FROM events ORDER BY log_position")
    assert [row["log_position"] for row in rows] == list(range(1, len(rows) + 1))


@POSTGRESQL_ONLY
def test_tenants_with_few_events_do_not_wait_for_one_with_many(own_service: Service) -> None:
    busy, *quiet = [own_service.tenant() for _ in range(3)]
    with unplaced():
        record(busy, *[CREATED] * 500)
        for tenant in quiet:
            record(tenant, CREATED, CREATED)
        placed_count = own_service.write(lambda tx: sequencer.place_pending(tx, 200))
        rows = own_service.rows("SELECT tenant_id FROM events")
    of_each = Counter(row["tenant_id"] for row in rows)
    assert placed_count == 200
    assert of_each == {busy.id: 196, quiet[0].id: 2, quiet[1].id: 2}


@POSTGRESQL_ONLY
def test_several_sequencers_of_a_tenant_at_once_place_everything_once(own_service: Service) -> None:
    tenants = [own_service.tenant() for _ in range(2)]

    async def twice(state: AppState) -> None:
        both = [tenant_logs.place_of(state, tenant.id) for tenant in tenants * 2]
        await asyncio.gather(*both)

    with unplaced():
        for _ in range(20):
            for tenant in tenants:
                record(tenant, *[CREATED] * 5)
            own_service.in_background(twice)
        for tenant in tenants:
            own_service.in_background(partial(tenant_logs.place_of, tenant_id=tenant.id))
    for tenant in tenants:
        assert _of_feed(tenant) == list(range(1, 101))


@POSTGRESQL_ONLY
def test_a_sequencer_does_not_wait_for_another_one_of_the_tenant(
    own_service: Service,
) -> None:
    tenant = own_service.tenant()

    async def both(state: AppState) -> int:
        async def first(tx: Tx) -> int:
            await store.place_pending_of(tx, tenant.id, 200)
            return await tenant_logs.place_of(state, tenant.id)  # fails if it has to wait

        return await state.database.write(first)

    with unplaced():
        record(tenant, CREATED)
        own_service.in_background(partial(tenant_logs.place_of, tenant_id=tenant.id))
        record(tenant, *[CREATED] * 5)
        assert own_service.in_background(both) == 0
    assert _of_feed(tenant) == list(range(1, 7))


@POSTGRESQL_ONLY
def test_a_sequencer_sees_what_another_one_placed_just_before_its_lock(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = own_service.tenant()
    lock = PostgresTx.select_for_update
    others: list[int] = []

    async def second_step(state: AppState) -> int:
        async def late(tx: PostgresTx, sql: str, params: Params) -> Sequence[Row]:
            if sql != store._LAST_OF:  # webhooks and e-mail lock rows meanwhile
                return await lock(tx, sql, params)
            monkeypatch.setattr(PostgresTx, "select_for_update", lock)
            others.append(await tenant_logs.place_of(state, tenant.id))
            return await lock(tx, sql, params)

        monkeypatch.setattr(PostgresTx, "select_for_update", late)
        return await tenant_logs.place_of(state, tenant.id)

    with unplaced():
        record(tenant, CREATED)
        own_service.in_background(partial(tenant_logs.place_of, tenant_id=tenant.id))
        record(tenant, *[CREATED] * 5)
        assert own_service.in_background(second_step) == 0
    assert others == [5]
    assert _of_feed(tenant) == list(range(1, 7))


def _of_feed(tenant: Tenant) -> list[int]:
    """The positions of a feed, which end where the next event goes on."""
    feed = [row["position"] for row in placed(tenant)]
    ((last,),) = [tuple(row.values()) for row in tenant.service.rows(_LAST, id=tenant.id)]
    assert last == len(feed)
    return feed
