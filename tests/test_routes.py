"""Every route refuses every caller without the right authentication or permission."""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import httpx
import pytest

from sealdesk import clock
from sealdesk.records import test_tenants
from sealdesk.routes import ROUTES
from sealdesk.web.openapi.tags import TAGS, path_of_tag
from sealdesk.web.operation import Open, Route, operation
from sealdesk.web.request import Request, Response
from tests.support.client import Headers, Key, Person, send
from tests.support.databases import Begin
from tests.support.for_each import for_each
from tests.support.receiver import LOOPBACK
from tests.support.service import Service
from tests.support.two_tenants import CANARY, Ours, marked_tenant

TICKETS = "/api/v1/external/tickets"
ATTACHMENTS = "/api/v1/external/attachments"
CUSTOMERS = "/api/v1/external/customers"
BY_EXTERNAL_ID = f"{CUSTOMERS}/by-external-id"
KEYS = "/api/v1/api-keys"
CLOCK = "/api/v1/external/test-clock"
REPLIES = f"{TICKETS}/{{ticket_id}}/replies"
PARTICIPANTS = f"{TICKETS}/{{ticket_id}}/participants"
FOLLOWERS = f"{TICKETS}/{{ticket_id}}/followers"
LINKS = f"{TICKETS}/{{ticket_id}}/links"
WEBHOOKS = "/api/v1/webhooks"
FIELDS = "/api/v1/custom-fields"
MACROS = "/api/v1/macros"
RULES = "/api/v1/rules"
POLICIES = "/api/v1/sla-policies"
MAILBOXES = "/api/v1/mailboxes"
FORMER = "/api/v1/former-addresses"
BLOCKS = "/api/v1/mail-blocks"
RECEIVED = "/api/v1/received-messages"
REQUESTS = "/api/v1/requests"
TEAMS = "/api/v1/teams"
MEMBERS = f"{TEAMS}/{{id}}/members"
DELIVERIES = f"{WEBHOOKS}/{{id}}/deliveries"
REPLAYS = f"{WEBHOOKS}/{{id}}/replays"

# How to call each row: its body, None for none. A row that is not here fails the matrix.
BODIES: dict[tuple[str, str], dict[str, Any] | None] = {
    ("GET", TICKETS): None,
    ("POST", TICKETS): {"subject": "S", "description": "D", "customer": {"email": "a@b.test"}},
    ("POST", f"{TICKETS}/bulk"): {
        "tickets": [{"subject": "S", "description": "D", "customer": {"email": "a@b.test"}}]
    },
    ("PATCH", f"{TICKETS}/bulk"): {"tickets": [{"id": "unknown", "subject": "Taken over"}]},
    ("GET", f"{TICKETS}/{{id}}"): None,
    ("GET", "/api/v1/external/reports"): None,
    ("GET", "/api/v1/external/reports/tickets"): None,
    ("PATCH", f"{TICKETS}/{{id}}"): {"subject": "Taken over"},
    ("GET", REPLIES): None,
    ("POST", REPLIES): {"body": "Taken over"},
    ("POST", ATTACHMENTS): {"any": "body"},
    ("GET", f"{ATTACHMENTS}/{{id}}"): None,
    ("GET", f"{ATTACHMENTS}/{{id}}/content"): None,
    ("GET", "/attachments/{id}"): None,
    ("POST", f"{TICKETS}/{{id}}/merge"): {"into": "unknown"},
    ("DELETE", f"{TICKETS}/{{id}}/merge"): None,
    ("POST", f"{TICKETS}/{{id}}/split"): {"reply_id": "unknown", "subject": "Taken over"},
    ("POST", f"{TICKETS}/{{id}}/rating-link"): None,
    ("GET", "/api/v1/external/search"): None,
    ("GET", PARTICIPANTS): None,
    ("PUT", PARTICIPANTS): {"participants": []},
    ("GET", FOLLOWERS): None,
    ("POST", FOLLOWERS): {"user_id": "unknown"},
    ("DELETE", f"{FOLLOWERS}/{{user_id}}"): None,
    ("GET", LINKS): None,
    ("POST", LINKS): {"relation": "blocks", "ticket_id": "unknown"},
    ("DELETE", f"{LINKS}/{{other_id}}"): None,
    ("GET", CUSTOMERS): None,
    ("POST", CUSTOMERS): {"email": "known-to-both@customers.test"},
    ("PUT", f"{BY_EXTERNAL_ID}/{{external_id}}"): {"email": "new@customers.test"},
    ("POST", f"{CUSTOMERS}/{{id}}/merge"): {"into": "unknown"},
    ("DELETE", f"{CUSTOMERS}/{{id}}/merge"): None,
    ("GET", f"{CUSTOMERS}/{{id}}"): None,
    ("PATCH", f"{CUSTOMERS}/{{id}}"): {"name": "Taken over"},
    ("DELETE", f"{CUSTOMERS}/{{id}}"): None,
    ("POST", f"{CUSTOMERS}/{{id}}/erase"): None,
    ("GET", f"{CUSTOMERS}/{{id}}/erasure"): None,
    ("GET", "/api/v1/external/agents"): None,
    ("GET", "/api/v1/external/teams"): None,
    ("GET", "/api/v1/external/events"): None,
    ("GET", "/api/v1/external/whoami"): None,
    ("GET", CLOCK): None,
    ("PUT", CLOCK): {"advance_s": 1},
    ("GET", KEYS): None,
    ("POST", KEYS): {"name": "A key"},
    ("GET", f"{KEYS}/{{id}}"): None,
    ("PATCH", f"{KEYS}/{{id}}"): {"name": "Taken over"},
    ("DELETE", f"{KEYS}/{{id}}"): None,
    ("POST", f"{KEYS}/{{id}}/rotate"): None,
    ("POST", f"{KEYS}/{{id}}/confirm"): None,
    ("GET", f"{KEYS}/{{id}}/refusals"): None,
    ("GET", WEBHOOKS): None,
    # The URL is the service's own: it is reached, and nothing is ever sent to it.
    ("POST", WEBHOOKS): {"url": "", "events": ["webhook.disabled"]},
    ("GET", f"{WEBHOOKS}/{{id}}"): None,
    ("PATCH", f"{WEBHOOKS}/{{id}}"): {"description": "Taken over", "is_active": True},
    ("DELETE", f"{WEBHOOKS}/{{id}}"): None,
    ("POST", f"{WEBHOOKS}/{{id}}/rotate-secret"): None,
    ("POST", f"{WEBHOOKS}/{{id}}/test"): None,
    ("GET", DELIVERIES): None,
    ("GET", f"{DELIVERIES}/{{delivery_id}}"): None,
    ("POST", f"{DELIVERIES}/{{delivery_id}}/redeliver"): None,
    ("POST", f"{WEBHOOKS}/{{id}}/redeliver-failed"): {},
    ("POST", f"{WEBHOOKS}/{{id}}/retry-now"): None,
    ("POST", f"{WEBHOOKS}/{{id}}/replay"): {},
    ("GET", REPLAYS): None,
    ("GET", REQUESTS): None,
    ("GET", f"{REQUESTS}/{{request_id}}"): None,
    ("GET", MAILBOXES): None,
    ("POST", MAILBOXES): {"address": "taken-over@acme.test"},
    ("GET", f"{MAILBOXES}/{{id}}"): None,
    ("PATCH", f"{MAILBOXES}/{{id}}"): {"signature": "Taken over"},
    ("DELETE", f"{MAILBOXES}/{{id}}"): None,
    ("POST", f"{MAILBOXES}/{{id}}/test"): None,
    ("POST", f"{MAILBOXES}/{{id}}/code"): {"address": "taken-over@acme.test"},
    ("POST", f"{MAILBOXES}/{{id}}/verify"): {"address": "taken-over@acme.test", "code": "wrong"},
    ("GET", RECEIVED): None,
    ("GET", f"{RECEIVED}/{{id}}"): None,
    ("DELETE", f"{RECEIVED}/{{id}}"): None,
    ("GET", f"{RECEIVED}/{{id}}/raw"): None,
    ("POST", f"{RECEIVED}/{{id}}/release"): None,
    ("POST", f"{RECEIVED}/{{id}}/add-sender"): None,
    ("POST", f"{RECEIVED}/{{id}}/open-ticket"): None,
    ("GET", FORMER): None,
    ("DELETE", f"{FORMER}/{{address}}"): None,
    ("GET", BLOCKS): None,
    ("POST", BLOCKS): {"pattern": "@taken-over.test"},
    ("DELETE", f"{BLOCKS}/{{pattern}}"): None,
    ("GET", FIELDS): None,
    ("POST", FIELDS): {"key": "taken_over", "label": "Taken over", "type": "text"},
    ("GET", f"{FIELDS}/{{id}}"): None,
    ("PATCH", f"{FIELDS}/{{id}}"): {"label": "Taken over"},
    ("DELETE", f"{FIELDS}/{{id}}"): None,
    ("GET", RULES): None,
    ("POST", RULES): {"name": "A rule", "trigger": "created", "actions": {"priority": "high"}},
    ("GET", f"{RULES}/{{id}}"): None,
    ("PATCH", f"{RULES}/{{id}}"): {"name": "Taken over"},
    ("DELETE", f"{RULES}/{{id}}"): None,
    ("GET", f"{RULES}/{{id}}/dry-run"): None,
    ("GET", POLICIES): None,
    ("POST", POLICIES): {"name": "A policy", "resolution_minutes": 9, "counts": "calendar"},
    ("GET", f"{POLICIES}/{{id}}"): None,
    ("PATCH", f"{POLICIES}/{{id}}"): {"name": "Taken over"},
    ("DELETE", f"{POLICIES}/{{id}}"): None,
    ("GET", MACROS): None,
    ("POST", MACROS): {"name": "A macro", "shortcut": "taken", "body": "Hello"},
    ("GET", f"{MACROS}/{{id}}"): None,
    ("PATCH", f"{MACROS}/{{id}}"): {"name": "Taken over"},
    ("DELETE", f"{MACROS}/{{id}}"): None,
    ("GET", TEAMS): None,
    ("POST", TEAMS): {"name": "Known to both"},
    ("GET", f"{TEAMS}/{{id}}"): None,
    ("PATCH", f"{TEAMS}/{{id}}"): {"name": "Taken over"},
    ("DELETE", f"{TEAMS}/{{id}}"): None,
    ("GET", MEMBERS): None,
    ("POST", MEMBERS): {"user_id": "unknown"},
    ("DELETE", f"{MEMBERS}/{{user_id}}"): None,
    ("POST", "/api/v1/auth/login"): {"email": f"{CANARY}@example.test", "password": "wrong"},
    ("POST", "/api/v1/auth/reset"): {"token": "wrong", "new": "a long enough passphrase"},
    ("GET", "/api/v1/auth/me"): None,
    ("POST", "/api/v1/auth/logout"): None,
    ("POST", "/api/v1/auth/password"): {"current": "wrong", "new": "a long enough passphrase"},
    ("GET", "/api/v1/time"): None,
    ("GET", "/healthz"): None,
    ("GET", "/healthz/installation"): None,
    ("GET", "/readyz"): None,
    ("GET", "/metrics"): None,
    ("GET", "/openapi.json"): None,
    **{("GET", path_of_tag(tag)): None for tag in TAGS},
    ("GET", "/docs"): None,
    ("GET", "/docs.md"): None,
    ("GET", "/docs/{page}"): None,
    ("GET", "/docs/{folder}/{page}"): None,
    ("GET", "/llms.txt"): None,
    ("GET", "/llms-full.txt"): None,
}
KEY_WEBHOOKS, KEY_RULES = "/api/v1/external/webhooks", "/api/v1/external/rules"
BODIES |= {
    (method, path.replace("/api/v1", "/api/v1/external")): body
    for (method, path), body in BODIES.items()
    if path.startswith((WEBHOOKS, RULES))
}
BODIES["POST", KEY_RULES] = {**(BODIES["POST", RULES] or {}), "name": "A rule by a key"}
SIGNED = [route for route in ROUTES if route.guard.scheme == "hmac"]
# Those that every key may use; the clock is for test keys only.
OF_EVERY_KEY = [route for route in SIGNED if route.path != CLOCK]
LOGGED_IN = [route for route in ROUTES if route.guard.scheme == "jwt"]
OPEN = [route for route in ROUTES if route.guard.scheme == "none"]
FOR_ADMINISTRATORS = [route for route in LOGGED_IN if "agent" not in route.guard.needs]
# Data of the tenant that every user may see; the other routes are of the user's own account.
OF_EVERY_USER = [route for route in LOGGED_IN if route.path.startswith(RECEIVED)]
CREATE_WEBHOOK = next(r for r in ROUTES if (r.method, r.path) == ("POST", WEBHOOKS))
LISTS = [route for route in ROUTES if route.operation.is_list and route.method == "GET"]


def named(route: Route) -> str:
    return f"{route.method} {route.path}"


class Matrix(NamedTuple):
    """Our tenant, and the stranger who tries.

    test_key: of the test tenant of our tenant. live_key: of a tenant whose test tenant ours is.
    """

    service: Service
    ours: Ours
    stranger_key: Key
    stranger: Person
    test_key: Key
    live_key: Key

    def anybody(self) -> Person:
        return Person(self.service, "")

    def target(self, route: Route) -> str:
        """The path of a route with ids of our tenant."""
        ids = {
            TICKETS: self.ours.ticket["id"],
            ATTACHMENTS: self.ours.attachment_id,
            "/attachments": self.ours.attachment_id,
            CUSTOMERS: self.ours.customer_id,
            BY_EXTERNAL_ID: "known-to-both",
            KEYS: self.ours.key.id,
            WEBHOOKS: self.ours.webhook_id,
            KEY_WEBHOOKS: self.ours.webhook_id,
            FIELDS: self.ours.field_id,
            MACROS: self.ours.macro_id,
            RULES: self.ours.rule_id,
            KEY_RULES: self.ours.rule_id,
            POLICIES: self.ours.policy_id,
            REQUESTS: self.ours.request_id,
            TEAMS: self.ours.team_id,
            MAILBOXES: self.ours.mailbox_id,
            FORMER: "former-of-ours%40acme.test",
            BLOCKS: "%40blocked-by-us.test",
            RECEIVED: self.ours.received_id,
        }
        if route.path.endswith("/erasure"):
            return route.path.replace("{id}", self.ours.erased_id)
        start, brace, rest = route.path.partition("/{")
        path = f"{start}/{ids[start]}{rest.partition('}')[2]}" if brace else start
        path = path.replace("{user_id}", self.ours.agent_id)
        path = path.replace("{other_id}", self.ours.ticket["id"])
        return path.replace("{delivery_id}", self.ours.delivery_id)

    def body(self, route: Route) -> dict[str, Any] | None:
        """The body that is sent to a route."""
        body = BODIES[route.method, route.path]
        if route.path in (WEBHOOKS, KEY_WEBHOOKS) and body:
            return {**body, "url": self.service.url}
        if route.path.endswith("/redeliver-failed"):
            return {"since": clock.iso(self.service.clock.now_us() - 1)}
        if route.path.endswith("/replay"):
            now_us = self.service.clock.now_us()
            return {"since": clock.iso(now_us - 2), "until": clock.iso(now_us - 1)}
        return body

    def call(self, who: Key | Person, route: Route, headers: Headers | None = None) -> Any:
        """The response, after a check that it neither shows nor changes data of our tenant."""
        before = self.ours.contents()
        body = self.body(route)
        response = who.call(route.method, self.target(route), body, headers=headers)
        assert CANARY not in response.text + str(response.headers)
        assert self.ours.contents() == before
        return response


@pytest.fixture(scope="module")
def matrix(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Matrix]:
    with begin(tmp_path_factory.mktemp("matrix"), **LOOPBACK) as service:
        ours, stranger = marked_tenant(service), service.tenant("Strangers")
        test, live = service.tenant("Test"), service.tenant("Live")
        for tested, beside in ((test, ours.tenant), (ours.tenant, live)):
            service.write(partial(test_tenants.add, tenant_id=tested.id, live_id=beside.id))
        test_key, live_key = test.key(), live.key()
        assert test_key.api_key.startswith("tk_test_")
        yield Matrix(service, ours, stranger.key(), stranger.admin(), test_key, live_key)


def refusal(response: httpx.Response) -> tuple[int, str]:
    assert response.headers["content-type"] == "application/problem+json"
    return response.status_code, response.json()["code"]


def test_the_matrix_knows_how_to_call_every_route() -> None:
    assert {(route.method, route.path) for route in ROUTES} == BODIES.keys()


def test_every_route_has_a_known_guard() -> None:
    assert len(SIGNED) + len(LOGGED_IN) + len(OPEN) == len(ROUTES)
    assert {route.path for route in OPEN if route.path.startswith("/api/")} == {
        "/api/v1/time",
        "/api/v1/auth/login",
        "/api/v1/auth/reset",
    }


@for_each("route", [r for r in OF_EVERY_KEY if r.method == "GET"], ids=named)
def test_a_key_sees_the_data_of_its_tenant(matrix: Matrix, route: Route) -> None:
    response = matrix.ours.key.get(matrix.target(route))
    assert response.status_code == 200
    assert _mark_of(matrix.ours, route) in response.text


def _mark_of(ours: Ours, route: Route) -> str:
    """What a response of the route shows of this tenant's data, and of no other's."""
    if route.path.endswith("/reports"):
        return '"created"'  # how many, without a text
    if route.path.endswith("/replays"):
        return ours.replay_id  # it has no text that could be marked
    if route.path.endswith("/erasure"):
        return ours.erased_id
    return ours.key.id if route.path == REQUESTS else CANARY


@for_each("route", [r for r in FOR_ADMINISTRATORS if r.method == "GET"], ids=named)
def test_an_administrator_sees_the_data_of_their_tenant(matrix: Matrix, route: Route) -> None:
    target = matrix.target(route)
    if route.path == REQUESTS:
        target += f"?key_id={matrix.ours.key.id}"  # the newest are of other tests and their keys
    response = matrix.ours.admin.get(target)
    assert response.status_code == 200
    assert _mark_of(matrix.ours, route) in response.text


@for_each("route", SIGNED, ids=named)
def test_signed_routes_need_a_signature(matrix: Matrix, route: Route) -> None:
    assert refusal(matrix.call(matrix.anybody(), route)) == (401, "missing_credentials")


@for_each("route", LOGGED_IN, ids=named)
def test_routes_for_people_need_an_access_token(matrix: Matrix, route: Route) -> None:
    assert refusal(matrix.call(matrix.anybody(), route)) == (401, "jwt_required")


@for_each("route", SIGNED, ids=named)
def test_a_revoked_key_is_refused_on_every_route(matrix: Matrix, route: Route) -> None:
    assert refusal(matrix.call(matrix.ours.revoked, route)) == (401, "api_key_revoked")


@for_each("route", SIGNED, ids=named)
def test_an_expired_key_is_refused_on_every_route(matrix: Matrix, route: Route) -> None:
    assert refusal(matrix.call(matrix.ours.expired, route)) == (401, "api_key_expired")


@for_each("route", [r for r in SIGNED if r.guard.needs], ids=named)
def test_a_key_without_the_permission_is_forbidden(matrix: Matrix, route: Route) -> None:
    response = matrix.call(matrix.ours.powerless, route)
    assert refusal(response) == (403, "insufficient_permissions")


@for_each("whose", ["stranger_key", "test_key", "live_key"])
@for_each("route", OF_EVERY_KEY, ids=named)
def test_a_key_of_another_tenant_finds_no_data_of_this_tenant(
    matrix: Matrix, route: Route, whose: str
) -> None:
    response = matrix.call(getattr(matrix, whose), route)
    if "{" in route.path and not route.takes_names:
        assert refusal(response) == (404, "not_found")
    else:
        assert response.is_success


@for_each("route", [r for r in OF_EVERY_KEY if r.method != "GET"], ids=named)
def test_every_signed_write_accepts_a_signature_once(matrix: Matrix, route: Route) -> None:
    key = matrix.service.tenant("Replayed").key(replay_protection="writes")
    target, body = _prepare(matrix, key, route)
    content = b"" if body is None else json.dumps(body).encode()
    headers = key.signature_headers(route.method, target, content)
    headers["content-type"] = "application/json"
    first, second = (
        send(key.service, route.method, target, content, headers) for _ in ("first", "second")
    )
    assert first.is_success
    assert refusal(second) == (401, "signature_replayed")


def _prepare(matrix: Matrix, key: Key, route: Route) -> tuple[str, dict[str, Any] | None]:
    """The target and the body with which a write succeeds."""
    if route.path.startswith(KEY_WEBHOOKS):
        return _prepare_webhook(matrix, key, route)
    if route.path.startswith(KEY_RULES):
        return _prepare_rule(key, route)
    ticket = key.ticket()
    customer = key.customer("without-tickets@customers.test")
    ids = {TICKETS: ticket["id"], CUSTOMERS: customer["id"], BY_EXTERNAL_ID: "new"}
    start, brace, rest = route.path.partition("/{")
    target = f"{start}/{ids[start]}{rest.partition('}')[2]}" if brace else start
    target = target.replace("{user_id}", matrix.ours.agent_id).replace("{other_id}", ticket["id"])
    root = CUSTOMERS if route.path.startswith(CUSTOMERS) else TICKETS
    return target, _prepare_one(key, f"{root}/{ids[root]}", route)


def _prepare_webhook(matrix: Matrix, key: Key, route: Route) -> tuple[str, dict[str, Any] | None]:
    new = {**(BODIES["POST", KEY_WEBHOOKS] or {}), "url": matrix.service.url}
    if route.path == KEY_WEBHOOKS:
        return KEY_WEBHOOKS, new
    endpoint_id = key.post(KEY_WEBHOOKS, new).json()["data"]["id"]
    target = route.path.replace("{id}", endpoint_id)
    if "{delivery_id}" in target:
        delivery = key.post(f"{KEY_WEBHOOKS}/{endpoint_id}/test", None).json()["data"]
        target = target.replace("{delivery_id}", delivery["id"])
    return target, matrix.body(route)


def _prepare_rule(key: Key, route: Route) -> tuple[str, dict[str, Any] | None]:
    if route.path == KEY_RULES:
        return KEY_RULES, BODIES["POST", KEY_RULES]
    new = {**(BODIES["POST", KEY_RULES] or {}), "name": route.method}
    rule_id = key.post(KEY_RULES, new).json()["data"]["id"]
    return route.path.replace("{id}", rule_id), BODIES[route.method, route.path]


def _prepare_one(key: Key, path: str, route: Route) -> dict[str, Any] | None:
    """path: of the ticket or customer."""
    if route.path.endswith("/split"):
        reply = key.post(f"{path}/replies", {"body": "A second question"}).json()["data"]
        return {"reply_id": reply["id"], "subject": "Taken over"}
    if route.path.endswith("/bulk") and route.method == "PATCH":
        return {"tickets": [{"id": path.rpartition("/")[2], "subject": "Taken over"}]}
    if route.path.endswith("/followers"):
        return {"user_id": key.get("/api/v1/external/agents").json()["data"][0]["id"]}
    if route.path.endswith("/links"):
        return {"relation": "blocks", "ticket_id": key.ticket(subject="The other one")["id"]}
    if not route.path.endswith("/merge"):
        return BODIES[route.method, route.path]
    if route.path.startswith(CUSTOMERS):
        merge = {"into": key.customer("the-other-one@customers.test")["id"]}
    else:
        merge = {"into": key.ticket(subject="The other one")["id"]}
    if route.method == "POST":
        return merge
    key.post(f"{path}/merge", merge)
    return None


@for_each("route", SIGNED, ids=named)
def test_an_access_token_does_not_authenticate_signed_routes(matrix: Matrix, route: Route) -> None:
    for person in (matrix.ours.admin, matrix.stranger):
        assert refusal(matrix.call(person, route)) == (401, "missing_credentials")


@for_each("route", LOGGED_IN, ids=named)
def test_a_signature_does_not_authenticate_routes_for_people(matrix: Matrix, route: Route) -> None:
    ours = matrix.ours
    for key in (ours.key, ours.powerless, ours.revoked, ours.expired, matrix.stranger_key):
        assert refusal(matrix.call(key, route)) == (401, "jwt_required")


@for_each("route", FOR_ADMINISTRATORS, ids=named)
def test_an_agent_is_refused_on_routes_for_administrators(matrix: Matrix, route: Route) -> None:
    assert refusal(matrix.call(matrix.ours.agent, route)) == (403, "insufficient_role")


@for_each("route", FOR_ADMINISTRATORS, ids=named)
def test_an_administrator_of_another_tenant_finds_no_data_of_this_tenant(
    matrix: Matrix, route: Route
) -> None:
    response = matrix.call(matrix.stranger, route)
    if "{" in route.path:
        assert refusal(response) == (404, "not_found")
    else:
        assert response.is_success


@for_each("route", FOR_ADMINISTRATORS, ids=named)
def test_an_administrator_cannot_name_another_tenant(matrix: Matrix, route: Route) -> None:
    named_tenant: Headers = {"x-tenant-id": matrix.ours.tenant.id}
    response = matrix.call(matrix.stranger, route, named_tenant)
    assert refusal(response) == (403, "insufficient_role")


@for_each("route", OF_EVERY_USER, ids=named)
def test_a_user_of_another_tenant_finds_no_data_of_this_tenant(
    matrix: Matrix, route: Route
) -> None:
    response = matrix.call(matrix.stranger, route)
    if "{" in route.path:
        assert refusal(response) == (404, "not_found")
    else:
        assert response.json()["data"] == []


@for_each("route", [r for r in OF_EVERY_USER if r.method == "GET"], ids=named)
def test_an_agent_sees_the_data_of_their_tenant(matrix: Matrix, route: Route) -> None:
    response = matrix.ours.agent.get(matrix.target(route))
    assert response.status_code == 200
    assert CANARY in response.text


@for_each(
    "route", [r for r in LOGGED_IN if r not in (*FOR_ADMINISTRATORS, *OF_EVERY_USER)], ids=named
)
def test_an_administrator_of_another_tenant_reaches_their_own_account(
    matrix: Matrix, route: Route
) -> None:
    stranger = matrix.service.tenant("More strangers").admin()
    assert matrix.call(stranger, route).status_code in (200, 204, 401)


@for_each("route", [r for r in OPEN if not r.takes_names], ids=named)
def test_public_routes_show_no_data_of_a_tenant(matrix: Matrix, route: Route) -> None:
    # A link needs its token: 404.
    assert matrix.call(matrix.anybody(), route).status_code in (200, 401, 404)


@for_each("route", LISTS, ids=named)
def test_a_cursor_of_another_tenant_is_refused(matrix: Matrix, route: Route) -> None:
    is_signed = route.guard.scheme == "hmac"
    mine: Key | Person = matrix.ours.key if is_signed else matrix.ours.admin
    theirs: Key | Person = matrix.stranger_key if is_signed else matrix.stranger
    cursor = mine.get(f"{matrix.target(route)}?per_page=1").json()["meta"]["next_cursor"]
    assert cursor, "our tenant needs two rows in every list"
    target = matrix.target(route)
    if route.path in (REPLIES, FOLLOWERS, LINKS):
        theirs_id = matrix.stranger_key.ticket()["id"]
        target = f"{TICKETS}/{theirs_id}/{route.path.rpartition('/')[2]}"
    elif route.path.endswith("/refusals"):
        target = f"{KEYS}/{matrix.stranger_key.id}/refusals"
    elif route.path.endswith(("/deliveries", "/replays")):
        made = matrix.stranger.post(WEBHOOKS, matrix.body(CREATE_WEBHOOK)).json()["data"]
        target = route.path.replace("{id}", made["id"])
    elif route.path == MEMBERS:
        made = matrix.stranger.post(TEAMS, {"name": f"Team {cursor[-9:]}"}).json()["data"]
        target = route.path.replace("{id}", made["id"])
    response = theirs.get(f"{target}?per_page=1&cursor={cursor}")
    assert refusal(response) == (400, "invalid_cursor")
    assert response.json()["reason"] == "malformed"
    assert CANARY not in response.text


@for_each("parameter", ["customer_id", "assignee_id", "team_id"])
def test_a_filter_by_a_foreign_id_finds_nothing(matrix: Matrix, parameter: str) -> None:
    foreign = {
        "customer_id": matrix.ours.customer_id,
        "assignee_id": matrix.ours.agent_id,
        "team_id": matrix.ours.team_id,
    }
    query = f"{TICKETS}?{parameter}={foreign[parameter]}"
    assert matrix.ours.key.get(query).json()["data"]
    response = matrix.stranger_key.get(query)
    assert (response.status_code, response.json()["data"]) == (200, [])


def test_a_filter_by_a_foreign_email_finds_nothing(matrix: Matrix) -> None:
    query = f"{CUSTOMERS}?email={CANARY}-2@customers.test"
    assert matrix.ours.key.get(query).json()["data"]
    assert matrix.stranger_key.get(query).json()["data"] == []


def test_a_ticket_cannot_be_assigned_to_a_foreign_agent(matrix: Matrix) -> None:
    key, agent_id = matrix.stranger_key, matrix.ours.agent_id
    path = f"{TICKETS}/{key.ticket()['id']}"
    new = {**(BODIES["POST", TICKETS] or {}), "assignee_id": agent_id}
    for response in (key.post(TICKETS, new), key.patch(path, {"assignee_id": agent_id})):
        assert response.status_code == 422
        assert [fault["pointer"] for fault in response.json()["errors"]] == ["/assignee_id"]
        assert CANARY not in response.text


def test_a_ticket_cannot_be_given_a_foreign_customer(matrix: Matrix) -> None:
    customer = {"id": matrix.ours.customer_id, "email": "new@example.test"}
    ticket = matrix.stranger_key.ticket(customer=customer, customer_id=matrix.ours.customer_id)
    assert ticket["customer"]["id"] != matrix.ours.customer_id
    changed = matrix.stranger_key.patch(f"{TICKETS}/{ticket['id']}", {"customer": customer})
    assert changed.status_code == 422
    shown = matrix.stranger_key.get(f"{TICKETS}/{ticket['id']}").json()["data"]
    assert shown["customer"] == ticket["customer"]


def test_an_email_address_of_another_tenants_customer_can_be_used(matrix: Matrix) -> None:
    elsewhere = matrix.service.tenant("More strangers").key()
    ticket = elsewhere.ticket(customer={"email": f"{CANARY}-2@customers.test"})
    assert ticket["customer"]["name"] is None
    assert CANARY in matrix.ours.key.get(f"{CUSTOMERS}?email={CANARY}-2@customers.test").text


@operation("Get", tag="Tickets")
async def _get_part(request: Request, ticket_id: str, part_id: str) -> Response:
    return Response(204)


@for_each(
    "path", ["/tickets/{id}", "/tickets/{id}/{part_id}/{other}", "/tickets/{part_id}/{ticket_id}"]
)
def test_handler_must_take_the_values_of_its_path(path: str) -> None:
    Route("GET", "/tickets/{id}/parts/{part_id}", Open(), _get_part)
    with pytest.raises(TypeError):
        Route("GET", path, Open(), _get_part)
