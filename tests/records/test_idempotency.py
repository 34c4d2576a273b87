"""Idempotency-Key: a repeated POST is executed once (spec decision 10)."""

import inspect
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import sealdesk
from sealdesk.db.engine import Tx
from sealdesk.db.schema.retention import delete_expired
from sealdesk.routes import ROUTES
from tests.support.client import Key
from tests.support.databases import SQLITE_ONLY
from tests.support.service import Service, Tenant

TICKETS = "/api/v1/external/tickets"
CUSTOMERS = "/api/v1/external/customers"
NEW = {"subject": "s", "description": "d", "customer": {"email": "c@example.test"}}
RETENTION_S = 24 * 3600


def test_each_post_takes_the_key_as_documented() -> None:
    guide = (Path(sealdesk.__file__).parents[2] / "docs/api/idempotency.md").read_text()
    for route in ROUTES:
        if route.method != "POST" or "/external/" not in route.path or "/webhooks" in route.path:
            continue
        source = inspect.getsource(route.operation.handle)
        takes_it = "write_idempotently" in source or "_write_each" in source
        assert ("idempotency-key" in route.operation.headers) == takes_it, route.path
        assert takes_it or f"…/{route.path.rpartition('/')[2]}`" in guide, route.path


def send(key: Key, once: str, body: Any = NEW, target: str = TICKETS) -> httpx.Response:
    return key.post(target, body, idempotency_key=once)


def is_replayed(response: httpx.Response) -> bool:
    return "idempotent-replayed" in response.headers


@pytest.mark.parametrize(
    ("target", "body"),
    [(TICKETS, NEW), (CUSTOMERS, {"email": "a@example.test", "unknown": 1})],
)
def test_a_repeated_request_gets_the_first_response(key: Key, target: str, body: Any) -> None:
    first, second = send(key, "once", body, target), send(key, "once", body, target)
    assert not is_replayed(first)
    assert second.headers["idempotent-replayed"] == "true"
    assert (second.status_code, second.content) == (201, first.content)
    for name in ("location", "etag", "content-type", "x-warnings"):
        assert second.headers.get(name) == first.headers.get(name)
    assert len(key.walk(target)) == 1


def test_a_repeated_reply_is_written_once(key: Key) -> None:
    ticket = key.ticket()
    path = f"{TICKETS}/{ticket['id']}/replies"
    first, second = (send(key, "once", {"body": "Hello"}, path) for _ in range(2))
    assert (second.status_code, second.content) == (201, first.content)
    assert key.walk(path) == [first.json()["data"]]
    assert key.get(f"{TICKETS}/{ticket['id']}").json()["data"]["version"] == 2


def test_the_first_response_is_returned_even_after_a_change(key: Key) -> None:
    first = send(key, "once")
    key.patch(first.headers["location"], {"subject": "changed"})
    assert send(key, "once").content == first.content


def test_without_a_key_every_request_is_executed(key: Key) -> None:
    for _ in range(2):
        assert not is_replayed(key.post(TICKETS, NEW))
    assert len(key.walk(TICKETS)) == 2


def test_another_body_under_the_same_key_is_refused(key: Key) -> None:
    send(key, "once")
    response = send(key, "once", NEW | {"subject": "other"})
    assert (response.status_code, response.json()["code"]) == (422, "idempotency_key_reused")
    assert len(key.walk(TICKETS)) == 1


def test_the_body_is_compared_byte_for_byte(key: Key) -> None:
    headers = {"idempotency-key": "once"}
    key.call("POST", CUSTOMERS, content=b'{"email":"a@example.test"}', headers=headers)
    response = key.call("POST", CUSTOMERS, content=b'{"email": "a@example.test"}', headers=headers)
    assert response.json()["code"] == "idempotency_key_reused"


def test_another_idempotency_key_path_api_key_or_tenant_is_independent(
    key: Key, tenant: Tenant, service: Service
) -> None:
    body = {**NEW, "body": "b"}
    responses = [
        send(key, "once", body),
        send(key, "Once", body),
        send(key, "once", {"email": "a@example.test"}, CUSTOMERS),
        *(send(key, "once", body, f"{TICKETS}/{key.ticket()['id']}/replies") for _ in range(2)),
        send(tenant.key(), "once", body),
        send(service.tenant().key(), "once", body),
    ]
    assert [response.status_code for response in responses] == 7 * [201]
    assert not any(is_replayed(response) for response in responses)


def test_a_refused_request_can_be_corrected_and_sent_again_with_its_key(key: Key) -> None:
    key.customer("taken@example.test")
    for body, status in (
        ({"email": "taken@example.test"}, 409),
        ({"email": "nobody"}, 422),
        ({"email": "free@example.test"}, 201),
    ):
        response = send(key, "once", body, CUSTOMERS)
        assert (response.status_code, is_replayed(response)) == (status, False)


def test_a_refused_request_succeeds_after_the_conflict_is_resolved(key: Key) -> None:
    owner = key.customer("c@example.test")
    body = {"email": "c@example.test"}
    assert send(key, "once", body, CUSTOMERS).status_code == 409
    key.patch(f"{CUSTOMERS}/{owner['id']}", {"email": "other@example.test"})
    assert send(key, "once", body, CUSTOMERS).status_code == 201


def test_a_key_without_the_permission_gets_no_stored_response(tenant: Tenant, admin: Any) -> None:
    key = tenant.key()
    send(key, "once")
    admin.patch(f"/api/v1/api-keys/{key.id}", {"permissions": ["tickets:read"]})
    assert send(key, "once").status_code == 403


@pytest.mark.parametrize("after_s", [RETENTION_S - 1, RETENTION_S])
@pytest.mark.parametrize("is_pruned", [False, True])
def test_a_response_is_stored_for_24_hours(
    own_service: Service, after_s: int, is_pruned: bool
) -> None:
    own_service.clock.stop()
    key = own_service.tenant().key()
    send(key, "once")
    own_service.clock.advance(after_s)
    if is_pruned:
        now_us = own_service.clock.now_us()
        own_service.write(lambda tx: delete_expired(tx, now_us, 100))
    response = send(key, "once", NEW)
    assert response.status_code == 201
    assert is_replayed(response) == (after_s < RETENTION_S)
    assert len(key.walk(TICKETS)) == (1 if after_s < RETENTION_S else 2)


def test_after_24_hours_the_key_can_be_used_with_another_body(own_service: Service) -> None:
    key = own_service.tenant().key()
    send(key, "once")
    own_service.clock.advance(RETENTION_S)
    other = NEW | {"subject": "other"}
    first, second = send(key, "once", other), send(key, "once", other)
    assert (first.status_code, is_replayed(first), is_replayed(second)) == (201, False, True)


def test_eight_simultaneous_copies_are_executed_once(key: Key) -> None:
    with ThreadPoolExecutor(8) as pool:
        responses = list(pool.map(lambda _: send(key, "once"), range(8)))
    in_flight = [response for response in responses if response.status_code == 409]
    reported = [response for response in responses if response.status_code == 201]
    assert len(in_flight) + len(reported) == 8
    assert {a.json()["code"] for a in in_flight} <= {"idempotency_in_flight"}
    assert {a.headers["retry-after"] for a in in_flight} <= {"1"}
    assert {response.content for response in reported} == {reported[0].content}
    assert sum(not is_replayed(response) for response in reported) == 1
    assert is_replayed(send(key, "once"))
    assert key.walk(TICKETS) == [reported[0].json()["data"]]


@SQLITE_ONLY
def test_on_sqlite_copies_queue_and_get_the_stored_response(key: Key) -> None:
    with ThreadPoolExecutor(8) as pool:
        responses = list(pool.map(lambda _: send(key, "once"), range(8)))
    assert {response.status_code for response in responses} == {201}


@pytest.mark.parametrize("once", ["k", "x" * 255, "a b", "!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~"])
def test_a_key_is_1_to_255_printable_ascii_characters(key: Key, once: str) -> None:
    assert send(key, once).status_code == 201
    assert is_replayed(send(key, once))


@pytest.mark.parametrize("once", ["", "x" * 256, "a\tb", "ключ", "é"])
def test_any_other_key_is_refused(key: Key, once: str) -> None:
    headers = {"idempotency-key": once.encode().decode("latin-1")}  # as the client sends it
    response = key.call("POST", TICKETS, NEW, headers=headers)
    assert (response.status_code, response.json()["code"]) == (400, "invalid_header")
    assert key.walk(TICKETS) == []


def test_the_key_is_ignored_except_for_posts(key: Key) -> None:
    path = f"{TICKETS}/{key.ticket()['id']}"
    for subject in ("one", "two"):
        response = key.patch(path, {"subject": subject}, idempotency_key="once")
        assert (response.json()["data"]["subject"], is_replayed(response)) == (subject, False)


def test_a_change_is_rolled_back_when_its_response_cannot_be_stored(own_service: Service) -> None:
    key = own_service.tenant().key()

    async def count_events(tx: Tx) -> int:
        return len(await tx.fetch_all("SELECT 1 FROM events WHERE type LIKE 't%' LIMIT 9", {}))

    own_service.refuse_rows("idempotency")
    assert send(key, "once").status_code >= 500
    assert key.walk(TICKETS) == key.walk(CUSTOMERS) == []
    own_service.settle()
    assert own_service.read(count_events) == 0
    own_service.take_rows("idempotency")
    assert not is_replayed(send(key, "once"))
    own_service.settle()
    assert own_service.read(count_events) == 1
