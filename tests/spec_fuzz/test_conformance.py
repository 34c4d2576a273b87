"""Whatever is sent, the answers are as the OpenAPI document says, and never a fault of ours."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from sealdesk.api_keys.request_log.recorder import write_requests
from sealdesk.event_log import long_poll
from sealdesk.routes import ROUTES
from sealdesk.web.operation import Route
from tests.mail.receiving.stored import received
from tests.support.client import Key, Person
from tests.support.closed_document import close
from tests.support.databases import SQLITE_FIRST, Begin
from tests.support.examples import examples
from tests.support.receiver import LOOPBACK
from tests.support.service import Service, Tenant

_CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
_DOCUMENTED = [row for row in ROUTES if row.operation.tag != "Documentation"]
Authenticate = Callable[[Any], Any]


class Fuzzed(NamedTuple):
    """The service, its document, and who calls."""

    service: Service
    document: Any
    tenant: Tenant
    key: Key
    admin: Person


@pytest.fixture(scope="module")
def fuzzed(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    """A service of the module's own: failing log-ins by the dozen would lock out other tests."""
    with (
        begin(tmp_path_factory.mktemp("fuzzed"), **LOOPBACK) as service,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(long_poll, "MAX_WAITERS", 0)  # nobody waits for an event
        tenant = service.tenant()
        yield Fuzzed(service, _document(service), tenant, tenant.key(), tenant.admin())


def _document(service: Service) -> Any:
    """The served document without its credentials: every request gets the right ones at the end."""
    served = close(Person(service, "").get("/openapi.json").json())
    for item in served["paths"].values():
        for operation in item.values():
            del operation["security"]
    document = schemathesis.openapi.from_dict(served)
    document.config.update(base_url=service.url)
    # Some bodies that are wrong are too long besides.
    document.config.checks.negative_data_rejection.expected_statuses += ["413"]
    return document


def _name(row: Route) -> str:
    return row.operation.name


@SQLITE_FIRST
@pytest.mark.parametrize("row", _DOCUMENTED, ids=_name)
def test_answers_are_as_documented(fuzzed: Fuzzed, row: Route) -> None:
    """Also the strict ones: to make an example takes ten times as long as to send it."""
    person, is_bulk = _person(fuzzed, row), row.path.endswith("/bulk")
    operation = fuzzed.document[row.path][row.method]
    # Each of several items has its own status: a wrong one is no refusal of the request.
    checks = [each for each in _CHECKS if not is_bulk or each is not negative_data_rejection]
    headers = [{}, {"Prefer": "handling=strict"}] if row.operation.takes else [{}]

    @settings(
        max_examples=examples(2),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=st.one_of(*_strategies(fuzzed, row, operation)))
    def conforms(case: Any) -> None:
        for each in headers:
            answer = case.call(auth=_proof(row, fuzzed.key, person), headers=each)
            case.validate_response(answer, checks=checks)

    conforms()


def _strategies(fuzzed: Fuzzed, row: Route, operation: Any) -> list[Any]:
    """Good and bad requests; where the path has an id, also with one that exists."""
    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    found = [operation.as_strategy(mode) for mode in modes]
    names = re.findall(r"\{(\w+)\}", row.path)
    if names:
        own = _own_of_room(fuzzed, row.path) or {names[0]: _own(fuzzed, row.path)}
        mine = {name: own[name] for name in names}
        found += [operation.as_strategy(mode, path_parameters=mine) for mode in modes]
    return found


def _own_of_room(fuzzed: Fuzzed, path: str) -> dict[str, str]:
    """The ids of something new in a room whose paths have their own; empty for others."""
    rooms = {
        "/webhooks/": _own_webhook, "/teams/": _own_team, "/macros/": _own_macro,
        "/rules/": _own_rule, "/sla-policies/": _own_policy,
        "/custom-fields/": _own_field, "/followers/": _own_follower,
        "/links/": _own_link,
        "/by-external-id/": _own_external_id,
        "/requests/": _own_request, "/erasure": _own_erasure,
        "/mailboxes/": _own_mailbox, "/mail-blocks/": _own_block,
        "/former-addresses/": _own_former_address,
        "/received-messages/": _own_message,
    }  # fmt: skip
    return next((new(fuzzed) for part, new in rooms.items() if part in path), {})


def _own_team(fuzzed: Fuzzed) -> dict[str, str]:
    """The ids of a new team, and of its member."""
    path, user_id = "/api/v1/teams", fuzzed.tenant.user("agent")
    team_id = fuzzed.admin.post(path, {"name": uuid4().hex}).json()["data"]["id"]
    fuzzed.admin.post(f"{path}/{team_id}/members", {"user_id": user_id})
    return {"id": team_id, "user_id": user_id}


def _own_request(fuzzed: Fuzzed) -> dict[str, str]:
    answer = fuzzed.key.get("/api/v1/external/whoami")
    fuzzed.service.in_serving(write_requests)
    return {"request_id": answer.headers["x-request-id"]}


def _own_erasure(fuzzed: Fuzzed) -> dict[str, str]:
    customer_id = str(fuzzed.key.customer(f"{uuid4().hex}@example.test")["id"])
    fuzzed.key.post(f"/api/v1/external/customers/{customer_id}/erase", None)
    return {"id": customer_id}


def _own_macro(fuzzed: Fuzzed) -> dict[str, str]:
    name = uuid4().hex[:20]
    new = {"name": name, "shortcut": name, "body": "Thank you."}
    return {"id": fuzzed.admin.post("/api/v1/macros", new).json()["data"]["id"]}


def _own_rule(fuzzed: Fuzzed) -> dict[str, str]:
    new = {"name": uuid4().hex, "trigger": "created", "actions": {"priority": "high"}}
    return {"id": fuzzed.admin.post("/api/v1/rules", new).json()["data"]["id"]}


def _own_policy(fuzzed: Fuzzed) -> dict[str, str]:
    name = uuid4().hex
    new = {"name": name, "tags": [name], "first_response_minutes": 9}
    answer = fuzzed.admin.post("/api/v1/sla-policies", {**new, "counts": "calendar"})
    return {"id": answer.json()["data"]["id"]}


def _own_mailbox(fuzzed: Fuzzed) -> dict[str, str]:
    # An address is of one mailbox, and a tenant has 20.
    address = f"{uuid4().hex[:20]}@acme.test"
    created = fuzzed.admin.post("/api/v1/mailboxes", {"address": address}).json()
    if "data" in created:
        return {"id": created["data"]["id"]}
    return {"id": fuzzed.admin.get("/api/v1/mailboxes").json()["data"][0]["id"]}


def _own_former_address(fuzzed: Fuzzed) -> dict[str, str]:
    address = f"{uuid4().hex[:20]}@acme.test"
    created = fuzzed.admin.post("/api/v1/mailboxes", {"address": address}).json()
    if "data" in created:
        fuzzed.admin.delete(f"/api/v1/mailboxes/{created['data']['id']}")
    return {"address": address.replace("@", "%40")}


def _own_block(fuzzed: Fuzzed) -> dict[str, str]:
    fuzzed.admin.post("/api/v1/mail-blocks", {"pattern": "@spam.test"})
    return {"pattern": "%40spam.test"}


def _own_message(fuzzed: Fuzzed) -> dict[str, str]:
    _own_mailbox(fuzzed)
    raw = f"From: a@b.test\nX-Spam-Flag: YES\nMessage-ID: <{uuid4().hex}@b.test>\n\nBuy.\n"
    return {"id": received(fuzzed.tenant, raw.encode())}


def _own_external_id(_: Fuzzed) -> dict[str, str]:
    return {"external_id": uuid4().hex}


def _own_field(fuzzed: Fuzzed) -> dict[str, str]:
    key = f"k{uuid4().hex[:20]}"
    new = {"key": key, "label": key, "type": "text"}
    return {"id": fuzzed.admin.post("/api/v1/custom-fields", new).json()["data"]["id"]}


def _own_follower(fuzzed: Fuzzed) -> dict[str, str]:
    """The ids of a new ticket, and of its follower."""
    ticket_id, user_id = str(fuzzed.key.ticket()["id"]), fuzzed.tenant.user("agent")
    fuzzed.key.post(f"/api/v1/external/tickets/{ticket_id}/followers", {"user_id": user_id})
    return {"ticket_id": ticket_id, "user_id": user_id}


def _own_link(fuzzed: Fuzzed) -> dict[str, str]:
    """The ids of two new tickets that are linked."""
    ticket_id, other_id = (str(fuzzed.key.ticket()["id"]) for _ in range(2))
    new = {"relation": "relates_to", "ticket_id": other_id}
    fuzzed.key.post(f"/api/v1/external/tickets/{ticket_id}/links", new)
    return {"ticket_id": ticket_id, "other_id": other_id}


def _own_webhook(fuzzed: Fuzzed) -> dict[str, str]:
    """The ids of a new endpoint, at the service itself, and of a delivery to it."""
    path, new = "/api/v1/webhooks", {"url": fuzzed.service.url, "events": ["webhook.disabled"]}
    endpoint_id = fuzzed.admin.post(path, new).json()["data"]["id"]
    delivery = fuzzed.admin.post(f"{path}/{endpoint_id}/test").json()["data"]
    return {"id": endpoint_id, "delivery_id": delivery["id"]}


def _own(fuzzed: Fuzzed, path: str) -> str:
    """The id of something new: also a key that signs nothing, so that it may be revoked."""
    if "/api-keys/" in path:
        return fuzzed.tenant.key().id
    if "/customers/" in path:
        return str(fuzzed.key.customer(f"{uuid4().hex}@example.test")["id"])
    return str(fuzzed.key.ticket()["id"])


def _person(fuzzed: Fuzzed, row: Route) -> Person:
    """The administrator, or somebody else where the token or the log-in is at stake."""
    is_own_account = row.path.startswith("/api/v1/auth/")
    return fuzzed.tenant.log_in("agent") if is_own_account else fuzzed.admin


def _proof(row: Route, key: Key, person: Person) -> Authenticate:
    """What proves a request once its bytes are final."""

    def prove(request: Any) -> Any:
        if row.guard.scheme == "hmac":
            body = request.body or b""
            content = body.encode() if isinstance(body, str) else body
            signed = key.signature_headers(request.method, request.path_url, content)
            request.headers.update(signed)
        elif row.guard.scheme == "jwt":
            request.headers["authorization"] = f"Bearer {person.token}"
        return request

    return prove
