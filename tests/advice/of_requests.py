"""Problems of requests: what cannot be read, who is not known, what waits."""

import json

from tests.advice.desk import CUSTOMERS, EXTERNAL, KEYS, TICKETS, Desk, Steps
from tests.support.client import Key, Person
from tests.support.pages import logged_in
from tests.support.service import PASSWORD
from tests.support.two_factor import turn_on
from tests.support.wire import exchange

_EVENTS, _WHOAMI = f"{EXTERNAL}/events", f"{EXTERNAL}/whoami"
_NEW = {"email": "a@b.test"}
_JSON = {"content-type": "application/json"}


def malformed_request(desk: Desk) -> Steps:
    yield exchange(desk.service, "get", "/healthz", [])
    yield exchange(desk.service, "GET", "/healthz", [])


def malformed_json(desk: Desk) -> Steps:
    yield desk.key.call("POST", CUSTOMERS, content=b"{'email': 'a@b.test'}")
    yield desk.key.post(CUSTOMERS, _NEW)


def invalid_parameter(desk: Desk) -> Steps:
    yield desk.key.get(f"{TICKETS}?created_after=2026-01-01T00:00:00+01:00")
    yield desk.key.get(f"{TICKETS}?created_after=2026-01-01T00:00:00%2B01:00")


def unknown_parameter(desk: Desk) -> Steps:
    refused = desk.key.get(f"{TICKETS}?per-page=5")
    yield refused
    named = refused.json()["detail"].partition("Did you mean ")[2].rstrip("?")
    yield desk.key.get(f"{TICKETS}?{named}=5")


def invalid_header(desk: Desk) -> Steps:
    path = f"{TICKETS}/{desk.key.ticket()['id']}"
    yield desk.key.patch(path, {}, if_match="1.1")
    yield desk.key.patch(path, {}, if_match=desk.key.get(path).headers["etag"])


def invalid_cursor(desk: Desk) -> Steps:
    for _ in "12":
        desk.key.ticket()
    cursor = desk.key.get(f"{TICKETS}?per_page=1").json()["meta"]["next_cursor"]
    yield desk.key.get(f"{TICKETS}?per_page=1&status=open&cursor={cursor}")
    yield desk.key.get(f"{TICKETS}?per_page=5&cursor={cursor}")


def empty_attachment(desk: Desk) -> Steps:
    yield desk.key.upload("a.txt", b"")
    yield desk.key.upload("a.txt", b"text")


def method_not_allowed(desk: Desk) -> Steps:
    refused = desk.key.call("PUT", TICKETS, {})
    yield refused
    yield desk.key.call(refused.headers["allow"].partition(",")[0], TICKETS)


def body_too_large(desk: Desk) -> Steps:
    refused = desk.key.post(CUSTOMERS, {**_NEW, "name": "x" * 2**20})
    yield refused
    assert len(json.dumps(_NEW)) < refused.json()["max_bytes"]
    yield desk.key.post(CUSTOMERS, _NEW)


def unsupported_media_type(desk: Desk) -> Steps:
    yield desk.key.post(CUSTOMERS, _NEW, content_type="text/plain")
    yield desk.key.post(CUSTOMERS, _NEW)


def headers_too_large(desk: Desk) -> Steps:
    yield exchange(desk.service, "GET", "/healthz", [("cookie", "x" * 17_000)])
    yield exchange(desk.service, "GET", "/healthz", [])


def unknown_transfer_coding(desk: Desk) -> Steps:
    yield exchange(desk.service, "POST", CUSTOMERS, [("transfer-encoding", "gzip")])
    yield desk.key.post(CUSTOMERS, _NEW)


def validation_failed(desk: Desk) -> Steps:
    refused = desk.key.post(CUSTOMERS, {"email": "nobody"}, idempotency_key="1")
    yield refused
    (fault,) = refused.json()["errors"]
    yield desk.key.post(CUSTOMERS, {fault["pointer"][1:]: "a@b.test"}, idempotency_key="1")


def idempotency_key_reused(desk: Desk) -> Steps:
    desk.key.post(CUSTOMERS, _NEW, idempotency_key="1")
    yield desk.key.post(CUSTOMERS, {"email": "b@b.test"}, idempotency_key="1")
    yield desk.key.post(CUSTOMERS, {"email": "b@b.test"}, idempotency_key="2")
    yield desk.key.post(CUSTOMERS, _NEW, idempotency_key="1")


def version_mismatch(desk: Desk) -> Steps:
    path = f"{TICKETS}/{desk.key.ticket()['id']}"
    refused = desk.key.patch(path, {"subject": "B"}, if_match='"0.0"')
    yield refused
    assert refused.json()["current"] == desk.key.get(path).headers["etag"]
    yield desk.key.patch(path, {"subject": "B"}, if_match=refused.json()["current"])


def not_found(desk: Desk) -> Steps:
    ticket = desk.key.ticket()
    yield desk.service.tenant().key().get(f"{TICKETS}/{ticket['id']}")
    yield desk.key.get(f"{TICKETS}/{ticket['id']}")


def missing_credentials(desk: Desk) -> Steps:
    yield Person(desk.service, "").get(_WHOAMI)
    yield desk.key.get(_WHOAMI)


def malformed_credentials(desk: Desk) -> Steps:
    yield desk.send("GET", _WHOAMI, x_api_key=desk.key.api_key[:-1])
    yield desk.send("GET", _WHOAMI)


def timestamp_not_seconds(desk: Desk) -> Steps:
    now_ms = desk.service.clock.now_us() // 1000
    for at in (now_ms, now_ms // 1000):
        signed = desk.key.signature_headers("GET", _WHOAMI, timestamp=at)
        yield desk.key.call("GET", _WHOAMI, headers=signed)


def timestamp_out_of_range(desk: Desk) -> Steps:
    yield desk.key.call(
        "GET", _WHOAMI, headers=desk.key.signature_headers("GET", _WHOAMI, timestamp=10**9)
    )
    told = Person(desk.service, "").get("/api/v1/time").json()["data"]["unix"]
    signed = desk.key.signature_headers("GET", _WHOAMI, timestamp=told)
    yield desk.key.call("GET", _WHOAMI, headers=signed)


def invalid_api_key(desk: Desk) -> Steps:
    yield desk.send("GET", _WHOAMI, x_api_key="tk_live_" + "0" * 40)
    yield desk.send("GET", _WHOAMI)


def invalid_signature(desk: Desk) -> Steps:
    stale = Key(desk.service, desk.key.id, desk.key.api_key, desk.key.api_secret)
    rotated = desk.admin.post(f"{KEYS}/{desk.key.id}/rotate").json()["data"]
    yield stale.get(_WHOAMI)
    stale.api_secret = rotated["api_secret"]
    yield stale.get(_WHOAMI)


def _of_a_new_key(desk: Desk) -> Steps:
    made = desk.made(KEYS, name="new", permissions=["tickets:read"])
    yield Key(desk.service, made["id"], made["api_key"], made["api_secret"]).get(_WHOAMI)


def api_key_revoked(desk: Desk) -> Steps:
    desk.admin.delete(f"{KEYS}/{desk.key.id}")
    yield desk.key.get(_WHOAMI)
    yield from _of_a_new_key(desk)


def api_key_expired(desk: Desk) -> Steps:
    _set_on_key(desk, "expires_at = 1")
    yield desk.key.get(_WHOAMI)
    yield from _of_a_new_key(desk)


def api_key_unconfirmed(desk: Desk) -> Steps:
    _set_on_key(desk, "unconfirmed_since = 1")
    yield desk.key.get(_WHOAMI)
    yield desk.admin.post(f"{KEYS}/{desk.key.id}/confirm")
    yield desk.key.get(_WHOAMI)


def _set_on_key(desk: Desk, assignment: str) -> None:
    sql = f"UPDATE api_keys SET {assignment} WHERE tenant_id = :tenant_id AND id = :id"
    named = {"tenant_id": desk.tenant.id, "id": desk.key.id}
    desk.service.write(lambda tx: tx.execute(sql, named))


def signature_replayed(desk: Desk) -> Steps:
    key = desk.tenant.key(replay_protection="writes")
    at = desk.service.clock.now_us() // 1_000_000
    content = json.dumps(_NEW).encode()

    def sent(timestamp: int) -> dict[str, str]:
        return {**_JSON, **key.signature_headers("POST", CUSTOMERS, content, timestamp=timestamp)}

    once = {"idempotency-key": "1"}
    key.call("POST", CUSTOMERS, content=content, headers={**sent(at), **once})
    yield key.call("POST", CUSTOMERS, content=content, headers=sent(at))
    yield key.call("POST", CUSTOMERS, content=content, headers={**sent(at - 1), **once})


def insufficient_permissions(desk: Desk) -> Steps:
    key = desk.tenant.key(permissions=["tickets:read"])
    refused = key.get(CUSTOMERS)
    yield refused
    needed = [*refused.json()["granted"], *refused.json()["required"]]
    yield desk.admin.patch(f"{KEYS}/{key.id}", {"permissions": needed})
    yield key.get(CUSTOMERS)


def ip_not_allowed(desk: Desk) -> Steps:
    key = desk.tenant.key(allowed_ips=["203.0.113.7"])
    refused = key.get(_WHOAMI)
    yield refused
    address = refused.json()["detail"].partition("from ")[2].partition(";")[0]
    yield desk.admin.patch(f"{KEYS}/{key.id}", {"allowed_ips": [address]})
    yield key.get(_WHOAMI)


def test_key_required(desk: Desk) -> Steps:
    moved = {"advance_s": 60}
    yield desk.key.call("PUT", f"{EXTERNAL}/test-clock", moved)
    yield desk.tenant.test_key().call("PUT", f"{EXTERNAL}/test-clock", moved)


def jwt_required(desk: Desk) -> Steps:
    yield desk.key.get(KEYS)
    yield Person(desk.service, desk.log_in().json()["data"]["access_token"]).get(KEYS)


def invalid_token(desk: Desk) -> Steps:
    desk.admin.post("/api/v1/auth/logout")
    yield desk.admin.get(KEYS)
    yield desk.tenant.admin().get(KEYS)


def invalid_credentials(desk: Desk) -> Steps:
    yield desk.log_in(password="wrong")
    yield desk.log_in(password=PASSWORD)


def two_factor_required(desk: Desk) -> Steps:
    _, codes = turn_on(logged_in(desk.tenant))
    yield desk.log_in()
    yield desk.log_in(code=codes[0])


def invalid_two_factor_code(desk: Desk) -> Steps:
    _, codes = turn_on(logged_in(desk.tenant))
    yield desk.log_in(code="000000")
    yield desk.log_in(code=codes[0])


def insufficient_role(desk: Desk) -> Steps:
    yield desk.tenant.log_in("agent").get(KEYS)
    yield desk.admin.get(KEYS, x_tenant_id=desk.service.tenant().id)
    yield desk.admin.get(KEYS)


def token_expired(desk: Desk) -> Steps:
    desk.service.clock.advance(3601)
    yield desk.admin.get(KEYS)
    yield desk.tenant.admin().get(KEYS)


def rate_limit_exceeded(desk: Desk) -> Steps:
    key = desk.tenant.key(rate_limit=1)
    key.get(_WHOAMI)
    refused = key.get(_WHOAMI)
    yield refused
    desk.wait(refused)
    yield key.get(_WHOAMI)


def too_many_attempts(desk: Desk) -> Steps:
    for _ in range(12):
        refused = desk.log_in(password="wrong")
    yield refused
    desk.wait(refused)
    yield desk.log_in()


def too_many_waiting_requests(desk: Desk) -> Steps:
    desk.limit("MAX_WAITERS_OF_TENANT", 0)
    cursor = desk.key.get(f"{_EVENTS}?start=latest").json()["meta"]["resume_cursor"]
    yield desk.key.get(f"{_EVENTS}?cursor={cursor}&wait=1")
    yield desk.key.get(f"{_EVENTS}?cursor={cursor}")
