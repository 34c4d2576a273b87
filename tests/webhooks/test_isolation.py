"""Endpoints that hang or fail do not delay others."""

import time
from collections.abc import Iterator

import pytest

from sealdesk.http_client import client
from tests.support.receiver import Receiver, receiving
from tests.support.service import Service, Tenant, wait_until
from tests.webhooks.factories import made, record_events


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """A receiver that does not respond during a test, and that is waited for as long."""
    monkeypatch.setattr(client, "TOTAL_S", 600.0)
    with receiving() as receiver:
        goes_on = receiver.holds(10_000)
        yield receiver
        goes_on.set()


def test_endpoints_that_hang_do_not_delay_one_that_answers(
    service: Service, tenant: Tenant, receiver: Receiver, slow: Receiver
) -> None:
    for _ in range(5):
        made(tenant.admin(), slow)
    record_events(tenant, 10)
    wait_until(lambda: len(slow.got) >= 40)  # eight to each of them
    other = service.tenant()
    made(other.admin(), receiver)
    for count in range(1, 6):
        record_events(other, 1)
        receiver.wait(count)
    assert len(slow.got) == 40  # all of them hang still


def test_hanging_endpoint_has_at_most_eight_requests(tenant: Tenant, slow: Receiver) -> None:
    made(tenant.admin(), slow)
    record_events(tenant, 30)
    slow.wait(8)
    time.sleep(0.3)
    assert len(slow.got) == 8


def test_hanging_endpoints_of_a_tenant_leave_requests_to_other_tenants(
    service: Service, tenant: Tenant, slow: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sealdesk.webhooks.delivery.deliverer._MANY_OF_TENANT", 10)
    monkeypatch.setattr("sealdesk.webhooks.delivery.deliverer._MANY_REQUESTS", 20)
    for _ in range(3):
        made(tenant.admin(), slow)
    record_events(tenant, 10)
    slow.wait(10)
    other = service.tenant()
    with receiving() as receiver:
        goes_on = receiver.holds(8)
        made(other.admin(), receiver)
        record_events(other, 10)
        receiver.wait(8)
        goes_on.set()
    assert len(slow.got) <= 12  # one to each endpoint even above the limit


def test_failing_endpoints_do_not_use_the_slots_of_others(
    service: Service, receiver: Receiver, slow: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sealdesk.webhooks.delivery.deliverer._MAX_HEALTHY", 1)
    monkeypatch.setattr("sealdesk.webhooks.delivery.deliverer._MAX_FAILING", 1)
    failing, other = service.tenant(), service.tenant()
    for _ in range(3):
        made(failing.admin(), slow)
    since = service.clock.now_us()
    service.run(f"UPDATE endpoints SET failing_since = {since} WHERE tenant_id = '{failing.id}'")
    made(other.admin(), receiver)
    record_events(failing, 10)
    slow.wait(1)
    record_events(other, 1)
    receiver.wait(1)
    assert len(slow.got) <= 3  # one to each endpoint
