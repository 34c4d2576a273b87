"""The responses to refused signed requests (spec decision 3)."""

import base64
import hashlib
from collections.abc import Callable
from typing import Any

import httpx

from sealdesk import clock
from sealdesk.crypto.mistakes import MISTAKES
from sealdesk.crypto.signing import Signed, sign
from sealdesk.records import endpoints
from tests.support.client import Key, send
from tests.support.for_each import for_each
from tests.support.service import Service, Tenant

TICKETS = "/api/v1/external/tickets"
WRONG = "0" * 64


def unsigned(tenant: Tenant) -> httpx.Response:
    return send(tenant.service, "GET", TICKETS, b"", {})


def malformed(tenant: Tenant) -> httpx.Response:
    return tenant.key().get(TICKETS, x_api_signature="none")


def in_milliseconds(tenant: Tenant) -> httpx.Response:
    return tenant.key().get(TICKETS, x_api_timestamp="1767225600000")


def out_of_range(tenant: Tenant) -> httpx.Response:
    return tenant.key().get(TICKETS, x_api_timestamp="1000000000")


def unknown_key(tenant: Tenant) -> httpx.Response:
    return tenant.key().get(TICKETS, x_api_key="tk_live_" + "0" * 40)


def revoked(tenant: Tenant) -> httpx.Response:
    key = tenant.key()
    tenant.admin().delete(f"/api/v1/api-keys/{key.id}")
    return key.get(TICKETS)


def expired(tenant: Tenant) -> httpx.Response:
    service = tenant.service
    key = tenant.key(expires_at=clock.iso(service.clock.now_us() + 60_000_000))
    service.clock.advance(60)
    response = key.get(TICKETS)
    service.clock.advance(-60)
    return response


def wrong_signature(tenant: Tenant) -> httpx.Response:
    return tenant.key().get(TICKETS, x_api_signature=WRONG)


FAILURES: dict[Callable[[Tenant], httpx.Response], str] = {
    unsigned: "missing_credentials",
    malformed: "malformed_credentials",
    in_milliseconds: "timestamp_not_seconds",
    out_of_range: "timestamp_out_of_range",
    unknown_key: "invalid_api_key",
    revoked: "api_key_revoked",
    expired: "api_key_expired",
    wrong_signature: "invalid_signature",
}


@for_each("fail", FAILURES, ids=FAILURES.get)
def test_every_failure_is_401_with_its_code_and_the_scheme(
    own_service: Service, fail: Callable[[Tenant], httpx.Response]
) -> None:
    response = fail(own_service.tenant())
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "HMAC-SHA256"
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["code"] == FAILURES[fail]


def test_the_response_to_a_wrong_signature_shows_what_was_received(key: Key) -> None:
    target, body = f"{TICKETS}?ref=a%20b", b'{"subject":"\xc3\x9c"}'
    headers = key.signature_headers("POST", target, body) | {"x-api-signature": WRONG}
    response = send(key.service, "POST", target, body, headers)
    assert response.json()["received"] == {
        "method": "POST",
        "request_target": target,
        "timestamp": headers["x-api-timestamp"],
        "body_sha256": hashlib.sha256(body).hexdigest(),
        "body_bytes": len(body),
    }


def test_the_right_signature_is_never_revealed(key: Key) -> None:
    right = key.signature_headers("GET", TICKETS)
    response = send(key.service, "GET", TICKETS, b"", right | {"x-api-signature": WRONG})
    assert right["x-api-signature"] not in response.text + str(response.headers)
    assert key.api_secret not in response.text


def test_the_detail_names_the_mistake_its_remedy_and_where_to_read_on(key: Key) -> None:
    signed = key.signature_headers("GET", TICKETS)
    problem = send(key.service, "GET", f"{TICKETS}?status=open", b"", signed).json()
    assert problem["diagnosis"] == "query_string_not_signed"
    mistake = MISTAKES["query_string_not_signed"]
    assert problem["detail"] == (
        f"{mistake.fault} {mistake.remedy} See /docs/errors#query_string_not_signed;"
        " /settings/api-keys/debug compares a request part by part."
    )


def test_the_secret_of_a_live_key_is_named_for_a_test_key(tenant: Tenant) -> None:
    live, test = tenant.key(), tenant.test_key()
    signed = Key(test.service, test.id, test.api_key, live.api_secret)
    assert signed.get(TICKETS).json()["diagnosis"] == "secret_of_another_key"


def test_the_secret_of_a_webhook_is_named(key: Key, tenant: Tenant) -> None:
    service, secret, now_us = key.service, "whsec_c2VjcmV0", key.service.clock.now_us()
    context = endpoints.seal_context(tenant.id, "hook", 1)
    sealed = service.state.key_ring.seal(secret, context)
    sql = """
INSERT INTO endpoints (tenant_id, id, url, events, is_active, secret_version, sealed_secret, wakes,
    created_at)
VALUES (:tenant_id, 'hook', 'https://example.test', '[]', true, 1, :sealed, 0, :now)
"""
    values = {"tenant_id": tenant.id, "sealed": sealed, "now": now_us}
    service.write(lambda tx: tx.execute(sql, values))
    signed = Key(service, key.id, key.api_key, secret)
    assert signed.get(TICKETS).json()["diagnosis"] == "secret_of_webhook"


def test_without_a_known_mistake_the_secret_is_not_blamed(key: Key) -> None:
    problem = key.get(TICKETS, x_api_signature=WRONG).json()
    assert problem["diagnosis"] == "unknown"
    assert "the secret is wrong" not in problem["detail"]
    stranger = Key(key.service, key.id, key.api_key, "0" * 64)
    headers = stranger.signature_headers("get", TICKETS)
    response = send(key.service, "GET", TICKETS, b"", headers).json()
    assert response["diagnosis"] == "unknown"


def test_the_secret_of_another_key_is_named_in_its_own_tenant_only(
    tenant: Tenant, service: Service
) -> None:
    key, other, foreign = tenant.key(), tenant.key(), service.tenant().key()

    def diagnosis(owner: Key) -> object:
        signed = Key(key.service, key.id, key.api_key, owner.api_secret)
        response = signed.get(TICKETS)
        assert owner.api_secret not in response.text
        return response.json()["diagnosis"]

    assert diagnosis(other) == "secret_of_another_key"
    assert diagnosis(tenant.test_key()) == "secret_of_test_key"
    assert diagnosis(foreign) == "unknown"
    tenant.admin().delete(f"/api/v1/api-keys/{other.id}")
    assert diagnosis(other) == "unknown", "a revoked key has no secret"


def test_the_form_of_each_header_is_named_with_its_own_code(key: Key) -> None:
    right = key.signature_headers("GET", TICKETS)["x-api-signature"]
    forms = {
        "signature_base64": {"x_api_signature": base64.b64encode(bytes(32)).decode()},
        "signature_prefixed": {"x_api_signature": f"sha256={right}"},
        "signature_other_algorithm": {"x_api_signature": right * 2},
        "signature_not_hex": {"x_api_signature": "none"},
        "uppercase_hex": {"x_api_signature": "A" * 64},
        "secret_as_api_key": {"x_api_key": key.api_secret},
        "timestamp_not_seconds": {"x_api_timestamp": "2026-01-01T00:00:00Z"},
        "timestamp_milliseconds": {"x_api_timestamp": "1767225600000"},
    }
    for name, headers in forms.items():
        problem = key.get(TICKETS, **headers).json()
        assert (problem["code"], problem["diagnosis"]) == (MISTAKES[name].code, name)
        assert f"/docs/errors#{name}" in problem["detail"]
        assert key.api_secret not in str(problem)


def test_a_body_over_64_kib_is_not_diagnosed(key: Key) -> None:
    def refused(size: int) -> Any:
        headers = key.signature_headers("POST", TICKETS)  # the body left out
        return send(key.service, "POST", TICKETS, b" " * size, headers).json()

    assert refused(64 * 1024)["diagnosis"] == "body_omitted"
    assert "diagnosis" not in refused(64 * 1024 + 1)


def test_a_target_over_2_kib_is_not_diagnosed(key: Key) -> None:
    def refused(size: int) -> Any:
        target = f"{TICKETS}?q=".ljust(size, "a")
        headers = key.signature_headers("GET", TICKETS)  # the query left out
        return send(key.service, "GET", target, b"", headers).json()

    assert refused(2 * 1024)["diagnosis"] == "query_string_not_signed"
    assert "diagnosis" not in refused(2 * 1024 + 1)


def test_two_equal_requests_in_one_second_are_both_accepted(key: Key) -> None:
    body = b'{"subject": "S", "description": "D", "customer": {"email": "a@example.test"}}'
    headers = key.signature_headers("POST", TICKETS, body) | {"content-type": "application/json"}
    statuses = [send(key.service, "POST", TICKETS, body, headers).status_code for _ in "12"]
    assert statuses == [201, 201]


def test_after_300_failures_a_minute_the_response_has_only_the_code(own_service: Service) -> None:
    own_service.clock.stop()
    key = own_service.tenant().key()
    for _ in range(300):
        response = key.get(TICKETS, x_api_signature=WRONG)
    assert "received" in response.json()
    bare = key.get(TICKETS, x_api_signature=WRONG)
    assert bare.status_code == 401
    assert {"received", "diagnosis"}.isdisjoint(bare.json())
    signed_as_get = key.signature_headers("get", TICKETS)
    lower = send(own_service, "GET", TICKETS, b"", signed_as_get)
    assert (lower.status_code, "diagnosis" in lower.json()) == (401, False)
    assert key.get(TICKETS).status_code == 200, "a valid signature always passes"
    own_service.clock.advance(60)
    assert "received" in key.get(TICKETS, x_api_signature=WRONG).json()


def test_behind_a_proxy_that_strips_a_prefix_the_whole_path_is_signed(
    start: Callable[..., Service],
) -> None:
    key = start(SEALDESK_EXTERNAL_PATH_PREFIX="/support").tenant().key()
    at = key.signature_headers("GET", f"/support{TICKETS}?status=open")
    assert send(key.service, "GET", f"{TICKETS}?status=open", b"", at).status_code == 200
    stripped = key.get(f"{TICKETS}?status=open").json()
    assert stripped["received"]["request_target"] == f"/support{TICKETS}?status=open"
    parts = Signed(
        at["x-api-timestamp"].encode(), b"GET", f"/support{TICKETS}?status=open".encode(), b""
    )
    assert sign(key.api_secret, parts) == at["x-api-signature"]
