"""The API of webhook endpoints (spec decision 11): validation, changes, secrets and audit."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sealdesk import clock
from sealdesk.crypto import webhook_signing
from sealdesk.webhooks.store import endpoints as endpoint_store
from sealdesk.webhooks.types import SUBSCRIBABLE
from tests.support.client import Key, Person
from tests.support.for_each import for_each
from tests.support.receiver import Receiver
from tests.support.service import Service, Tenant, wait_until
from tests.webhooks.factories import UNKNOWN, WEBHOOKS, faults, made

_LATER = 9_000_000_000_000_000


@pytest.fixture(scope="module")
def office(shared_service: Service) -> Tenant:
    """A tenant that the tests of this file share."""
    return shared_service.tenant()


@pytest.fixture(scope="module")
def admin(office: Tenant) -> Person:
    return office.admin()


def test_an_endpoint_may_be_sent_back_as_it_was_read(admin: Person, receiver: Receiver) -> None:
    at = f"{WEBHOOKS}/{made(admin, receiver)['id']}"
    shown = admin.get(at).json()["data"]
    again = admin.patch(at, shown, prefer="handling=strict")
    assert (again.status_code, again.json()["data"]) == (200, shown)
    assert faults(admin.patch(at, {"failing_since": shown["created_at"]})) == [
        ("/failing_since", "read_only")
    ]


def test_a_new_endpoint_is_shown_with_its_secret_once(admin: Person, receiver: Receiver) -> None:
    new = {"url": receiver.url, "events": ["reply.created", "ticket.created"], "description": "D"}
    answer = admin.post(WEBHOOKS, new)
    assert answer.status_code == 201
    shown = answer.json()["data"]
    path = f"{WEBHOOKS}/{shown['id']}"
    assert answer.headers["location"] == path
    assert answer.headers["cache-control"] == "private, no-store"
    secret = shown.pop("secret")
    assert secret.startswith("whsec_") and len(secret) == 6 + 44
    assert shown == {
        "id": shown["id"],
        "url": receiver.url,
        "events": ["ticket.created", "reply.created"],
        "description": "D",
        "is_active": True,
        "disabled_reason": None,
        "failing_since": None,
        "old_secret_expires_at": None,
        "created_at": shown["created_at"],
    }
    listed = admin.get(WEBHOOKS)
    assert admin.get(path).json()["data"] == shown == listed.json()["data"][0]
    assert secret not in listed.text + admin.get(path).text


def test_all_faults_are_reported_together(admin: Person) -> None:
    bad = {"url": 7, "events": [], "description": "d" * 256}
    assert faults(admin.post(WEBHOOKS, bad)) == [
        ("/url", "invalid_type"),
        ("/events", "too_few"),
        ("/description", "too_long"),
    ]
    assert faults(admin.post(WEBHOOKS, {})) == [("/url", "required"), ("/events", "required")]


def test_unknown_event_type_is_refused_with_the_nearest_and_all_types(admin: Person) -> None:
    types = ["ticket.created", "ticket.create", "webhook.test"]
    answer = admin.post(WEBHOOKS, {"url": "https://example.test", "events": types})
    assert faults(answer) == [
        ("/events/1", "unknown_event_type"),
        ("/events/2", "unknown_event_type"),
    ]
    message = answer.json()["errors"][0]["message"]
    assert "Did you mean ticket.created?" in message
    assert all(name in message for name in SUBSCRIBABLE) and "webhook.test" not in message


def test_event_types_are_deduplicated_and_sorted(admin: Person, receiver: Receiver) -> None:
    types = ["reply.created", "ticket.created", "reply.created"]
    assert made(admin, receiver, events=types)["events"] == ["ticket.created", "reply.created"]


def test_all_event_types_may_be_subscribed(admin: Person, receiver: Receiver) -> None:
    assert made(admin, receiver, events=list(SUBSCRIBABLE))["events"] == list(SUBSCRIBABLE)


@for_each(
    ("url", "cause"),
    [
        ("hooks.example.test/path", "url_invalid"),
        ("http://user:secret@127.0.0.1/", "url_invalid"),
        ("https://no-such-name.invalid/", "url_unresolvable"),
        ("http://169.254.169.254/latest/meta-data", "url_forbidden"),
        ("http://10.0.0.1/", "url_forbidden"),
        ("http://127.0.0.1:9/", "url_unreachable"),
        ("", "too_short"),
        ("https://example.test/" + "p" * 2048, "too_long"),
    ],
)
def test_a_url_that_cannot_be_sent_to_is_refused_with_its_cause(
    admin: Person, receiver: Receiver, url: str, cause: str
) -> None:
    before = _urls(admin)
    refused = admin.post(WEBHOOKS, {"url": url, "events": ["ticket.created"]})
    assert faults(refused) == [("/url", cause)]
    assert _urls(admin) == before
    endpoint = made(admin, receiver)
    path = f"{WEBHOOKS}/{endpoint['id']}"
    assert faults(admin.patch(path, {"url": url, "description": "new"})) == [("/url", cause)]
    assert admin.get(path).json()["data"]["description"] is None


def _urls(admin: Person) -> list[str]:
    """Of all endpoints: their other fields change when the worker delivers."""
    return [endpoint["url"] for endpoint in admin.get(WEBHOOKS).json()["data"]]


def test_url_is_connected_to_before_it_is_stored_and_nothing_is_sent(
    admin: Person, receiver: Receiver
) -> None:
    endpoint = made(admin, receiver)
    assert receiver.got == []
    receiver.stop()
    path = f"{WEBHOOKS}/{endpoint['id']}"
    assert admin.patch(path, {"description": "No URL, no check"}).status_code == 200
    assert admin.patch(path, {"url": receiver.url}).status_code == 200, "it is the same one"
    assert faults(admin.patch(path, {"url": receiver.url + "/2"})) == [("/url", "url_unreachable")]


def test_patch_changes_only_the_named_fields(admin: Person, receiver: Receiver) -> None:
    shown = made(admin, receiver, description="Before")
    shown.pop("secret")
    path = f"{WEBHOOKS}/{shown['id']}"
    change: dict[str, Any] = {
        "url": receiver.url + "/elsewhere",
        "events": ["customer.updated", "customer.created"],
        "description": None,
        "is_active": False,
    }
    for name, value in change.items():
        shown[name] = sorted(value) if name == "events" else value
        assert admin.patch(path, {name: value}).json()["data"] == shown
    assert admin.patch(path, {}).json()["data"] == admin.get(path).json()["data"] == shown


@pytest.mark.parametrize("field", ["url", "events", "is_active"])
def test_required_fields_cannot_be_null(admin: Person, receiver: Receiver, field: str) -> None:
    path = f"{WEBHOOKS}/{made(admin, receiver)['id']}"
    assert faults(admin.patch(path, {field: None})) == [(f"/{field}", "null_not_allowed")]


def test_deleted_endpoint_is_not_found(admin: Person, receiver: Receiver) -> None:
    endpoint = made(admin, receiver)
    path = f"{WEBHOOKS}/{endpoint['id']}"
    assert admin.delete(path).status_code == 204
    assert endpoint["id"] not in admin.get(WEBHOOKS).text
    calls = [
        admin.delete(path),
        admin.get(path),
        admin.patch(path, {"is_active": True}),
        admin.post(f"{path}/rotate-secret"),
        admin.post(f"{path}/test"),
        admin.get(f"{path}/deliveries"),
        admin.get(f"{path}/replays"),
    ]
    assert [answer.status_code for answer in calls] == [404] * len(calls)
    assert receiver.got == []


def test_a_deleted_endpoints_secrets_are_destroyed(admin: Person, receiver: Receiver) -> None:
    path = f"{WEBHOOKS}/{made(admin, receiver)['id']}"
    admin.post(f"{path}/rotate-secret")
    admin.delete(path)
    assert _row(admin.service, path)[:4] == (None, None, None, None)


def _row(service: Service, path: str) -> tuple[Any, ...]:
    sql = (
        "SELECT sealed_secret, sealed_old_secret, old_secret_until, due_at, wakes, is_active,"
        " disabled_reason FROM endpoints WHERE id = :id LIMIT 1"
    )
    return tuple(service.rows(sql, id=path.rpartition("/")[2])[0])


@for_each("known", [UNKNOWN, "no-id", UNKNOWN.upper()])
def test_an_unknown_id_is_not_found(admin: Person, known: str) -> None:
    path = f"{WEBHOOKS}/{known}"
    calls = [
        admin.get(path),
        admin.patch(path, {"url": "http://127.0.0.1:9/"}),
        admin.delete(path),
        admin.post(f"{path}/test"),
        admin.post(f"{path}/rotate-secret"),
        admin.get(f"{path}/deliveries"),
        admin.get(f"{path}/deliveries/{known}"),
        admin.post(f"{path}/deliveries/{known}/redeliver"),
        admin.get(f"{path}/replays"),
    ]
    assert {(answer.status_code, answer.json()["code"]) for answer in calls} == {(404, "not_found")}


def test_only_administrators_manage_webhooks(office: Tenant) -> None:
    refused = office.log_in("agent").get(WEBHOOKS)
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_role")


def test_signed_request_cannot_manage_webhooks(office: Tenant) -> None:
    key: Key = office.key()
    for answer in (key.get(WEBHOOKS), key.post(WEBHOOKS, {"url": "https://example.test"})):
        assert (answer.status_code, answer.json()["code"]) == (401, "jwt_required")


def test_another_tenants_endpoint_is_not_found(
    admin: Person, service: Service, receiver: Receiver
) -> None:
    path = f"{WEBHOOKS}/{made(admin, receiver)['id']}"
    delivery_id = admin.post(f"{path}/test").json()["data"]["id"]
    past = {"since": _ago(service, 7200), "until": _ago(service, 3600)}  # without events
    admin.post(f"{path}/replay", past)
    stranger = service.tenant("Strangers").admin()
    calls = [
        stranger.get(path),
        stranger.patch(path, {"is_active": False}),
        stranger.delete(path),
        stranger.post(f"{path}/rotate-secret"),
        stranger.post(f"{path}/test"),
        stranger.get(f"{path}/deliveries"),
        stranger.get(f"{path}/deliveries/{delivery_id}"),
        stranger.post(f"{path}/deliveries/{delivery_id}/redeliver"),
        stranger.post(f"{path}/replay", past),
        stranger.get(f"{path}/replays"),
    ]
    assert {(answer.status_code, answer.json()["code"]) for answer in calls} == {(404, "not_found")}
    own = f"{WEBHOOKS}/{made(stranger, receiver)['id']}"
    assert stranger.get(f"{own}/deliveries/{delivery_id}").status_code == 404
    assert stranger.post(f"{own}/deliveries/{delivery_id}/redeliver").status_code == 404
    assert admin.get(path).json()["data"]["is_active"] is True
    assert len(receiver.got) == 1


def _ago(service: Service, seconds: int) -> str:
    return clock.iso(service.clock.now_us() - seconds * 1_000_000)


def test_concurrent_changes_do_not_overwrite_each_other(admin: Person, receiver: Receiver) -> None:
    path = f"{WEBHOOKS}/{made(admin, receiver)['id']}"
    with ThreadPoolExecutor(2) as pool:
        for number in range(20):
            event = SUBSCRIBABLE[number % 2]
            changes: list[dict[str, Any]] = [{"description": str(number)}, {"events": [event]}]
            answers = list(pool.map(lambda change: admin.patch(path, change), changes))
            assert [answer.status_code for answer in answers] == [200, 200]
            shown = admin.get(path).json()["data"]
            assert (shown["description"], shown["events"]) == (str(number), [event])


def test_changes_by_users_and_by_the_worker_do_not_overwrite_each_other(
    admin: Person, office: Tenant, receiver: Receiver
) -> None:
    service, endpoint_id = office.service, made(admin, receiver)["id"]
    before = service.read(lambda tx: endpoint_store.find(tx, office.id, endpoint_id))
    assert before is not None
    service.run(
        "UPDATE endpoints SET is_active = FALSE, disabled_reason = 'gone', failing_since = 1"
        f" WHERE id = '{endpoint_id}'"
    )
    # As of a change that had read the endpoint before it was disabled.
    service.write(lambda tx: endpoint_store.update(tx, before))
    service.write(lambda tx: endpoint_store.store_secrets(tx, before))
    shown = admin.patch(f"{WEBHOOKS}/{endpoint_id}", {"description": "x"}).json()["data"]
    assert (shown["is_active"], shown["disabled_reason"]) == (False, "gone")


def test_activating_resets_failures_and_makes_the_endpoint_due(
    admin: Person, receiver: Receiver
) -> None:
    path = f"{WEBHOOKS}/{made(admin, receiver)['id']}"
    admin.service.run(
        "UPDATE endpoints SET is_active = FALSE, disabled_reason = 'failing', failing_since = 1"
        f" WHERE id = '{path.rpartition('/')[2]}'"
    )
    wakes = _row(admin.service, path)[4]
    shown = admin.patch(path, {"is_active": True}).json()["data"]
    assert (shown["is_active"], shown["disabled_reason"]) == (True, None)
    assert shown["failing_since"] is None
    assert _row(admin.service, path)[4] > wakes


def test_paused_endpoint_is_not_due(admin: Person, receiver: Receiver) -> None:
    path = f"{WEBHOOKS}/{made(admin, receiver)['id']}"
    admin.service.run(
        f"UPDATE endpoints SET due_at = {_LATER} WHERE id = '{path.rpartition('/')[2]}'"
    )
    wakes = _row(admin.service, path)[4]
    shown = admin.patch(path, {"is_active": False}).json()["data"]
    assert (shown["is_active"], shown["disabled_reason"]) == (False, None)
    assert _row(admin.service, path)[3:5] == (None, wakes + 1)


def test_every_action_is_audited_with_actor_and_address_and_no_secret(
    tenant: Tenant, receiver: Receiver
) -> None:
    admin = tenant.admin()
    token = "?token=canary"
    endpoint = made(admin, receiver, url=receiver.url + token)
    path = f"{WEBHOOKS}/{endpoint['id']}"
    admin.patch(path, {"url": receiver.url + "/2" + token, "description": "new"})
    admin.patch(path, {"description": "new"})
    refused = admin.patch(path, {"secret": "whsec_mine"})
    assert refused.status_code == 422 and "rotate-secret" in refused.text
    rotated = admin.post(f"{path}/rotate-secret").json()["data"]["secret"]
    delivery_id = admin.post(f"{path}/test").json()["data"]["id"]
    admin.post(f"{path}/deliveries/{delivery_id}/redeliver")
    service = tenant.service
    admin.post(f"{path}/replay", {"since": _ago(service, 60), "until": _ago(service, 1)})
    admin.delete(path)
    sql = "SELECT * FROM audit WHERE tenant_id = :id AND object_id = :of ORDER BY id LIMIT 50"
    rows = [dict(row) for row in service.rows(sql, id=tenant.id, of=endpoint["id"])]
    names = ["created", "updated", "rotated", "tested", "redelivered", "replayed", "deleted"]
    assert [row["action"] for row in rows] == [f"webhook.{name}" for name in names]
    assert {(row["actor_kind"], row["address"]) for row in rows} == {("user", "127.0.0.1")}
    details = [json.loads(row["details"]) for row in rows]
    assert details[1]["changes"] == {
        "url": [receiver.url, receiver.url + "/2"],
        "description": [None, "new"],
    }
    told = repr(rows)
    assert not any(secret in told for secret in (endpoint["secret"], rotated, "canary"))


def test_only_tests_record_events(tenant: Tenant, receiver: Receiver) -> None:
    admin = tenant.admin()
    path = f"{WEBHOOKS}/{made(admin, receiver)['id']}"
    admin.patch(path, {"is_active": False})
    admin.post(f"{path}/rotate-secret")
    admin.post(f"{path}/test")
    admin.delete(path)
    tenant.service.settle()
    rows = tenant.service.rows(
        "SELECT type FROM events WHERE tenant_id = :id ORDER BY id LIMIT 50", id=tenant.id
    )
    assert [row["type"] for row in rows] == ["webhook.test"]


def test_no_secret_is_stored_unencrypted(admin: Person, receiver: Receiver) -> None:
    endpoint = made(admin, receiver)
    path = f"{WEBHOOKS}/{endpoint['id']}"
    rotated = admin.post(f"{path}/rotate-secret").json()["data"]["secret"]
    admin.post(f"{path}/test")
    at_rest = admin.service.bytes_at_rest()
    assert endpoint["id"].encode() in at_rest
    for secret in (endpoint["secret"], rotated):
        assert secret.encode() not in at_rest
        assert secret.removeprefix("whsec_").encode() not in at_rest
        assert webhook_signing.key_of(secret) not in at_rest


def test_every_event_type_is_subscribed_to_by_an_asterisk(
    admin: Person, office: Tenant, receiver: Receiver
) -> None:
    endpoint = made(admin, receiver, events=["*"])
    assert endpoint["events"] == ["*"]
    office.key().ticket()
    wait_until(lambda: {"customer.created", "ticket.created"} <= _types(receiver))
    assert admin.post(f"{WEBHOOKS}/{endpoint['id']}/test").status_code == 200
    count = len([got for got in receiver.got if json.loads(got.body)["type"] == "webhook.test"])
    assert count == 1, "a test is sent once, and is no event of a subscription"
    mixed = admin.patch(f"{WEBHOOKS}/{endpoint['id']}", {"events": ["*", "ticket.created"]})
    assert faults(mixed) == [("/events/0", "unknown_event_type")]


def _types(receiver: Receiver) -> set[str]:
    return {json.loads(got.body)["type"] for got in receiver.got}


def test_a_subscription_to_tests_is_refused_with_the_reason(
    admin: Person, receiver: Receiver
) -> None:
    answer = admin.post(WEBHOOKS, {"url": receiver.url, "events": ["webhook.test"]})
    (fault,) = answer.json()["errors"]
    assert (answer.status_code, fault["code"]) == (422, "unknown_event_type")
    assert "/test sends it to that endpoint" in fault["message"]
