"""The ASGI application: routing, response headers and unexpected errors."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from sealdesk import ids
from sealdesk.errors import ServiceUnavailable
from sealdesk.errors.general import STORAGE_UNAVAILABLE
from sealdesk.routes import ROUTES
from sealdesk.server import app
from sealdesk.web.operation import Open, Route, operation
from sealdesk.web.request import Request, Response
from tests.support.client import Key, Person, send
from tests.support.for_each import for_each
from tests.support.service import Service
from tests.support.wire import Wire

TICKETS = "/api/v1/external/tickets"
LOG_IN = "/api/v1/auth/login"
SECRET = "the text of an error that nobody outside may read"


def _problem(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The problem document of an error response, after a check of its format."""
    assert (response.status_code, response.headers["content-type"]) == (
        status,
        "application/problem+json",
    )
    document: dict[str, Any] = response.json()
    assert document["code"] == code
    assert document["request_id"] == response.headers["x-request-id"]
    assert document.keys() >= {"type", "title", "status", "detail", "instance"}
    return document


def _get(service: Service, target: str, method: str = "GET") -> httpx.Response:
    return send(service, method, target, b"", {})


@pytest.mark.parametrize(
    "target",
    [
        "/nowhere",
        "//healthz",
        "/healthz/",
        "//",
        "/api",
        "/api/v1",
        "/api/v2/time",
        "/api/v1/time/",
        "/api//v1/time",
        "/api/v1//time",
        "/API/v1/time",
        "/api/v1/Time",
        "/api/v1%2Ftime",
        "/api/v1/%74ime",
        "/api/v1/./time",
        "/api/v1/nowhere/../time",
        "/api/v1/time;a=b",
        "/api/v1/time%00",
        "/api/v1/time%0d%0ax:y",
        "/api/v1/caf%C3%A9",
        "/api/v1/%ff%fe",
        "/" + "a/" * 2000,
    ],
)
def test_a_path_without_a_route_is_not_found(service: Service, target: str) -> None:
    with Wire(service) as wire:
        wire.head("GET", target, [])
        response = wire.answer()
    document = response.json()
    assert (response.status, document["code"], document["instance"]) == (404, "not_found", target)


@for_each(
    ("target", "meant"),
    [
        (f"/{TICKETS}", TICKETS),
        ("/API/V1/External/Tickets?per_page=1", TICKETS),
        (f"{TICKETS}/7/replies/", f"{TICKETS}/7/replies"),
        ("/healthz/", "/healthz"),
    ],
)
def test_a_path_with_other_slashes_or_case_is_told_the_right_one(
    service: Service, target: str, meant: str
) -> None:
    problem = _problem(_get(service, target), 404, "not_found")
    assert problem["detail"] == f"There is no such path. Did you mean {meant}?"
    assert _get(service, meant).status_code != 404


def test_a_slash_behind_a_list_is_named_whatever_the_method(key: Key) -> None:
    for response in (key.get(f"{TICKETS}/"), key.post(f"{TICKETS}/", {})):
        document = _problem(response, 404, "not_found")
        assert document["detail"] == f"There is no such path. Did you mean {TICKETS}?"
    assert "Did you mean" not in _problem(key.get(f"{TICKETS}/x"), 404, "not_found")["detail"]


def test_an_encoded_slash_is_not_a_separator(key: Key) -> None:
    ticket = key.ticket()
    _problem(key.get(f"{TICKETS}%2F{ticket['id']}"), 404, "not_found")
    _problem(key.get(f"{TICKETS}/{ticket['id']}%2Freplies"), 404, "not_found")


@pytest.mark.parametrize(
    "spell",
    [
        lambda identifier: identifier.replace("-", ""),
        lambda identifier: identifier + "%20",
        lambda identifier: f"%7B{identifier}%7D",
        lambda identifier: f"%{ord(identifier[0]):02x}{identifier[1:]}",
        lambda identifier: "",
    ],
)
def test_an_id_is_found_with_its_hyphens_only(key: Key, spell: Callable[[str], str]) -> None:
    _problem(key.get(f"{TICKETS}/{spell(key.ticket()['id'])}"), 404, "not_found")


@for_each("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_other_methods_of_a_path_are_refused_with_those_that_exist(
    service: Service, route: Route
) -> None:
    target = route.path.replace("{id}", ids.NONE).replace("{ticket_id}", ids.NONE)
    existing = {other.method for other in ROUTES if other.path == route.path}
    allowed = existing | ({"HEAD"} if "GET" in existing else set())
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"} - allowed:
        response = _get(service, target, method)
        _problem(response, 405, "method_not_allowed")
        assert response.headers["allow"] == ", ".join(sorted(allowed))


def test_no_origin_is_allowed_by_cors(service: Service) -> None:
    asking = {"origin": "https://evil.test", "access-control-request-method": "GET"}
    response = send(service, "OPTIONS", "/api/v1/time", b"", asking)
    assert response.status_code == 405
    assert not any(name.startswith("access-control") for name in response.headers)


def test_head_is_get_without_a_body(service: Service, key: Key) -> None:
    for response, same in (
        (_get(service, "/healthz", "HEAD"), _get(service, "/healthz")),
        (key.call("HEAD", TICKETS), key.get(TICKETS)),
    ):
        assert (response.status_code, response.content) == (200, b"")
        assert response.headers["content-length"] == str(len(same.content))


def test_head_of_an_unknown_path_has_no_body(service: Service) -> None:
    response = _get(service, "/nowhere", "HEAD")
    assert (response.status_code, response.content) == (404, b"")


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("http://elsewhere.test/healthz", 200),
        ("http://elsewhere.test/nowhere", 404),
        ("/healthz#fragment", 400),
        ("*", 404),
    ],
)
def test_an_unusual_request_target_gets_a_response(
    service: Service, target: str, status: int
) -> None:
    with Wire(service) as wire:
        wire.head("OPTIONS" if target == "*" else "GET", target, [])
        assert wire.answer().status == status


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate", "identity, gzip", "x"])
def test_encoded_body_is_refused(service: Service, encoding: str) -> None:
    headers = {"content-type": "application/json", "content-encoding": encoding}
    response = send(service, "POST", LOG_IN, b"{}", headers)
    _problem(response, 415, "unsupported_media_type")


def test_a_body_with_the_identity_encoding_is_read(service: Service) -> None:
    headers = {"content-type": "application/json", "content-encoding": "Identity"}
    _problem(send(service, "POST", LOG_IN, b"{}", headers), 422, "validation_failed")


@pytest.mark.parametrize(
    "declared", ["", "text/plain", "application/x-www-form-urlencoded", "application/jsonp"]
)
def test_body_of_another_type_is_refused(service: Service, declared: str) -> None:
    response = send(service, "POST", LOG_IN, b"{}", {"content-type": declared})
    _problem(response, 415, "unsupported_media_type")


@pytest.mark.parametrize("declared", ["application/json; charset=utf-8", "Application/JSON"])
def test_parameters_and_case_of_the_type_do_not_matter(service: Service, declared: str) -> None:
    response = send(service, "POST", LOG_IN, b"{}", {"content-type": declared})
    _problem(response, 422, "validation_failed")


def test_request_ids_differ_and_are_on_successful_responses_too(service: Service) -> None:
    given = [_get(service, "/healthz").headers["x-request-id"] for _ in range(3)]
    assert len(set(given)) == 3


def test_every_response_has_nosniff(service: Service) -> None:
    for target in ("/healthz", "/nowhere", "/docs"):
        assert _get(service, target).headers["x-content-type-options"] == "nosniff"


_UNAVAILABLE = STORAGE_UNAVAILABLE.variant(
    "The storage cannot be reached.", headers={"retry-after": "7"}
)


@operation("Break", tag="Test")
async def _break(request: Request) -> Response:
    raise ValueError(SECRET)


@operation("Fail without storage", tag="Test")
async def _fail_without_storage(request: Request) -> Response:
    raise ServiceUnavailable(_UNAVAILABLE) from OSError(SECRET)


@operation("Respond", tag="Test")
async def _respond(request: Request) -> Response:
    return Response(200, json.dumps({}).encode())


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch, start: Callable[..., Service]) -> Service:
    """A service with routes whose handlers fail."""
    rows = (
        Route("GET", "/api/v1/broken", Open(), _break),
        Route("GET", "/api/v1/away", Open(), _fail_without_storage),
        Route("GET", "/api/v1/good", Open(), _respond),
    )
    monkeypatch.setattr(app, "ROUTES", (*ROUTES, *rows))
    return start()


def test_an_unexpected_error_reveals_nothing_of_its_cause(broken: Service) -> None:
    response = _get(broken, "/api/v1/broken")
    document = _problem(response, 500, "internal_error")
    assert SECRET not in response.text
    assert "Traceback" not in response.text
    assert document["detail"].endswith("Tell us the request_id.")


def test_the_service_responds_after_an_unexpected_error(broken: Service) -> None:
    statuses = [_get(broken, f"/api/v1/{name}").status_code for name in ("broken", "good") * 3]
    assert statuses == [500, 200] * 3


def test_an_unexpected_error_is_logged_with_its_request_id(
    broken: Service, caplog: pytest.LogCaptureFixture
) -> None:
    request_id = _get(broken, "/api/v1/broken").headers["x-request-id"]
    assert request_id in [getattr(record, "request_id", "") for record in caplog.records]


def test_a_response_without_storage_has_a_retry_after(broken: Service) -> None:
    response = _get(broken, "/api/v1/away")
    _problem(response, 503, "storage_unavailable")
    assert response.headers["retry-after"] == "7"
    assert SECRET not in response.text


def test_a_request_is_counted_in_the_metrics_by_its_route(broken: Service) -> None:
    _get(broken, "/api/v1/broken")
    _get(broken, "/nowhere/secret")
    exposition = Person(broken, "").get("/metrics").text
    assert "GET /api/v1/broken" in exposition
    assert "secret" not in exposition
