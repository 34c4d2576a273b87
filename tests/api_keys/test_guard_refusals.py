"""The refusals that are recorded for administrators (spec decision 3)."""

import hashlib
from typing import Any

from tests.support.client import Key, Person, send
from tests.support.service import Tenant

TICKETS = "/api/v1/external/tickets"
WRONG = "0" * 64


def refusals(key: Key, admin: Person, query: str = "?per_page=100") -> list[dict[str, Any]]:
    response = admin.get(f"/api/v1/api-keys/{key.id}/refusals{query}")
    assert response.status_code == 200, response.text
    return list(response.json()["data"])


def test_a_key_that_was_never_refused_has_no_refusals(key: Key, admin: Person) -> None:
    key.get(TICKETS)
    assert refusals(key, admin) == []


def test_a_refusal_is_recorded_without_the_body(key: Key, admin: Person) -> None:
    target, body = f"{TICKETS}?ref=a%20b", b'{"subject":"a secret of ours"}'
    headers = key.signature_headers("post", target, body)
    send(key.service, "POST", target, body, headers)
    (kept,) = refusals(key, admin)
    assert kept.pop("id")
    assert kept.pop("refused_at").endswith("Z")
    assert kept == {
        "code": "invalid_signature",
        "diagnosis": "method_lowercase",
        "method": "POST",
        "target": target,
        "timestamp": headers["x-api-timestamp"],
        "body_sha256": hashlib.sha256(body).hexdigest(),
        "body_bytes": len(body),
    }


def test_no_table_holds_the_body_of_a_refused_request(key: Key) -> None:
    body = b'{"subject":"a secret of ours"}'
    key.call("POST", TICKETS, content=body, headers={"x-api-signature": WRONG})
    rows = key.service.rows("SELECT * FROM refusals LIMIT 1000")
    assert rows
    assert not [row for row in rows if "a secret of ours" in str(tuple(row))]


def test_refusals_of_every_code_are_recorded_newest_first(tenant: Tenant) -> None:
    key, admin = tenant.key(allowed_ips=["203.0.113.0/24"]), tenant.admin()
    key.get(TICKETS)
    key.get(TICKETS, x_api_signature="none")
    key.get(TICKETS, x_api_timestamp="1000000000")
    key.get(TICKETS, x_api_timestamp="1767225600000")
    admin.delete(f"/api/v1/api-keys/{key.id}")
    key.get(TICKETS)
    assert [kept["code"] for kept in refusals(key, admin)] == [
        "api_key_revoked",
        "timestamp_not_seconds",
        "timestamp_out_of_range",
        "malformed_credentials",
        "ip_not_allowed",
    ]


def test_a_refusal_for_the_address_is_recorded_with_the_hash_of_its_body(tenant: Tenant) -> None:
    key, body = tenant.key(allowed_ips=["203.0.113.0/24"]), b'{"subject":"S"}'
    key.call("POST", TICKETS, content=body)
    (kept,) = refusals(key, tenant.admin())
    assert kept["body_sha256"] == hashlib.sha256(body).hexdigest()
    assert kept["body_bytes"] == len(body)


def test_a_replayed_signature_is_recorded(tenant: Tenant) -> None:
    key = tenant.key(replay_protection="writes")
    body = b'{"email": "ada@example.test"}'
    target = "/api/v1/external/customers"
    headers = key.signature_headers("POST", target, body) | {"content-type": "application/json"}
    for _ in "12":
        send(key.service, "POST", target, body, headers)
    (kept,) = refusals(key, tenant.admin())
    assert kept["code"] == "signature_replayed"


def test_the_last_50_refusals_are_kept(key: Key, admin: Person) -> None:
    for place in range(53):
        key.get(f"{TICKETS}?tag={place}", x_api_signature=WRONG)
    targets = [kept["target"] for kept in refusals(key, admin)]
    assert targets == [f"{TICKETS}?tag={place}" for place in range(52, 2, -1)]


def test_each_key_has_its_own_refusals(tenant: Tenant) -> None:
    one, other = tenant.key(), tenant.key()
    one.get(TICKETS, x_api_signature=WRONG)
    assert refusals(other, tenant.admin()) == []


def test_a_refused_request_without_a_known_key_is_not_recorded(key: Key) -> None:
    before = key.service.rows("SELECT count(*) FROM refusals LIMIT 1")[0][0]
    key.get(TICKETS, x_api_key="tk_live_" + "0" * 40)
    assert key.service.rows("SELECT count(*) FROM refusals LIMIT 1")[0][0] == before
