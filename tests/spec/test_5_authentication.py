"""Interface section 5: log-in for key management, signatures for the external API."""

import hashlib
import hmac

import httpx
import pytest

from sealdesk import clock
from tests.support.client import Key, Person, send
from tests.support.service import Service, Tenant

KEYS = "/api/v1/api-keys"
TICKETS = "/api/v1/external/tickets"
BODY = b'{"subject": "S", "description": "D", "customer": {"email": "a@example.test"}}'


def send_signed(
    key: Key,
    method: str = "GET",
    target: str = TICKETS,
    body: bytes = b"",
    *,
    without: str = "",
    **changed: str,
) -> httpx.Response:
    """A request that is signed as the interface describes; `changed` replaces headers."""
    timestamp = str(key.service.clock.now_us() // 1_000_000)
    body_hash = hashlib.sha256(body).hexdigest()
    message = timestamp + method + target + body_hash
    signature = hmac.new(key.api_secret.encode(), message.encode(), hashlib.sha256).hexdigest()
    headers = {
        "x-api-key": key.api_key,
        "x-api-signature": signature,
        "x-api-timestamp": timestamp,
        **({"content-type": "application/json"} if body else {}),
        **{name.replace("_", "-"): value for name, value in changed.items()},
    }
    headers.pop(without, None)
    return send(key.service, method, target, body, headers)


def test_5_1_key_management_requires_a_jwt(service: Service) -> None:
    assert Person(service, "").get(KEYS).status_code == 401


def test_5_1_tenant_admin_may_manage_keys(tenant: Tenant) -> None:
    assert tenant.log_in("tenant_admin").get(KEYS).status_code == 200


def test_5_1_super_admin_may_manage_keys(tenant: Tenant) -> None:
    assert tenant.log_in("super_admin").get(KEYS).status_code == 200


def test_5_1_agent_may_not_manage_keys(tenant: Tenant) -> None:
    assert tenant.log_in("agent").get(KEYS).status_code == 403


def test_5_1_a_signature_is_not_accepted_by_key_management(key: Key) -> None:
    assert send_signed(key, target=KEYS).status_code == 401


@pytest.mark.parametrize("header", ["x-api-key", "x-api-signature", "x-api-timestamp"])
def test_5_2_every_external_request_carries_each_header(key: Key, header: str) -> None:
    assert send_signed(key).status_code == 200
    assert send_signed(key, without=header).status_code == 401


def test_5_2_x_api_key_is_the_full_key(key: Key) -> None:
    assert send_signed(key, x_api_key=key.api_key[:16]).status_code == 401


def test_5_2_x_api_signature_is_lower_case_hex(key: Key) -> None:
    upper = key.signature_headers("GET", TICKETS)["x-api-signature"].upper()
    assert send_signed(key, x_api_signature=upper).status_code == 401


def test_5_2_x_api_timestamp_in_milliseconds_is_wrong(key: Key) -> None:
    milliseconds = str(key.service.clock.now_us() // 1000)
    assert send_signed(key, x_api_timestamp=milliseconds).status_code == 401


def test_5_2_content_type_is_application_json_when_a_body_is_sent(key: Key) -> None:
    assert send_signed(key, "POST", body=BODY).is_success
    assert send_signed(key, "POST", body=BODY, content_type="text/plain").status_code == 415


def test_5_2_1_the_body_is_signed_as_the_exact_text_that_was_sent(key: Key) -> None:
    assert send_signed(key, "POST", body=BODY.replace(b" ", b"  ")).is_success


def test_5_2_1_without_a_body_the_empty_string_is_signed(key: Key) -> None:
    assert send_signed(key, body=b"").is_success


def test_5_2_2_the_hash_of_another_body_is_refused(key: Key) -> None:
    headers = key.signature_headers("POST", TICKETS, BODY) | {"content-type": "application/json"}
    assert send(key.service, "POST", TICKETS, BODY + b" ", headers).status_code == 401


def test_5_2_3_the_timestamp_is_part_of_the_message(key: Key) -> None:
    earlier = str(key.service.clock.now_us() // 1_000_000 - 1)
    assert send_signed(key, x_api_timestamp=earlier).status_code == 401


def test_5_2_3_the_method_is_part_of_the_message_in_upper_case(key: Key) -> None:
    headers = key.signature_headers("get", TICKETS)
    assert send(key.service, "GET", TICKETS, b"", headers).status_code == 401


def test_5_2_3_the_path_is_part_of_the_message(key: Key) -> None:
    headers = key.signature_headers("GET", TICKETS)
    assert send(key.service, "GET", "/api/v1/external/customers", b"", headers).status_code == 401


def test_5_2_3_the_query_is_part_of_the_message(key: Key) -> None:
    target = f"{TICKETS}?status=open&per_page=5"
    assert send_signed(key, target=target).is_success
    headers = key.signature_headers("GET", TICKETS)
    assert send(key.service, "GET", target, b"", headers).status_code == 401


def test_5_2_4_the_secret_is_used_as_text_not_as_64_hex_digits(key: Key) -> None:
    timestamp = str(key.service.clock.now_us() // 1_000_000)
    message = timestamp + "GET" + TICKETS + hashlib.sha256(b"").hexdigest()
    decoded = bytes.fromhex(key.api_secret)
    signature = hmac.new(decoded, message.encode(), hashlib.sha256).hexdigest()
    refused = send_signed(key, x_api_timestamp=timestamp, x_api_signature=signature)
    assert refused.status_code == 401


def test_5_2_a_revoked_key_gets_401(key: Key, admin: Person) -> None:
    admin.delete(f"{KEYS}/{key.id}")
    assert send_signed(key).status_code == 401


def test_5_2_the_old_secret_of_a_rotated_key_gets_401(key: Key, admin: Person) -> None:
    admin.post(f"{KEYS}/{key.id}/rotate")
    assert send_signed(key).status_code == 401


def test_5_2_a_key_past_its_expires_at_is_deactivated(own_service: Service) -> None:
    tenant = own_service.tenant()
    key = tenant.key(expires_at=clock.iso(own_service.clock.now_us() + 10_000_000))
    own_service.clock.advance(10)
    assert tenant.admin().get(f"{KEYS}/{key.id}").json()["data"]["is_active"] is False
    assert send_signed(key).status_code == 401
