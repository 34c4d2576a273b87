"""Webhooks that an API key manages."""

import json

import pytest

from tests.support.client import Key, send
from tests.support.receiver import Receiver
from tests.support.service import Service, Tenant

WEBHOOKS = "/api/v1/external/webhooks"


@pytest.fixture(scope="module")
def office(shared_service: Service) -> Tenant:
    """A tenant that the tests of this file share."""
    return shared_service.tenant()


@pytest.fixture(scope="module")
def key(office: Tenant) -> Key:
    """A key that may nothing else, and whose signatures are accepted once."""
    granted = ["webhooks:read", "webhooks:write"]
    return office.key(name="Shop", permissions=granted, replay_protection="writes")


def test_a_key_creates_tests_rotates_and_deletes_an_endpoint(
    office: Tenant, key: Key, receiver: Receiver
) -> None:
    created = key.post(WEBHOOKS, {"url": receiver.url, "events": ["ticket.created"]})
    endpoint = created.json()["data"]
    path = f"{WEBHOOKS}/{endpoint['id']}"
    assert (created.status_code, created.headers["location"]) == (201, path)
    tested = key.post(f"{path}/test", None).json()["data"]
    assert (tested["status"], tested["event_type"]) == ("succeeded", "webhook.test")
    rotated = key.post(f"{path}/rotate-secret", None).json()["data"]
    assert rotated["secret"] != endpoint["secret"]
    shown = key.get(path).text + key.get(WEBHOOKS).text + key.get(f"{path}/deliveries").text
    assert endpoint["secret"] not in shown and rotated["secret"] not in shown
    assert key.call("DELETE", path, None).status_code == 204
    assert _audited(office, endpoint["id"], key) == [
        "webhook.created",
        "webhook.tested",
        "webhook.rotated",
        "webhook.deleted",
    ]


def _audited(office: Tenant, endpoint_id: str, key: Key) -> list[str]:
    """The actions on an endpoint that are recorded with the name of this key."""
    rows = office.service.rows(
        "SELECT action, details FROM audit WHERE tenant_id = :tenant AND object_id = :id"
        " AND actor_kind = 'api_key' AND actor_id = :key AND actor_name = 'Shop'"
        " ORDER BY id LIMIT 99",
        tenant=office.id,
        id=endpoint_id,
        key=key.id,
    )
    assert all("whsec_" not in json.dumps(row["details"]) for row in rows)
    return [row["action"] for row in rows]


def test_a_key_that_reads_everything_else_sees_no_webhook(office: Tenant) -> None:
    other = office.key(permissions=["tickets:read", "replies:read", "customers:read"])
    answer = other.get(WEBHOOKS)
    assert (answer.status_code, answer.json()["required"]) == (403, ["webhooks:read"])


def test_who_reads_webhooks_cannot_change_them(office: Tenant, receiver: Receiver) -> None:
    reader = office.key(permissions=["webhooks:read"])
    answer = reader.post(WEBHOOKS, {"url": receiver.url, "events": ["ticket.created"]})
    assert (answer.status_code, answer.json()["required"]) == (403, ["webhooks:write"])


def test_a_replayed_request_does_not_connect_to_its_url_again(key: Key, receiver: Receiver) -> None:
    created = key.post(WEBHOOKS, {"url": receiver.url, "events": ["ticket.created"]})
    path = f"{WEBHOOKS}/{created.json()['data']['id']}"
    body = b'{"url": "http://127.0.0.1:9/", "events": ["ticket.created"]}'
    for method, target in (("POST", WEBHOOKS), ("PATCH", path)):
        headers = key.signature_headers(method, target, body) | {"content-type": "application/json"}
        first, second = (send(key.service, method, target, body, headers) for _ in "12")
        assert (first.status_code, first.json()["errors"][0]["code"]) == (422, "url_unreachable")
        assert (second.status_code, second.json()["code"]) == (401, "signature_replayed")
    moved = key.patch(path, {"url": f"{receiver.url}/moved"})
    assert (moved.status_code, moved.json()["data"]["url"]) == (200, f"{receiver.url}/moved")
