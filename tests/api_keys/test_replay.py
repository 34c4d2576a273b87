"""Keys that accept each signature of a write once (spec decision 2)."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from sealdesk.api_keys.guard.signed import signed as signed_guard
from sealdesk.db.engine import Tx
from sealdesk.db.schema.retention import delete_expired
from sealdesk.routes import SITE
from sealdesk.state import AppState
from sealdesk.web.application import Application
from sealdesk.web.operation import Route, operation
from sealdesk.web.request import Request, Response
from tests.support.application import head_of
from tests.support.client import Headers, Key, Person, send
from tests.support.service import Service, Tenant

CUSTOMERS = "/api/v1/external/customers"
TICKETS = "/api/v1/external/tickets"
BODY = b'{"email": "ada@example.test"}'
REPLAYED = (401, "signature_replayed")


def protected_key(tenant: Tenant) -> Key:
    return tenant.key(replay_protection="writes")


def signed(key: Key, method: str, target: str, body: bytes) -> Headers:
    return key.signature_headers(method, target, body) | {"content-type": "application/json"}


def send_twice(key: Key, method: str, target: str, body: bytes) -> tuple[httpx.Response, ...]:
    headers = signed(key, method, target, body)
    first = send(key.service, method, target, body, headers)
    return first, send(key.service, method, target, body, headers)


def test_a_repeated_post_is_refused(tenant: Tenant) -> None:
    key = protected_key(tenant)
    first, second = send_twice(key, "POST", CUSTOMERS, BODY)
    assert first.status_code == 201
    assert (second.status_code, second.json()["code"]) == (401, "signature_replayed")
    assert second.headers["www-authenticate"] == "HMAC-SHA256"
    assert len(key.walk(CUSTOMERS)) == 1


def test_a_repeated_patch_is_refused(tenant: Tenant) -> None:
    key = protected_key(tenant)
    path = f"{CUSTOMERS}/{key.customer('ada@example.test')['id']}"
    first, second = send_twice(key, "PATCH", path, b'{"name": "Ada"}')
    assert (first.status_code, second.json()["code"]) == (200, "signature_replayed")


def test_a_repeated_get_is_accepted(tenant: Tenant) -> None:
    first, second = send_twice(protected_key(tenant), "GET", CUSTOMERS, b"")
    assert (first.status_code, second.status_code) == (200, 200)


def test_a_key_without_protection_accepts_a_repeated_write(key: Key) -> None:
    path = f"{CUSTOMERS}/{key.customer('ada@example.test')['id']}"
    first, second = send_twice(key, "PATCH", path, b'{"name": "Ada"}')
    assert (first.status_code, second.status_code) == (200, 200)


def test_a_write_that_was_refused_has_not_used_its_signature(tenant: Tenant) -> None:
    key = protected_key(tenant)
    headers = signed(key, "POST", CUSTOMERS, BODY)
    path = f"{CUSTOMERS}/{key.customer('ada@example.test', name='Ada')['id']}"
    taken = send(key.service, "POST", CUSTOMERS, BODY, headers)
    key.patch(path, {"email": "other@example.test"})
    free = send(key.service, "POST", CUSTOMERS, BODY, headers)
    assert (taken.status_code, free.status_code) == (409, 201)


def test_protection_applies_from_the_next_request(key: Key, admin: Person) -> None:
    headers = signed(key, "POST", CUSTOMERS, BODY)
    admin.patch(f"/api/v1/api-keys/{key.id}", {"replay_protection": "writes"})
    statuses = [send(key.service, "POST", CUSTOMERS, BODY, headers).status_code for _ in "12"]
    assert statuses == [201, 401]


def test_of_eight_copies_at_once_one_is_accepted(tenant: Tenant) -> None:
    key = protected_key(tenant)
    path = f"{CUSTOMERS}/{key.customer('ada@example.test')['id']}"
    body = b'{"name": "Ada"}'
    headers = signed(key, "PATCH", path, body)
    with ThreadPoolExecutor(8) as pool:
        responses = pool.map(lambda _: send(key.service, "PATCH", path, body, headers), range(8))
    assert sorted(response.status_code for response in responses) == [200] + [401] * 7


@pytest.mark.parametrize(("later_s", "is_kept"), [(599, True), (601, False)])
def test_a_signature_is_remembered_for_twice_the_skew(
    own_service: Service, later_s: int, is_kept: bool
) -> None:
    own_service.clock.stop()
    protected_key(own_service.tenant()).customer("ada@example.test")
    own_service.clock.advance(later_s)
    now_us = own_service.clock.now_us()
    own_service.write(lambda tx: delete_expired(tx, now_us, 100))
    rows = own_service.rows("SELECT signature FROM used_signatures LIMIT 10")
    assert bool(rows) == is_kept


def send_once(key: Key, headers: Headers, once: str | None, body: bytes = BODY) -> httpx.Response:
    """A POST with these signature headers, and an Idempotency-Key."""
    more = {} if once is None else {"idempotency-key": once}
    return send(key.service, "POST", CUSTOMERS, body, headers | more)


def outcome(response: httpx.Response) -> tuple[int, str]:
    """The status, and an error's code or how the response came about."""
    if response.is_success:
        return response.status_code, response.headers.get("idempotent-replayed", "first")
    return response.status_code, response.json()["code"]


def test_a_retry_with_the_same_idempotency_key_gets_the_first_response(tenant: Tenant) -> None:
    key = protected_key(tenant)
    headers = signed(key, "POST", CUSTOMERS, BODY)
    first, *retries = [send_once(key, headers, "one") for _ in range(3)]
    assert outcome(first) == (201, "first")
    for retry in retries:
        assert outcome(retry) == (201, "true")
        assert (retry.content, retry.headers["etag"]) == (first.content, first.headers["etag"])
    assert len(key.walk(CUSTOMERS)) == 1


@pytest.mark.parametrize("once", [None, "two", "", "x" * 256])
def test_a_copy_without_the_idempotency_key_stays_refused(tenant: Tenant, once: str | None) -> None:
    key = protected_key(tenant)
    headers = signed(key, "POST", CUSTOMERS, BODY)
    assert outcome(send_once(key, headers, "one")) == (201, "first")
    assert outcome(send_once(key, headers, once)) == REPLAYED
    assert len(key.walk(CUSTOMERS)) == 1


def test_an_idempotency_key_that_is_added_to_a_copy_does_not_help(tenant: Tenant) -> None:
    key = protected_key(tenant)
    other = b'{"email": "other@example.test"}'
    stored = send_once(key, signed(key, "POST", CUSTOMERS, other), "other", other)
    assert outcome(stored) == (201, "first")
    headers = signed(key, "POST", CUSTOMERS, BODY)
    assert outcome(send_once(key, headers, None)) == (201, "first")
    # Of no request, and of one with another body.
    assert [outcome(send_once(key, headers, once)) for once in ("new", "other")] == [REPLAYED] * 2


def test_idempotency_keys_of_others_do_not_help(service: Service, tenant: Tenant) -> None:
    body = b'{"subject": "S", "description": "D", "customer": {"email": "ada@example.test"}}'
    key = protected_key(tenant)
    for other in (protected_key(tenant), protected_key(service.tenant())):
        headers = signed(other, "POST", TICKETS, body) | {"idempotency-key": "theirs"}
        assert send(service, "POST", TICKETS, body, headers).status_code == 201
    headers = signed(key, "POST", TICKETS, body)
    assert send(service, "POST", TICKETS, body, headers).status_code == 201
    copied = send(service, "POST", TICKETS, body, headers | {"idempotency-key": "theirs"})
    assert outcome(copied) == REPLAYED


def test_a_retry_that_is_signed_again_uses_up_its_signature_too(tenant: Tenant) -> None:
    key = protected_key(tenant)
    at = key.service.clock.now_us() // 1_000_000
    first, again = (
        key.signature_headers("POST", CUSTOMERS, BODY, timestamp=timestamp)
        | {"content-type": "application/json"}
        for timestamp in (at - 1, at)
    )
    assert outcome(send_once(key, first, "one")) == (201, "first")
    assert outcome(send_once(key, again, "one")) == (201, "true")
    # Otherwise whoever recorded the retry could leave the header out, which is not signed.
    assert outcome(send_once(key, again, None)) == REPLAYED
    assert outcome(send_once(key, again, "two")) == REPLAYED


def test_a_refused_write_may_be_sent_again_under_its_idempotency_key(tenant: Tenant) -> None:
    key = protected_key(tenant)
    path = f"{CUSTOMERS}/{key.customer('ada@example.test', name='Ada')['id']}"
    headers = signed(key, "POST", CUSTOMERS, BODY)
    assert outcome(send_once(key, headers, "one")) == (409, "customer_email_taken")
    key.patch(path, {"email": "other@example.test"})
    outcomes = [outcome(send_once(key, headers, "one")) for _ in range(2)]
    assert outcomes == [(201, "first"), (201, "true")]


def test_a_patch_has_no_idempotency_key(tenant: Tenant) -> None:
    key, body = protected_key(tenant), b'{"name": "Ada"}'
    path = f"{CUSTOMERS}/{key.customer('ada@example.test')['id']}"
    headers = signed(key, "PATCH", path, body) | {"idempotency-key": "one"}
    responses = [send(key.service, "PATCH", path, body, headers) for _ in range(2)]
    assert [response.status_code for response in responses] == [200, 401]


def test_of_eight_copies_with_an_idempotency_key_none_is_refused_as_a_replay(
    tenant: Tenant,
) -> None:
    key = protected_key(tenant)
    headers = signed(key, "POST", CUSTOMERS, BODY)
    with ThreadPoolExecutor(8) as pool:
        responses = list(pool.map(lambda _: send_once(key, headers, "one"), range(8)))
    outcomes = [outcome(response) for response in responses]
    assert outcomes.count((201, "first")) == 1
    # On PostgreSQL a copy may be told to ask again for the response.
    assert set(outcomes) <= {(201, "first"), (201, "true"), (409, "idempotency_in_flight")}
    assert outcome(send_once(key, headers, "one")) == (201, "true")
    assert len(key.walk(CUSTOMERS)) == 1


def test_of_eight_copies_under_eight_idempotency_keys_one_is_accepted(tenant: Tenant) -> None:
    key = protected_key(tenant)
    body = b'{"subject": "S", "description": "D", "customer": {"email": "ada@example.test"}}'
    headers = signed(key, "POST", TICKETS, body)

    def send_under(once: int) -> httpx.Response:
        more = {"idempotency-key": str(once)}
        return send(key.service, "POST", TICKETS, body, headers | more)

    with ThreadPoolExecutor(8) as pool:
        outcomes = [outcome(response) for response in pool.map(send_under, range(8))]
    assert sorted(outcomes) == [(201, "first")] + [REPLAYED] * 7
    assert len(key.walk(TICKETS)) == 1


async def write_only(request: Request) -> Response:
    """A handler that knows neither of replay protection nor of Idempotency-Key."""

    async def work(tx: Tx) -> Response:
        return Response(201)

    return await request.write(work)


async def send_to_application(state: AppState, headers: Headers) -> int:
    """The status of a signed POST to a route of its own."""
    route = Route("POST", "/write-only", signed_guard(), operation("", tag="")(write_only))
    fields = [(name.encode(), value.encode()) for name, value in headers.items()]
    application = Application([route], state, SITE)
    head = await head_of(application, route.method, route.path.encode(), fields, BODY)
    return int(head["status"])


def test_a_handler_that_only_writes_is_protected(tenant: Tenant) -> None:
    headers = signed(protected_key(tenant), "POST", "/write-only", BODY)
    statuses = [
        tenant.service.in_serving(lambda state: send_to_application(state, headers)) for _ in "12"
    ]
    assert statuses == [201, 401]
