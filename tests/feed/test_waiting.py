"""Calls that wait for an event: what ends them, and what they cost meanwhile."""

import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import httpx
import pytest

from sealdesk import clock
from sealdesk.event_log import long_poll
from tests.support.client import Key, Person
from tests.support.databases import POSTGRESQL_ONLY
from tests.support.feed import EVENTS, Feed, record
from tests.support.service import Service, Tenant, wait_until
from tests.support.wire import Wire

KEYS = "/api/v1/api-keys"
# An answer within it did not come because `wait=30` was over, however slow the machine is.
SOON_S = 15.0
Answer = Future[httpx.Response]
Ask = Callable[..., Answer]


@pytest.fixture
def feed(tenant: Tenant) -> Feed:
    return Feed(tenant)


@pytest.fixture
def ask() -> Iterator[Ask]:
    """ask(key) begins a call in a thread of its own, and returns once it waits for an event."""
    with ThreadPoolExecutor(8) as pool:

        def begin(key: Key, query: str = "wait=30&start=latest") -> Answer:
            before = waiting(key.service)
            answer = pool.submit(key.get, f"{EVENTS}?{query}")
            wait_until(lambda: waiting(key.service) > before or answer.done())
            return answer

        yield begin


def waiting(service: Service) -> int:
    """How many calls wait in the service."""
    return sum(map(len, list(service.state.long_poll._waiting.values())))


def types(answer: Answer) -> list[str]:
    return [event["type"] for event in answer.result(SOON_S).json()["data"]]


def refusal(answer: Answer) -> tuple[int, str]:
    """The refusal of a call, which must come soon."""
    problem = answer.result(SOON_S).json()
    return problem["status"], problem["code"]


def test_a_waiting_call_is_answered_when_something_happens(key: Key, ask: Ask, feed: Feed) -> None:
    feed.recorded()
    answer = ask(key)
    time.sleep(0.3)
    assert not answer.done()
    key.ticket()
    assert types(answer) == ["customer.created", "ticket.created"]
    resume = answer.result().json()["meta"]["resume_cursor"]
    assert feed.position_of(resume) == feed.last()


def test_what_is_there_already_is_not_waited_for(key: Key, feed: Feed) -> None:
    key.ticket()
    feed.recorded()
    began_at = time.monotonic()
    assert len(key.get(f"{EVENTS}?wait=30").json()["data"]) == 2
    assert time.monotonic() - began_at < SOON_S


def test_a_call_that_waited_in_vain_is_answered_in_time(key: Key, feed: Feed) -> None:
    feed.recorded()
    before = key.get(EVENTS).json()
    began_at = time.monotonic()
    assert key.get(f"{EVENTS}?wait=1").json() == before
    assert 0.9 < time.monotonic() - began_at < SOON_S


def test_what_the_key_does_not_see_ends_no_waiting(
    tenant: Tenant, key: Key, ask: Ask, feed: Feed
) -> None:
    feed.recorded()
    other = tenant.key(permissions=["customers:read"])
    feed.recorded()
    some, one = ask(other), ask(key, "wait=30&start=latest&type=reply.created")
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
    assert feed.position_of(resume) == feed.last()


def test_another_tenants_events_end_no_waiting(
    service: Service, key: Key, ask: Ask, feed: Feed
) -> None:
    feed.recorded()
    answer = ask(key)
    service.tenant().key().ticket()
    time.sleep(2 * long_poll.POLL_EVERY_S)
    assert not answer.done()
    key.customer("c@example.test")
    assert types(answer) == ["customer.created"]


def test_a_revoked_key_waits_no_longer(key: Key, admin: Person, ask: Ask) -> None:
    answer = ask(key)
    admin.delete(f"{KEYS}/{key.id}")
    assert refusal(answer) == (401, "api_key_revoked")


def test_a_revoked_key_is_not_told_what_happens(
    tenant: Tenant, key: Key, admin: Person, ask: Ask, feed: Feed
) -> None:
    feed.recorded()
    answer = ask(key)
    admin.delete(f"{KEYS}/{key.id}")
    tenant.key().ticket()
    assert refusal(answer) == (401, "api_key_revoked")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"permissions": ["replies:write"]}, (403, "insufficient_permissions")),
        ({"allowed_ips": ["192.0.2.0/24"]}, (403, "ip_not_allowed")),
    ],
)
def test_a_key_that_may_no_longer_waits_no_longer(
    key: Key, admin: Person, ask: Ask, change: dict[str, object], expected: tuple[int, str]
) -> None:
    answer = ask(key)
    admin.patch(f"{KEYS}/{key.id}", change)
    assert refusal(answer) == expected


def test_a_type_that_the_key_may_no_longer_see_is_waited_for_no_longer(
    tenant: Tenant, key: Key, admin: Person, ask: Ask
) -> None:
    answer = ask(key, "wait=30&start=latest&type=customer.created")
    admin.patch(f"{KEYS}/{key.id}", {"permissions": ["tickets:read"]})
    record(tenant, "customer.created")
    assert refusal(answer) == (403, "insufficient_permissions")


def test_an_old_secret_waits_no_longer(key: Key, admin: Person, ask: Ask) -> None:
    answer = ask(key)
    admin.post(f"{KEYS}/{key.id}/rotate")
    assert refusal(answer) == (401, "invalid_signature")


def test_an_expired_key_waits_no_longer(own_service: Service, ask: Ask) -> None:
    soon = clock.iso(own_service.clock.now_us() + 60_000_000)
    answer = ask(own_service.tenant().key(expires_at=soon))
    own_service.clock.advance(61)
    assert refusal(answer) == (401, "api_key_expired")


def test_a_service_that_ends_answers_who_waits(own_service: Service, ask: Ask) -> None:
    tenant = own_service.tenant()
    key = tenant.key()
    Feed(tenant).recorded()
    answers = [ask(key) for _ in range(3)]
    began_at = time.monotonic()
    own_service._server.handle_exit(signal.SIGTERM, None)
    for answer in answers:
        page = answer.result(SOON_S)
        assert (page.status_code, page.json()["data"]) == (200, [])
        assert page.json()["meta"]["resume_cursor"]
        assert page.headers["connection"] == "close"
    own_service._thread.join(SOON_S)
    assert time.monotonic() - began_at < SOON_S
    assert own_service._server.aborted_count == 0


def test_a_client_that_goes_away_is_served_no_longer(key: Key, feed: Feed) -> None:
    feed.recorded()
    target = f"{EVENTS}?wait=30&start=latest"
    before = waiting(key.service)
    with Wire(key.service) as wire:
        wire.head("GET", target, key.signature_headers("GET", target).items())
        wait_until(lambda: waiting(key.service) == before + 1)
    wait_until(lambda: waiting(key.service) == before, SOON_S)
    assert key.id not in key.service.state.long_poll._counts


def test_of_many_waiting_calls_of_a_key_the_rest_is_answered_at_once(
    tenant: Tenant, key: Key, ask: Ask, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_poll, "MAX_WAITERS", 2)
    feed.recorded()
    others = [ask(key), ask(key)]
    began_at = time.monotonic()
    page = key.get(f"{EVENTS}?wait=30&start=latest")
    assert (page.status_code, page.json()["data"]) == (200, [])
    assert time.monotonic() - began_at < SOON_S
    another = ask(tenant.key())  # whose places are its own
    assert not another.done()
    record(tenant, "ticket.created")
    assert [types(answer) for answer in (*others, another)] == 3 * [["ticket.created"]]
    last = ask(key)
    assert not last.done()
    record(tenant, "ticket.created")
    assert types(last) == ["ticket.created"]


@POSTGRESQL_ONLY
def test_waiting_calls_hold_no_connection(start: Callable[..., Service], ask: Ask) -> None:
    service = start(SEALDESK_DATABASE_CONNECTIONS="1")
    tenant = service.tenant()
    key = tenant.key()
    Feed(tenant).recorded()
    answers = [ask(key) for _ in range(4)]
    for _ in range(10):
        assert key.get("/api/v1/external/whoami").status_code == 200
    record(tenant, "ticket.created")
    assert [types(answer) for answer in answers] == 4 * [["ticket.created"]]
