"""The order in which a signed request is checked (spec decision 3)."""

from tests.support.client import Headers, Key, Person, send
from tests.support.for_each import for_each
from tests.support.service import Service, Tenant
from tests.support.wire import exchange

TICKETS = "/api/v1/external/tickets"
OLD = 1_000_000_000
HUGE = str(2 * 1024 * 1024)


def code_of(key: Key, method: str, target: str, body: bytes = b"", **headers: str) -> str:
    """The code of the refusal of a signed request with these headers replaced or added."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    response = key.call(method, target, content=body, headers=named)
    return str(response.json()["code"])


def announced(key: Key, headers: Headers) -> str:
    """The code of the refusal of a body that is announced and never sent."""
    lines = [*headers.items(), ("content-length", HUGE)]
    return str(exchange(key.service, "POST", TICKETS, lines).json()["code"])


def test_an_unknown_path_comes_before_the_headers(service: Service) -> None:
    assert Person(service, "").get("/api/v1/external/nothing").json()["code"] == "not_found"


def test_an_unknown_method_comes_before_the_headers(service: Service) -> None:
    response = Person(service, "").call("PUT", TICKETS)
    assert response.json()["code"] == "method_not_allowed"
    assert response.headers["allow"] == "GET, HEAD, POST"


def test_the_shape_of_headers_comes_before_the_time(key: Key) -> None:
    headers = key.signature_headers("GET", TICKETS, timestamp=OLD) | {"x-api-key": "tk_live_1"}
    assert send(key.service, "GET", TICKETS, b"", headers).json()["code"] == "malformed_credentials"


def test_the_time_comes_before_the_key_is_looked_up(service: Service) -> None:
    nobody = Key(service, "", "tk_live_" + "0" * 40, "0" * 64)
    headers = nobody.signature_headers("GET", TICKETS, timestamp=OLD)
    assert send(service, "GET", TICKETS, b"", headers).json()["code"] == "timestamp_out_of_range"


def test_an_unknown_key_comes_before_the_body(service: Service) -> None:
    nobody = Key(service, "", "tk_live_" + "0" * 40, "0" * 64)
    assert announced(nobody, nobody.signature_headers("POST", TICKETS)) == "invalid_api_key"


def test_a_revoked_key_comes_before_the_body(key: Key, admin: Person) -> None:
    admin.delete(f"/api/v1/api-keys/{key.id}")
    assert announced(key, key.signature_headers("POST", TICKETS)) == "api_key_revoked"


def test_the_cap_of_the_body_comes_before_the_signature(key: Key) -> None:
    headers = key.signature_headers("POST", TICKETS) | {"x-api-signature": "0" * 64}
    assert announced(key, headers) == "body_too_large"


def test_the_signature_comes_before_the_address(tenant: Tenant) -> None:
    key = tenant.key(allowed_ips=["203.0.113.0/24"])
    assert code_of(key, "GET", TICKETS, x_api_signature="0" * 64) == "invalid_signature"
    assert code_of(key, "GET", TICKETS) == "ip_not_allowed"


def test_the_address_comes_before_the_rate_limit(tenant: Tenant) -> None:
    key = tenant.key(allowed_ips=["203.0.113.0/24"], rate_limit=1)
    codes = [code_of(key, "GET", TICKETS) for _ in range(3)]
    assert codes == ["ip_not_allowed"] * 3


def test_the_rate_limit_comes_before_the_permission(tenant: Tenant) -> None:
    key = tenant.key(permissions=[], rate_limit=1)
    codes = [code_of(key, "GET", TICKETS) for _ in range(2)]
    assert codes == ["insufficient_permissions", "rate_limit_exceeded"]


def test_the_permission_comes_before_the_content_type(tenant: Tenant) -> None:
    key = tenant.key(permissions=["tickets:read"])
    refused = code_of(key, "POST", TICKETS, b"{", content_type="text/plain")
    assert refused == "insufficient_permissions"


def test_the_content_type_comes_before_the_body(key: Key) -> None:
    refused = code_of(key, "POST", TICKETS, b"{", content_type="text/plain")
    assert refused == "unsupported_media_type"


@for_each("body", [b"{", b"[]", b'{"subject": 1}'])
def test_the_body_comes_before_the_look_up(key: Key, body: bytes) -> None:
    unknown = f"{TICKETS}/0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f"
    assert code_of(key, "PATCH", unknown, body) in ("malformed_json", "validation_failed")
