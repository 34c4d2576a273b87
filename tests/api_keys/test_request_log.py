"""The request log: what keys have sent, as JSON and as a page."""

import logging

import pytest

from sealdesk import clock
from sealdesk.api_keys.request_log import recorder
from sealdesk.errors import ServiceUnavailable
from sealdesk.state import AppState
from sealdesk.telemetry import counters
from sealdesk.telemetry.counters import LoggedRequest, RequestBuffer, describe_target
from tests.support.client import Key, Person
from tests.support.for_each import for_each
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Visitor, logged_in
from tests.support.service import Service, Tenant

REQUESTS = "/api/v1/requests"
TICKETS = "/api/v1/external/tickets"
WHOAMI = "/api/v1/external/whoami"
_DAY_S = 24 * 3600


@pytest.fixture(scope="module")
def office(service: Service) -> Tenant:
    """A tenant that the tests of this file share."""
    return service.tenant()


@pytest.fixture(scope="module")
def admin(office: Tenant) -> Person:
    return office.admin()


@pytest.fixture
def key(office: Tenant) -> Key:
    return office.key()


@pytest.fixture(scope="module")
def desk_page(office: Tenant) -> Visitor:
    return logged_in(office)


def _written(key: Key) -> None:
    key.service.in_serving(recorder.write_requests)


def _logged(admin: Person, query: str) -> list[dict[str, object]]:
    answer = admin.get(f"{REQUESTS}?{query}")
    assert answer.status_code == 200, answer.text
    return list(answer.json()["data"])


def test_a_request_is_found_by_the_id_in_its_response(admin: Person, key: Key) -> None:
    answer = key.get(f"{TICKETS}?status=open")
    _written(key)
    found = admin.get(f"{REQUESTS}/{answer.headers['x-request-id']}").json()["data"]
    assert 0 < found.pop("cpu_ms") <= found.pop("duration_ms")
    requested_us = clock.parse_instant(found.pop("requested_at"))
    assert requested_us and 0 <= key.service.clock.now_us() - requested_us < 3600 * 1_000_000
    assert found == {
        "request_id": answer.headers["x-request-id"],
        "key_id": key.id,
        "method": "GET",
        "target": f"{TICKETS}?status=*",
        "status": 200,
        "response_bytes": len(answer.content),
    }


def test_neither_bodies_nor_values_of_queries_are_stored(admin: Person, key: Key) -> None:
    key.ticket(subject="Body of the request", customer={"email": "secret@example.test"})
    key.service.clock.advance(1)  # those of one millisecond have no order
    key.get("/api/v1/external/customers?email=secret%40example.test&sort_by=")
    key.service.clock.advance(1)
    key.get(f"{TICKETS}/secret%40example.test")
    _written(key)
    targets = [each["target"] for each in _logged(admin, f"key_id={key.id}")]
    listed = "/api/v1/external/customers?email=*&sort_by=*"
    assert targets == [f"{TICKETS}/{{id}}", listed, TICKETS]
    stored = key.service.rows("SELECT * FROM request_log WHERE key_id = :id LIMIT 9", id=key.id)
    assert "secret" not in str([tuple(row) for row in stored])


def test_refused_requests_of_a_key_are_in_the_log(admin: Person, key: Key) -> None:
    wrong = key.get(WHOAMI, x_api_signature="0" * 64)
    key.service.clock.advance(1)
    missing = key.get(f"{TICKETS}/{key.id}")
    key.get(WHOAMI)
    _written(key)
    refused = _logged(admin, f"key_id={key.id}&status=4xx")
    ids = [missing.json()["request_id"], wrong.json()["request_id"]]
    assert [each["request_id"] for each in refused] == ids
    assert [each["status"] for each in _logged(admin, f"key_id={key.id}&status=404")] == [404]


def test_the_list_ends_where_since_says_and_continues_by_cursor(admin: Person, key: Key) -> None:
    key.get(WHOAMI)
    key.service.clock.advance(1)
    since = clock.iso(key.service.clock.now_us()).replace("+", "%2B")
    sent = [key.get(WHOAMI).headers["x-request-id"] for _ in range(3)]
    _written(key)
    query = f"key_id={key.id}&since={since}&per_page=2"
    first = admin.get(f"{REQUESTS}?{query}").json()
    rest = admin.get(f"{REQUESTS}?{query}&cursor={first['meta']['next_cursor']}").json()
    found = [each["request_id"] for each in first["data"] + rest["data"]]
    assert sorted(found) == sorted(sent) and not rest["meta"]["has_more"]


@pytest.mark.parametrize("status", ["", "6xx", "4x", "0", "99", "4XX"])
def test_a_status_that_does_not_exist_is_refused(admin: Person, status: str) -> None:
    answer = admin.get(f"{REQUESTS}?status={status}")
    assert (answer.status_code, answer.json()["parameter"]) == (400, "status")


@for_each("value", ["%00", "%ff", "%ed%a0%80", "'", "x" * 7000, "<b>"])
@for_each("name", ["key", "status", "request_id", "before"])
def test_the_page_takes_any_text_for_a_filter(desk_page: Visitor, name: str, value: str) -> None:
    page = desk_page.get(f"/settings/api-keys/requests?{name}={value}")
    assert page.status == (400 if value.startswith("%") else 200)
    assert "<b>" not in page.answer.text


def test_another_tenant_does_not_find_the_request(service: Service, key: Key) -> None:
    request_id = key.get(WHOAMI).headers["x-request-id"]
    _written(key)
    stranger = service.tenant().admin()
    assert stranger.get(f"{REQUESTS}/{request_id}").status_code == 404
    assert _logged(stranger, f"key_id={key.id}") == []


def test_the_page_finds_a_request_by_its_id_and_the_requests_of_a_key(
    office: Tenant, key: Key
) -> None:
    request_id = key.get(f"{TICKETS}/{key.id}").json()["request_id"]
    key.get(WHOAMI)
    _written(key)
    visitor = logged_in(office)
    at = "/settings/api-keys/requests"
    page = visitor.get(f"{at}?request_id=%20{request_id}%20")
    assert_page_is_secure(page)
    assert request_id in page.text and f"/settings/api-keys/{key.id}" in page.links
    assert WHOAMI not in page.text
    both = visitor.get(f"{at}?key={key.id}").text
    assert WHOAMI in both and request_id in both
    assert request_id not in visitor.get(f"{at}?key={key.id}&status=2xx").text
    assert f"{at}?key={key.id}" in visitor.get(f"/settings/api-keys/{key.id}").links


def test_retention_deletes_what_is_older_than_7_days_and_the_surplus(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = own_service.tenant()
    key, other = tenant.key(), own_service.tenant().key()
    key.get(WHOAMI)
    _written(key)
    own_service.clock.advance(7 * _DAY_S)
    sent = []
    for _ in range(4):
        own_service.clock.advance(1)
        sent.append(key.get(WHOAMI).headers["x-request-id"])
    kept = other.get(WHOAMI).headers["x-request-id"]
    _written(key)
    monkeypatch.setattr(recorder, "KEPT_ROWS", 2)
    _prune(own_service)
    rows = own_service.rows("SELECT id FROM request_log ORDER BY id LIMIT 99")
    assert {row["id"] for row in rows} == {*sent[2:], kept}


def test_refusals_of_a_stranger_push_out_no_requests(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in memory, nor in storage."""
    monkeypatch.setattr(counters, "MAX_OF_TENANT", 3)
    monkeypatch.setattr(counters, "MAX_REFUSALS_OF_TENANT", 4)
    key = own_service.tenant().key()
    sent, refused = [], []
    for _ in range(3):
        own_service.clock.advance(1)
        sent.append(key.get(WHOAMI).headers["x-request-id"])
    for _ in range(6):
        own_service.clock.advance(1)
        answer = key.get(WHOAMI, x_api_signature="0" * 64)
        refused.append(answer.headers["x-request-id"])
    _written(key)
    rows = own_service.rows("SELECT id FROM request_log ORDER BY id LIMIT 99")
    assert [row["id"] for row in rows] == [*sent, *refused[2:]]
    monkeypatch.setattr(recorder, "KEPT_ROWS", 3)
    monkeypatch.setattr(recorder, "KEPT_REFUSALS", 1)
    _prune(own_service)
    rows = own_service.rows("SELECT id FROM request_log ORDER BY id LIMIT 99")
    assert [row["id"] for row in rows] == [*sent[1:], refused[-1]]


def _prune(service: Service) -> None:
    service.prune()


def test_requests_that_the_storage_does_not_take_are_counted_as_missing(
    own_service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    key = own_service.tenant().key()
    key.get(WHOAMI)

    async def write_nothing(state: AppState) -> int:
        async def refuse(*_: object) -> None:
            raise ServiceUnavailable

        with monkeypatch.context() as patch:
            patch.setattr(state.database, "write", refuse)
            return await recorder.write_requests(state)

    with caplog.at_level(logging.WARNING, "sealdesk.api_keys"):
        assert own_service.in_serving(write_nothing) == 0
    assert "requests are missing in the log" in caplog.text


def test_a_buffer_keeps_the_newest_requests_of_each_tenant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counters, "MAX_OF_TENANT", 3)
    monkeypatch.setattr(counters, "MAX_HELD", 5)
    buffer = RequestBuffer()
    for tenant in ("a", "a", "a", "a", "b", "b", "b", "c"):
        buffer.add(LoggedRequest(tenant, f"{buffer.dropped}", "", "GET", "/", 200, 1, 1, 1))
    taken = {tenant: len(requests) for tenant, requests in buffer.take()}
    assert (taken, buffer.dropped) == ({"a": 3, "b": 2}, 3)
    assert list(buffer.take()) == []


@for_each(
    ("query", "shown"),
    [
        (b"", "/p"),
        (b"email=a%40b.test&limit", "/p?email=*&limit"),
        (b"a=b=c&ann@example.test&=d", "/p?a=*&*&*=*"),
        (b"x" * 33, "/p?*"),
        (b"ab" * 32 + b"&tk_live_" + b"cd" * 20 + b"=1", "/p?*&*=*"),
        (b"&".join([b"name=value"] * 100), None),
    ],
)
def test_a_target_has_no_values_and_at_most_512_characters(query: bytes, shown: str | None) -> None:
    target = describe_target("/p", query)
    assert shown in (None, target) and "value" not in target and len(target) <= 512
