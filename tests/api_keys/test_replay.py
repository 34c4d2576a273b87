"""Keys that accept each signature of a write once (decisions 2)."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from sealdesk.api_keys import store
from sealdesk.api_keys.guard.signed import signed as signed_guard
from sealdesk.db.engine import Tx
from sealdesk.routes import SITE
from sealdesk.state import AppState
from sealdesk.web.application import Application
from sealdesk.web.operation import Route, operation
from sealdesk.web.request import Message, Request, Response
from tests.support.client import Headers, Key, Person, send
from tests.support.service import Service, Tenant

CUSTOMERS = "/api/v1/external/customers"
BODY = b'{"email": "ada@example.test"}'


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
    own_service.write(lambda tx: store.prune_signatures(tx, now_us, 100))
    rows = own_service.rows("SELECT signature FROM used_signatures LIMIT 10")
    assert bool(rows) == is_kept


async def write_only(request: Request) -> Response:
    """A handler that knows neither of replay protection nor of Idempotency-Key."""

    async def work(tx: Tx) -> Response:
        return Response(201)

    return await request.write(work)


async def send_to_application(state: AppState, headers: Headers) -> int:
    """The status of a signed POST to a route of its own."""
    route = Route("POST", "/write-only", signed_guard(), operation("", tag="")(write_only))
    messages: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": BODY}

    async def send_message(message: Message) -> None:
        messages.append(message)

    scope = {
        "type": "http",
        "method": route.method,
        "raw_path": route.path.encode(),
        "query_string": b"",
        "headers": [
            (b"content-length", b"%d" % len(BODY)),
            *((name.encode(), value.encode()) for name, value in headers.items()),
        ],
        "client": ("203.0.113.7", 50000),
    }
    await Application([route], state, SITE)(scope, receive, send_message)
    return int(messages[0]["status"])


def test_a_handler_that_only_writes_is_protected(tenant: Tenant) -> None:
    headers = signed(protected_key(tenant), "POST", "/write-only", BODY)
    statuses = [
        tenant.service.in_serving(lambda state: send_to_application(state, headers)) for _ in "12"
    ]
    assert statuses == [201, 401]
