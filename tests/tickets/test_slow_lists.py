"""Lists that no index serves block no other request and take at most 2 s (spec decision 9)."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from sealdesk.db import fairness
from tests.support.client import Key
from tests.support.service import Service, Tenant, wait_until
from tests.support.slow_lists import UNSERVED, never_end

TICKETS = "/api/v1/external/tickets"


@pytest.fixture
def slow_key(tenant: Tenant, key: Key, monkeypatch: pytest.MonkeyPatch) -> Key:
    """A key whose lists without an index never finish, as with very many tickets."""
    never_end(tenant, monkeypatch)
    return key


def test_a_slow_query_is_cancelled_and_others_continue(slow_key: Key) -> None:
    began = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(slow_key.get, UNSERVED)
        served = 0
        while not slow.done():
            slow_key.ticket()
            assert slow_key.get(f"{TICKETS}?status=open").status_code == 200
            served += 1
    response = slow.result()
    assert (response.status_code, response.json()["code"]) == (503, "query_too_slow")
    assert int(response.headers["retry-after"]) > 0
    assert fairness.SLOW_READ_LIMIT_S == 2
    assert time.monotonic() - began > 1.95
    assert served > 1  # one that had to wait would have been the only one


def test_slow_queries_of_one_tenant_refuse_none_of_another(
    service: Service, slow_key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fairness, "SLOW_READ_LIMIT_S", 0.3)
    other = service.tenant().key()
    other.ticket(priority="low")
    refused: list[httpx.Response] = []
    is_over = threading.Event()

    def flood() -> None:
        while not is_over.is_set():
            response = slow_key.get(UNSERVED)
            assert (response.status_code, response.json()["code"]) == (503, "query_too_slow")
            if "waiting" in response.json()["detail"]:
                refused.append(response)
                time.sleep(0.02)  # leaves the processor to the others

    with ThreadPoolExecutor(12) as pool:
        floods = [pool.submit(flood) for _ in range(12)]
        wait_until(lambda: len(refused) > 0)
        answers = [other.get(UNSERVED) for _ in range(15)]
        is_over.set()
    assert [answer.status_code for answer in answers] == [200] * 15
    assert all(int(response.headers["retry-after"]) > 0 for response in refused)
    assert [each.result() for each in floods] == [None] * 12
