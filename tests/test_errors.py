"""Errors as clients see them: problem documents with stable codes and the right status."""

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from sealdesk.routes import PROBLEM_TYPES
from tests.support.client import Key, Person, send
from tests.support.for_each import for_each
from tests.support.service import Service, Tenant
from tests.support.wire import exchange

TICKETS = "/api/v1/external/tickets"
CUSTOMERS = "/api/v1/external/customers"
UNKNOWN = f"{TICKETS}/0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f"
TITLES = {each.code: each.title for each in PROBLEM_TYPES}
NEW = {"subject": "S", "description": "D", "customer": {"email": "a@example.test"}}


def close_ticket(key: Key) -> str:
    path = f"{TICKETS}/{key.ticket()['id']}"
    key.patch(path, {"status": "closed"})
    return path


def with_unreadable_secret(key: Key) -> httpx.Response:
    """A signed request of a key whose secret this server cannot open."""
    corrupt = "UPDATE api_keys SET sealed_secret = :sealed WHERE id = :id"
    key.service.write(lambda tx: tx.execute(corrupt, {"id": key.id, "sealed": b"0"}))
    return key.get(TICKETS)


def of_key(change: Callable[[Key], httpx.Response], **new: Any) -> Any:
    return lambda tenant: change(tenant.key(**new))


ERRORS: dict[str, Callable[[Tenant], httpx.Response]] = {
    "400 malformed_json": of_key(lambda k: k.call("POST", TICKETS, content=b"{")),
    "400 invalid_parameter": of_key(lambda k: k.get(f"{TICKETS}?per_page=0")),
    "400 unknown_parameter": of_key(lambda k: k.get(f"{TICKETS}?state=open")),
    "400 invalid_cursor": of_key(lambda k: k.get(f"{TICKETS}?cursor=x")),
    "400 invalid_header": of_key(lambda k: k.patch(UNKNOWN, {}, if_match="1")),
    "401 missing_credentials": lambda t: send(t.service, "GET", TICKETS, b"", {}),
    "401 jwt_required": lambda t: send(t.service, "GET", "/api/v1/api-keys", b"", {}),
    "403 insufficient_permissions": of_key(lambda k: k.get(TICKETS), permissions=[]),
    "404 not_found": of_key(lambda k: k.get(UNKNOWN)),
    "405 method_not_allowed": lambda t: send(t.service, "PUT", TICKETS, b"", {}),
    "409 ticket_closed": of_key(lambda k: k.post(f"{close_ticket(k)}/replies", {"body": "B"})),
    "412 version_mismatch": of_key(
        lambda k: k.patch(f"{TICKETS}/{k.ticket()['id']}", {}, if_match='"9.9"')
    ),
    "413 body_too_large": of_key(lambda k: k.call("POST", TICKETS, content=b" " * 1_048_577)),
    "415 unsupported_media_type": of_key(lambda k: k.post(TICKETS, NEW, content_type="text/xml")),
    "422 validation_failed": of_key(lambda k: k.post(TICKETS, {})),
    "429 rate_limit_exceeded": of_key(
        lambda k: [k.get(TICKETS) for _ in "12"][-1], rate_limit=1
    ),
    "503 storage_unavailable": of_key(with_unreadable_secret),
}  # fmt: skip


@for_each("expected", ERRORS)
def test_every_error_is_a_problem_document(tenant: Tenant, expected: str) -> None:
    response = ERRORS[expected](tenant)
    problem = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    assert f"{response.status_code} {problem['code']}" == expected
    assert problem["status"] == response.status_code
    assert problem["type"] == f"/docs/errors#{problem['code']}"
    assert problem["title"] == TITLES[problem["code"]]
    assert problem["detail"]
    assert problem["instance"] == response.extensions["target"].partition("?")[0]
    assert problem["request_id"] == response.headers["x-request-id"]


@pytest.mark.parametrize(
    ("expected", "header"),
    [
        ("401 missing_credentials", "www-authenticate"),
        ("401 jwt_required", "www-authenticate"),
        ("405 method_not_allowed", "allow"),
        ("429 rate_limit_exceeded", "retry-after"),
        ("503 storage_unavailable", "retry-after"),
    ],
)
def test_errors_have_the_headers_that_clients_need(
    tenant: Tenant, expected: str, header: str
) -> None:
    assert ERRORS[expected](tenant).headers[header]


def test_an_unreadable_request_gets_a_problem_document(service: Service) -> None:
    response = exchange(service, "GET", TICKETS, [("x-padding", "x" * 17_000)])
    assert response.status == 431
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["request_id"] == response.headers["x-request-id"]


@pytest.mark.parametrize(
    "path", ["/api", "/api/v2/external/tickets", "/api/v1/nothing", "/api/v1/"]
)
def test_an_unknown_path_of_the_api_is_404_and_never_html(service: Service, path: str) -> None:
    response = Person(service, "").get(path, accept="text/html")
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("body", [b"[]", b"null", b"1", b'"text"', b"true"])
def test_a_json_body_that_is_not_an_object_is_422_at_the_root(key: Key, body: bytes) -> None:
    response = key.call("POST", TICKETS, content=body)
    assert response.status_code == 422
    assert [fault["pointer"] for fault in response.json()["errors"]] == [""]


def test_all_faults_of_a_body_are_named_at_once(key: Key) -> None:
    wrong = {"subject": "", "priority": "huge", "customer": {"email": "no"}, "tags": ["ok", ""]}
    response = key.post(TICKETS, wrong)
    assert response.status_code == 422
    assert response.json()["code"] == "validation_failed"
    faults = response.json()["errors"]
    assert {fault["pointer"] for fault in faults} == {
        "/subject",
        "/description",
        "/priority",
        "/customer/email",
        "/tags/1",
    }
    assert all(fault.keys() == {"in", "pointer", "code", "message"} for fault in faults)
    assert all(re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", fault["code"]) for fault in faults)
    assert key.walk(TICKETS) == []


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/time", "/api/v1/nothing", "/docs"])
def test_every_response_has_its_own_request_id(service: Service, path: str) -> None:
    ids = {Person(service, "").get(path).headers["x-request-id"] for _ in range(3)}
    assert len(ids) == 3


def test_an_internal_error_shows_no_stack_trace(key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sealdesk.api_keys.guard.signed.is_allowed_address", lambda *_: 1 / 0)
    response = key.get(TICKETS)
    assert (response.status_code, response.json()["code"]) == (500, "internal_error")
    assert "Traceback" not in response.text
    assert "division" not in response.text


def test_times_are_always_written_with_microseconds_and_z(key: Key, admin: Person) -> None:
    path = f"{TICKETS}/{key.ticket()['id']}"
    key.patch(path, {"status": "closed"})
    shown = [key.get(path), key.get(CUSTOMERS), admin.get("/api/v1/api-keys")]
    shown.append(Person(key.service, "").get("/api/v1/time"))
    times = re.findall(
        r'"(?:[a-z_]+_at|iso)":"([^"]+)"', "".join(response.text for response in shown)
    )
    assert len(times) >= 8
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", time) for time in times)
