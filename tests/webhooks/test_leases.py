"""Leases: several workers share the deliveries, and the end of one loses none."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sealdesk.db.engine import Tx
from sealdesk.db.factory import open_database
from sealdesk.http_client import client
from sealdesk.webhooks.delivery import deliverer
from sealdesk.webhooks.store import deliveries as delivery_store
from sealdesk.webhooks.store import endpoints as endpoint_store
from sealdesk.webhooks.store import fan_out
from sealdesk.webhooks.store.fan_out import NewDelivery
from sealdesk.worker import loop
from tests.support.databases import POSTGRESQL_ONLY, SQLITE_ONLY, Kind, Template
from tests.support.receiver import LOOPBACK, Receiver
from tests.support.service import Service, Tenant, running, wait_until
from tests.webhooks.factories import WEBHOOKS, made, record_events

FAR = 2**62
Begin = Callable[[], AbstractContextManager[Service]]


@pytest.fixture
def installation(kind: Kind, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Begin]:
    """Starts services on one database, one after the other."""
    directory = tmp_path / "data"
    if kind == "sqlite":
        yield partial(running, directory, request.getfixturevalue("template"), **LOOPBACK)
        return
    template: Template = request.getfixturevalue("postgres_template")
    with template.copied() as urls:
        yield partial(running, directory, **urls, **LOOPBACK)


def leased_until(tenant: Tenant, until: int | str) -> None:
    sql = f"UPDATE endpoints SET leased_until = {until} WHERE tenant_id = '{tenant.id}'"
    tenant.service.run(sql)


def are_all_done(tenant: Tenant, count: int) -> bool:
    sql = "SELECT status, count(*) FROM deliveries WHERE tenant_id = :id GROUP BY status"
    rows = tenant.service.rows(sql, id=tenant.id)
    return [tuple(row) for row in rows] == [("succeeded", count)]


@contextmanager
def another_worker(service: Service) -> Iterator[None]:
    """A second `sealdesk worker` beside the first."""

    async def run() -> None:
        url = service.settings.worker_database_url
        database = open_database(service.settings, name="second", url=url)
        try:
            await loop.run(msgspec.structs.replace(service.state, database=database))
        finally:
            await database.close()

    running = asyncio.run_coroutine_threadsafe(run(), service._loop)
    try:
        yield
    finally:
        running.cancel()


@POSTGRESQL_ONLY
def test_two_workers_send_each_delivery_once(
    service: Service, tenant: Tenant, receiver: Receiver
) -> None:
    receiver.answers(after_s=0.02)
    endpoints = [made(tenant.admin(), receiver) for _ in range(4)]
    with another_worker(service):
        for _ in range(5):
            record_events(tenant, 10)
        wait_until(lambda: are_all_done(tenant, 4 * 50))
    of_each = Counter(got.webhook_id for got in receiver.got)
    assert {*of_each.values()} == {len(endpoints)}


def test_lease_of_another_process_is_respected_until_it_expires(
    timed_service: Service, receiver: Receiver
) -> None:
    tenant = timed_service.tenant()
    made(tenant.admin(), receiver)
    leased_until(tenant, timed_service.clock.now_us() + 3600 * 1_000_000)
    record_events(tenant, 1)
    sees_one = "SELECT 1 FROM deliveries WHERE tenant_id = :id LIMIT 1"
    wait_until(lambda: bool(timed_service.rows(sees_one, id=tenant.id)))
    other = timed_service.tenant()
    made(other.admin(), receiver)
    record_events(other, 1)
    wait_until(lambda: are_all_done(other, 1))
    assert len(receiver.got) == 1
    timed_service.clock.advance(3601)
    receiver.wait(2)


def test_lease_is_renewed_while_a_receiver_is_slow(
    timed_service: Service, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliverer, "RENEW_EVERY_S", 0.1)
    monkeypatch.setattr(client, "TOTAL_S", 600.0)
    tenant = timed_service.tenant()
    made(tenant.admin(), receiver)
    goes_on = receiver.holds(1)
    record_events(tenant, 1)
    receiver.wait(1)
    before = _lease(tenant)
    # Later than the first expiry, so the test need not wait for it.
    wait_until(lambda: _lease(tenant) > before + deliverer.LEASE_US / 10)
    goes_on.set()
    wait_until(lambda: are_all_done(tenant, 1))
    assert len(receiver.got) == 1


def _lease(tenant: Tenant) -> Any:
    sql = "SELECT leased_until FROM endpoints WHERE tenant_id = :id LIMIT 1"
    return tenant.service.rows(sql, id=tenant.id)[0]["leased_until"]


class Late:
    """A transaction during which another one commits, after its first read.

    As with any that runs on another host.
    """

    def __init__(self, tx: Tx, then: Callable[[], Any]) -> None:
        self._tx = tx
        self._then = then

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    async def fetch_one(self, sql: str, params: Any) -> Any:
        row = await self._tx.fetch_one(sql, params)
        await self._then()
        return row


def test_redelivery_during_an_attempt_is_not_sent_concurrently(
    service: Service, tenant: Tenant, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliverer, "RENEW_EVERY_S", 0.1)  # and looks for more then
    monkeypatch.setattr(client, "TOTAL_S", 600.0)
    admin = tenant.admin()
    path = f"{WEBHOOKS}/{made(admin, receiver)['id']}/deliveries"
    goes_on = receiver.holds(3)
    record_events(tenant, 3)
    receiver.wait(3)
    for delivery in admin.get(path).json()["data"]:
        assert admin.post(f"{path}/{delivery['id']}/redeliver").status_code == 202
    record_events(tenant, 1)
    receiver.wait(4)
    time.sleep(0.3)  # in which more is looked for several times
    goes_on.set()
    wait_until(lambda: are_all_done(tenant, 4))
    assert len({got.webhook_id for got in receiver.got}) == len(receiver.got) == 4


@POSTGRESQL_ONLY
def test_delivery_added_during_the_release_is_sent(
    service: Service, tenant: Tenant, receiver: Receiver
) -> None:
    endpoint_id = made(tenant.admin(), receiver, events=["customer.created"])["id"]
    leased_until(tenant, FAR)
    record_events(tenant, 1)
    service.settle()
    event_id = service.rows("SELECT id FROM events WHERE tenant_id = :id", id=tenant.id)[0]["id"]
    endpoint = service.read(lambda tx: endpoint_store.find(tx, tenant.id, endpoint_id))
    assert endpoint is not None
    now_us = service.clock.now_us()
    times = iter([True])

    async def more_comes() -> None:
        new = NewDelivery(tenant.id, endpoint_id, event_id, "ticket.created")
        if next(times, False):
            await service._doors.write(lambda tx: fan_out.add(tx, [new], now_us))

    async def let_go(tx: Tx) -> bool:
        late: Any = Late(tx, more_comes)
        return await delivery_store.release(late, endpoint, FAR, now_us, waits_us=0, at_once=True)

    assert service.write(let_go)
    receiver.wait(1)


@SQLITE_ONLY
def test_leases_of_a_killed_server_end_at_the_next_start(
    installation: Begin, receiver: Receiver
) -> None:
    with installation() as service:
        tenant = service.tenant()
        made(tenant.admin(), receiver)
        leased_until(tenant, FAR)
        record_events(tenant, 1)
    with installation():
        receiver.wait(1)


def test_shutdown_waits_for_requests_in_flight_and_stores_them(
    installation: Begin, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliverer, "END_S", 60.0)
    receiver.answers(after_s=0.5)
    with installation() as service:
        tenant = service.tenant()
        made(tenant.admin(), receiver)
        record_events(tenant, 3)
        receiver.wait(3)
    with installation() as service:
        tenant.service = service
        wait_until(lambda: are_all_done(tenant, 3))
    assert len(receiver.got) == 3


def test_request_cancelled_at_shutdown_is_sent_by_the_next_process_at_once(
    installation: Begin, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliverer, "END_S", 0.2)
    monkeypatch.setattr(deliverer, "LEASE_US", 600_000_000)
    receiver.holds(1)
    with installation() as service:
        tenant = service.tenant()
        made(tenant.admin(), receiver)
        record_events(tenant, 1)
        receiver.wait(1)
    with installation() as service:
        tenant.service = service
        wait_until(lambda: are_all_done(tenant, 1))
    assert len(receiver.got) == 2
