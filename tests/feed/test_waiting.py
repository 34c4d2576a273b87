"""Requests that wait for an event: what ends the wait, and what it costs."""

import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import httpx
import pytest

from sealdesk import clock
from sealdesk.event_log import long_poll
from tests.support.client import Key, Person
from tests.support.databases import POSTGRESQL_ONLY, SQLITE_ONLY
from tests.support.feed import EVENTS, Feed, record
from tests.support.service import Service, Tenant, wait_until
from tests.support.wire import Wire

KEYS = "/api/v1/api-keys"
# An answer within it did not come because `wait=30` was over, however slow the machine is.
SOON_S = 15.0
PendingResponse = Future[httpx.Response]
StartRequest = Callable[..., PendingResponse]


@pytest.fixture
def feed(tenant: Tenant) -> Feed:
    return Feed(tenant)


@pytest.fixture
def start_request() -> Iterator[StartRequest]:
    """ask(key) begins a call in a thread of its own, and returns once it waits for an event."""
    with ThreadPoolExecutor(8) as pool:

        def begin(key: Key, query: str = "wait=30&start=latest") -> PendingResponse:
            before = waiting(key.service)
            response = pool.submit(key.get, f"{EVENTS}?{query}")
            wait_until(lambda: waiting(key.service) > before or response.done())
            return response

        yield begin


def waiting(service: Service) -> int:
    """How many requests are waiting in the service; each counts for its key and for its tenant."""
    return sum(list(service.state.long_poll._counts.values())) // 2


def types(response: PendingResponse) -> list[str]:
    return [event["type"] for event in response.result(SOON_S).json()["data"]]


def refusal(response: PendingResponse) -> tuple[int, str]:
    """The status and code of a refusal, which must come soon."""
    problem = response.result(SOON_S).json()
    return problem["status"], problem["code"]


def test_a_waiting_request_is_answered_when_there_is_an_event(
    key: Key, start_request: StartRequest, feed: Feed
) -> None:
    feed.recorded()
    response = start_request(key)
    time.sleep(0.3)
    assert not response.done()
    key.ticket()
    assert types(response) == ["customer.created", "ticket.created"]
    resume = response.result().json()["meta"]["resume_cursor"]
    assert feed.position_of(resume) == feed.last()


@SQLITE_ONLY
def test_a_commit_of_this_process_ends_the_wait_at_once(
    key: Key, start_request: StartRequest, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_poll, "POLL_EVERY_S", 3600.0)
    feed.recorded()
    response = start_request(key)
    key.customer("c@example.test")
    assert types(response) == ["customer.created"]


def test_existing_events_are_returned_without_waiting(key: Key, feed: Feed) -> None:
    key.ticket()
    feed.recorded()
    began_at = time.monotonic()
    assert len(key.get(f"{EVENTS}?wait=30").json()["data"]) == 2
    assert time.monotonic() - began_at < SOON_S


def test_a_request_without_an_event_is_answered_in_time(key: Key, feed: Feed) -> None:
    feed.recorded()
    before = key.get(EVENTS).json()
    began_at = time.monotonic()
    assert key.get(f"{EVENTS}?wait=1").json() == before
    assert 0.9 < time.monotonic() - began_at < SOON_S


def test_events_that_the_key_cannot_see_do_not_end_the_wait(
    tenant: Tenant, key: Key, start_request: StartRequest, feed: Feed
) -> None:
    feed.recorded()
    other = tenant.key(permissions=["customers:read"])
    feed.recorded()
    some, one = start_request(other), start_request(key, "wait=30&start=latest&type=reply.created")
    for kind in ("ticket.created", "api_key.created", "webhook.test"):
        record(tenant, kind)
    feed.recorded()
    time.sleep(2 * long_poll.POLL_EVERY_S)
    assert not some.done() and not one.done()
    for kind in ("customer.created", "reply.created"):
        record(tenant, kind)
    assert (types(some), types(one)) == (["customer.created"], ["reply.created"])
    # What went by meanwhile is behind the cursor.
    resume = some.result().json()["meta"]["resume_cursor"]
    (customer,) = [row for row in feed.recorded() if row["type"] == "customer.created"]
    assert feed.position_of(resume) in (customer["position"], feed.last())


def test_events_of_another_tenant_do_not_end_the_wait(
    service: Service, key: Key, start_request: StartRequest, feed: Feed
) -> None:
    feed.recorded()
    response = start_request(key)
    service.tenant().key().ticket()
    time.sleep(2 * long_poll.POLL_EVERY_S)
    assert not response.done()
    key.customer("c@example.test")
    assert types(response) == ["customer.created"]


def test_revoking_the_key_ends_the_wait(
    key: Key, admin: Person, start_request: StartRequest
) -> None:
    response = start_request(key)
    admin.delete(f"{KEYS}/{key.id}")
    assert refusal(response) == (401, "api_key_revoked")


def test_a_revoked_key_gets_no_events(
    tenant: Tenant, key: Key, admin: Person, start_request: StartRequest, feed: Feed
) -> None:
    feed.recorded()
    response = start_request(key)
    admin.delete(f"{KEYS}/{key.id}")
    tenant.key().ticket()
    assert refusal(response) == (401, "api_key_revoked")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"permissions": ["replies:write"]}, (403, "insufficient_permissions")),
        ({"allowed_ips": ["192.0.2.0/24"]}, (403, "ip_not_allowed")),
    ],
)
def test_removing_the_permission_ends_the_wait(
    key: Key,
    admin: Person,
    start_request: StartRequest,
    change: dict[str, object],
    expected: tuple[int, str],
) -> None:
    response = start_request(key)
    admin.patch(f"{KEYS}/{key.id}", change)
    assert refusal(response) == expected


def test_removing_the_permission_for_the_type_ends_the_wait(
    tenant: Tenant, key: Key, admin: Person, start_request: StartRequest
) -> None:
    response = start_request(key, "wait=30&start=latest&type=customer.created")
    admin.patch(f"{KEYS}/{key.id}", {"permissions": ["tickets:read"]})
    record(tenant, "customer.created")
    assert refusal(response) == (403, "insufficient_permissions")


def test_rotating_the_secret_ends_the_wait(
    key: Key, admin: Person, start_request: StartRequest
) -> None:
    response = start_request(key)
    admin.post(f"{KEYS}/{key.id}/rotate")
    assert refusal(response) == (401, "invalid_signature")


def test_the_expiry_of_the_key_ends_the_wait(
    own_service: Service, start_request: StartRequest
) -> None:
    soon = clock.iso(own_service.clock.now_us() + 60_000_000)
    response = start_request(own_service.tenant().key(expires_at=soon))
    own_service.clock.advance(61)
    assert refusal(response) == (401, "api_key_expired")


def test_a_shutdown_answers_waiting_requests(
    own_service: Service, start_request: StartRequest
) -> None:
    tenant = own_service.tenant()
    key = tenant.key()
    Feed(tenant).recorded()
    responses = [start_request(key) for _ in range(3)]
    began_at = time.monotonic()
    own_service._server.handle_exit(signal.SIGTERM, None)
    for response in responses:
        page = response.result(SOON_S)
        assert (page.status_code, page.json()["data"]) == (200, [])
        assert page.json()["meta"]["resume_cursor"]
        assert page.headers["connection"] == "close"
    own_service._thread.join(SOON_S)
    assert time.monotonic() - began_at < SOON_S
    assert own_service._server.aborted_count == 0


def test_a_disconnected_client_ends_the_wait(key: Key, feed: Feed) -> None:
    feed.recorded()
    target = f"{EVENTS}?wait=30&start=latest"
    before = waiting(key.service)
    with Wire(key.service) as wire:
        wire.head("GET", target, key.signature_headers("GET", target).items())
        wait_until(lambda: waiting(key.service) == before + 1)
    wait_until(lambda: waiting(key.service) == before, SOON_S)
    assert key.id not in key.service.state.long_poll._counts


def test_requests_above_the_limit_of_waiting_ones_are_answered_at_once(
    tenant: Tenant,
    key: Key,
    start_request: StartRequest,
    feed: Feed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(long_poll, "MAX_WAITERS", 2)
    feed.recorded()
    others = [start_request(key), start_request(key)]
    began_at = time.monotonic()
    page = key.get(f"{EVENTS}?wait=30&start=latest")
    assert (page.status_code, page.json()["data"]) == (200, [])
    assert time.monotonic() - began_at < SOON_S
    another = start_request(tenant.key())  # whose places are its own
    assert not another.done()
    record(tenant, "ticket.created")
    assert [types(response) for response in (*others, another)] == 3 * [["ticket.created"]]
    last = start_request(key)
    assert not last.done()
    record(tenant, "ticket.created")
    assert types(last) == ["ticket.created"]


def test_only_the_tenant_with_too_many_waiting_requests_is_refused(
    service: Service,
    tenant: Tenant,
    key: Key,
    start_request: StartRequest,
    feed: Feed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(long_poll, "MAX_WAITERS_OF_TENANT", 2)
    feed.recorded()
    pending = [start_request(key), start_request(tenant.key())]
    refused = tenant.key().get(f"{EVENTS}?wait=30&start=latest")
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_waiting_requests")
    assert int(refused.headers["retry-after"]) > 0
    assert tenant.key().get(f"{EVENTS}?start=latest").status_code == 200
    other = service.tenant()
    pending.append(start_request(other.key()))
    record(tenant, "ticket.created")
    record(other, "ticket.created")
    assert [types(response) for response in pending] == 3 * [["ticket.created"]]


@POSTGRESQL_ONLY
def test_waiting_requests_hold_no_connection(
    start: Callable[..., Service], start_request: StartRequest
) -> None:
    service = start(SEALDESK_DATABASE_CONNECTIONS="1")
    tenant = service.tenant()
    key = tenant.key()
    Feed(tenant).recorded()
    responses = [start_request(key) for _ in range(4)]
    for _ in range(10):
        assert key.get("/api/v1/external/whoami").status_code == 200
    record(tenant, "ticket.created")
    assert [types(response) for response in responses] == 4 * [["ticket.created"]]
