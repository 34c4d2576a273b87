"""The limit of a tenant: what all its keys share, and what counts as work (decision 0030)."""

import asyncio
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import httpx
import pytest

from sealdesk.rate_limits import limiter
from sealdesk.web import application
from tests.support.client import Key
from tests.support.pages import logged_in
from tests.support.service import Service, wait_until

TICKETS = "/api/v1/external/tickets"
WHOAMI = "/api/v1/external/whoami"
KEYS = "/api/v1/api-keys"
UNITS = 1000  # of 10 s
NO_INDEX = "?status=open&tag=none"


@pytest.fixture
def still(start: Callable[..., Service], monkeypatch: pytest.MonkeyPatch) -> Service:
    """A service with the lowest limit, whose clock stands still until it is advanced.

    It refuses without a delay, and paces nobody.
    """
    monkeypatch.setattr(application, "_REFUSAL_DELAY_S", 0)
    monkeypatch.setattr(limiter, "_MAX_WAIT_S", 0)
    service = start(SEALDESK_TENANT_LIMIT=str(6 * UNITS))
    service.clock.stop()
    return service


def left(response: httpx.Response) -> int:
    """The units of the tenant that are left."""
    found = re.search(r'"tenant";r=(\d+)', response.headers["ratelimit"])
    assert found is not None
    return int(found[1])


def work(key: Key) -> httpx.Response:
    """A refused request of 64 units and one."""
    return key.call("POST", TICKETS, content=b'"' + b"x" * (1024 * 1024 - 2) + b'"')


def exhaust(key: Key) -> None:
    for _ in range(UNITS // 65 + 1):
        assert work(key).status_code == 422
    assert key.get(WHOAMI).status_code == 429


def units(key: Key, send: Callable[[], httpx.Response]) -> int:
    """What the tenant is charged for a request, whose effect the next response shows."""
    before = left(key.get(WHOAMI))
    assert send().status_code in (200, 201, 422)
    return before - left(key.get(WHOAMI)) - 1


def test_all_keys_of_a_tenant_share_its_limit_and_no_other_tenant_does(still: Service) -> None:
    tenant, other = still.tenant(), still.tenant()
    one, two = tenant.key(), tenant.key()
    exhaust(one)
    refused = two.get(WHOAMI)
    assert (refused.status_code, refused.json()["code"]) == (429, "tenant_rate_limit_exceeded")
    assert left(refused) == 0
    assert other.key().get(WHOAMI).status_code == 200


def test_a_refusal_of_the_tenant_is_delayed_and_other_responses_are_not(
    still: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant, is_over = still.tenant(), threading.Event()
    exhaust(tenant.key())

    slept_s: list[float] = []

    async def sleep(for_s: float) -> None:
        slept_s.append(for_s)
        while not is_over.is_set():  # noqa: ASYNC110 - of another event loop
            await asyncio.sleep(0.01)

    monkeypatch.setattr(application, "asyncio", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(application, "_REFUSAL_DELAY_S", 0.5)
    with ThreadPoolExecutor(1) as pool:
        refused = pool.submit(tenant.key().get, WHOAMI)
        wait_until(lambda: len(slept_s) == 1)
        assert still.tenant().key().get(WHOAMI).status_code == 200
        assert not refused.done()
        is_over.set()
        assert refused.result().status_code == 429
    assert 0.5 <= slept_s[0] <= 1


def test_a_tenants_budget_refills_evenly_and_retry_after_says_when(still: Service) -> None:
    key = still.tenant().key()
    exhaust(key)
    wait_s = int(key.get(WHOAMI).headers["retry-after"])
    # 16 requests of 65 units: 40 more than the budget, of which 100 return in a second.
    assert wait_s == 1
    still.clock.advance(wait_s)
    accepted = sum(key.get(WHOAMI).status_code == 200 for _ in range(100))
    assert accepted == 60


def test_both_policies_are_in_the_headers(still: Service) -> None:
    response = still.tenant().key(rate_limit=60).get(WHOAMI)
    assert response.headers["ratelimit-policy"] == '"key";q=60;w=60, "tenant";q=1000;w=10'
    assert response.headers["ratelimit"] == '"key";r=59;t=1, "tenant";r=999;t=1'


def test_a_request_is_one_unit_and_a_write_another(still: Service) -> None:
    key = still.tenant().key()
    assert units(key, lambda: key.get(WHOAMI)) == 1
    new = {"email": "ada@example.test"}
    assert units(key, lambda: key.post("/api/v1/external/customers", new)) == 2


def test_received_and_sent_bytes_are_a_unit_for_16_kib(still: Service) -> None:
    key = still.tenant().key()
    assert units(key, lambda: work(key)) == 1 + 64
    new = {"subject": "S", "description": "D" * 64_000, "customer": {"email": "a@example.test"}}
    made = key.post(TICKETS, new).json()["data"]
    assert units(key, lambda: key.get(f"{TICKETS}/{made['id']}")) == 1 + 3


def test_rendering_a_text_is_a_unit_for_100_steps(still: Service) -> None:
    key = still.tenant().key(rate_limit=None)
    ticket = f"{TICKETS}/{key.ticket(description='*a_ ' * 1500)['id']}"
    assert units(key, lambda: key.get(ticket)) == 1
    assert units(key, lambda: key.get(f"{ticket}?html=true")) > 50
    key.post(f"{ticket}/replies", {"body": "*a_ " * 1500})
    assert units(key, lambda: key.get(f"{ticket}/replies?html=true")) > 50


def test_a_list_without_an_index_is_50_units(still: Service) -> None:
    key = still.tenant().key()
    assert units(key, lambda: key.get(TICKETS + NO_INDEX)) == 1 + 50


def test_a_search_that_finds_nothing_is_two_reads_of_50_units_of_the_users(still: Service) -> None:
    tenant = still.tenant()
    visitor = logged_in(tenant)
    for _ in range(UNITS // 101 + 1):  # for the words, and for what was probably meant
        assert visitor.get("/tickets?q=printer").status == 200
    refused = visitor.get("/tickets")
    assert (refused.status, "Too many requests" in refused.text) == (429, True)
    assert tenant.key().get(WHOAMI).status_code == 200


def test_a_request_that_its_tenant_may_not_make_is_not_charged_to_the_key(still: Service) -> None:
    tenant = still.tenant()
    key = tenant.key(rate_limit=10)
    exhaust(tenant.key())
    refused = [key.get(WHOAMI) for _ in range(3)][-1]
    assert refused.headers["x-ratelimit-remaining"] == "10"


def test_requests_beyond_a_keys_limit_are_charged_to_its_tenant(still: Service) -> None:
    tenant = still.tenant()
    key = tenant.key(rate_limit=1)
    codes = [key.get(WHOAMI).status_code for _ in range(5)]
    assert codes == [200, 429, 429, 429, 429]
    assert left(tenant.key().get(WHOAMI)) == UNITS - 6


def test_an_invalid_signature_is_not_charged_to_the_tenant(still: Service) -> None:
    key = still.tenant().key()
    for _ in range(5):
        assert key.get(WHOAMI, x_api_signature="0" * 64).status_code == 401
    assert left(key.get(WHOAMI)) == UNITS - 1


def test_a_key_that_has_used_up_the_budget_can_still_be_revoked(still: Service) -> None:
    tenant = still.tenant()
    key, admin = tenant.key(), tenant.admin()
    exhaust(key)
    assert admin.delete(f"{KEYS}/{key.id}").status_code == 204
    assert key.get(WHOAMI).json()["code"] == "api_key_revoked"


def test_the_users_of_a_tenant_have_a_limit_too(still: Service) -> None:
    admin = still.tenant().admin()
    codes = [admin.post(KEYS, {"name": "x" * 1_000_000}).status_code for _ in range(17)]
    assert set(codes) == {422}
    refused = admin.get(KEYS)
    assert (refused.status_code, refused.json()["code"]) == (429, "tenant_rate_limit_exceeded")
    assert int(refused.headers["retry-after"]) >= 1


def test_a_busy_tenant_waits_and_another_does_not(
    still: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    async def sleep(for_s: float) -> None:
        waits.append(for_s)

    monkeypatch.setattr(limiter, "asyncio", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(limiter, "_MAX_WAIT_S", 5.0)
    busy, other = still.tenant().key(), still.tenant().key()
    assert work(busy).status_code == 422
    assert other.get(WHOAMI).status_code == 200
    assert waits == []
    assert busy.get(WHOAMI).status_code == 200
    assert len(waits) == 1
