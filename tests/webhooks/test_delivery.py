"""Delivery: every event reaches every subscribed endpoint, signed, after retries if needed."""

import itertools
import json
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook

from sealdesk.webhooks.delivery import fan_out
from tests.support.client import Key, Person
from tests.support.receiver import Receiver, Reply
from tests.support.service import Service, Tenant, wait_until
from tests.webhooks.factories import WEBHOOKS, made

_FEED = "/api/v1/external/events?type=ticket.created"
# The second attempt, too, comes only when the clock is advanced.
_LATER = {"Retry-After": "300"}


def deliveries(admin: Person, endpoint: dict[str, Any]) -> list[dict[str, Any]]:
    """Newest first."""
    return list(admin.get(f"{WEBHOOKS}/{endpoint['id']}/deliveries").json()["data"])


def until_tried(admin: Person, endpoint: dict[str, Any], count: int = 1) -> None:
    """Wait until its one delivery had this many attempts."""
    wait_until(lambda: [one["attempt_count"] for one in deliveries(admin, endpoint)] == [count])


def until_all_are(status: str, admin: Person, endpoint: dict[str, Any], count: int = 1) -> None:
    def are_so() -> bool:
        return [one["status"] for one in deliveries(admin, endpoint)] == [status] * count

    wait_until(are_so)


def test_event_is_delivered_signed_and_unchanged(
    tenant: Tenant, key: Key, admin: Person, receiver: Receiver
) -> None:
    endpoint = made(admin, receiver)
    ticket = key.ticket()
    (got,) = receiver.wait(1)
    sent = json.loads(got.body)
    assert (sent["type"], sent["data"]) == ("ticket.created", {"object": ticket, "changes": {}})
    assert got.webhook_id == sent["id"]
    assert Webhook(endpoint["secret"]).verify(got.body, got.headers) == sent
    until_all_are("succeeded", admin, endpoint)


def test_endpoint_receives_only_subscribed_types(
    key: Key, admin: Person, receiver: Receiver
) -> None:
    endpoint = made(admin, receiver, events=["ticket.status_changed", "customer.created"])
    path = f"/api/v1/external/tickets/{key.ticket()['id']}"
    key.patch(path, {"subject": "Other"})
    key.patch(path, {"status": "resolved"})
    until_all_are("succeeded", admin, endpoint, 2)
    types = [json.loads(got.body)["type"] for got in receiver.got]
    assert sorted(types) == ["customer.created", "ticket.status_changed"]


def test_every_endpoint_of_the_tenant_receives_an_event_and_none_of_another(
    service: Service, key: Key, admin: Person, receiver: Receiver
) -> None:
    made(service.tenant().admin(), receiver)
    endpoints = [made(admin, receiver) for _ in range(3)]
    key.ticket()
    for endpoint in endpoints:
        until_all_are("succeeded", admin, endpoint)
    assert len(receiver.got) == 3
    assert len({got.webhook_id for got in receiver.got}) == 1


def test_attempt_is_stored_with_request_and_response(
    key: Key, admin: Person, receiver: Receiver
) -> None:
    receiver.answers(500, b"\xff" + b"no\0" * 2000, {"X-Cause": "a", "x-cause": "b"})
    endpoint = made(admin, receiver)
    key.ticket()
    until_tried(admin, endpoint)
    (delivery,) = deliveries(admin, endpoint)
    path = f"{WEBHOOKS}/{endpoint['id']}/deliveries/{delivery['id']}"
    (attempt,) = admin.get(path).json()["data"]["attempts"]
    assert attempt["request"]["headers"]["webhook-id"] == delivery["event_id"]
    assert attempt["response"]["status"] == 500
    assert attempt["response"]["headers"]["x-cause"] == "a, b"
    assert attempt["response"]["body"] == ("\ufffd" + "no\ufffd" * 2000)[:2048]


def test_failed_delivery_is_retried_with_the_same_id(
    timed_service: Service, receiver: Receiver
) -> None:
    tenant = timed_service.tenant()
    admin = tenant.admin()
    endpoint = made(admin, receiver)
    replies = iter([Reply(500), Reply(302, headers={"location": receiver.url}), Reply(204)])
    receiver.answer = lambda _: next(replies)
    tenant.key().ticket()
    for count in (1, 2):
        until_tried(admin, endpoint, count)
        timed_service.clock.advance(400)
    until_all_are("succeeded", admin, endpoint)
    assert len({got.webhook_id for got in receiver.got}) == 1
    assert len({got.headers["webhook-signature"] for got in receiver.got}) == 3


def test_failing_endpoint_gets_one_request_at_a_time(
    timed_service: Service, receiver: Receiver
) -> None:
    tenant = timed_service.tenant()
    admin, key = tenant.admin(), tenant.key()
    endpoint = made(admin, receiver)
    receiver.answers(500)
    key.ticket()
    receiver.wait(1)
    until_tried(admin, endpoint)
    receiver.answers(500, after_s=0.1)
    for _ in range(4):
        key.ticket()
    times = [got.at_s for got in receiver.wait(5)][1:]
    assert all(later - earlier > 0.09 for earlier, later in itertools.pairwise(times))


def test_activated_endpoint_gets_pending_deliveries_but_no_events_of_the_pause(
    timed_service: Service, receiver: Receiver
) -> None:
    tenant = timed_service.tenant()
    admin, key = tenant.admin(), tenant.key()
    endpoint = made(admin, receiver)
    path = f"{WEBHOOKS}/{endpoint['id']}"
    receiver.answers(500, headers=_LATER)
    before = key.ticket()
    until_tried(admin, endpoint)
    admin.patch(path, {"is_active": False})
    receiver.answers(200)
    key.ticket()
    _let_pass(timed_service, 400)
    assert len(receiver.got) == 1
    admin.patch(path, {"is_active": True})
    after = key.ticket()
    wait_until(lambda: len(receiver.got) == 3)
    subjects = [json.loads(got.body)["data"]["object"]["id"] for got in receiver.got]
    assert sorted(subjects) == sorted([before["id"], before["id"], after["id"]])


def _let_pass(service: Service, seconds: float) -> None:
    """Advance the clock, and wait until all events have positions and are fanned out."""
    service.clock.advance(seconds)
    wait_until(lambda: not service.rows("SELECT 1 FROM event_outbox LIMIT 1"))


def test_deleted_endpoint_receives_nothing(timed_service: Service, receiver: Receiver) -> None:
    tenant = timed_service.tenant()
    admin, key = tenant.admin(), tenant.key()
    endpoint = made(admin, receiver)
    receiver.answers(500, headers=_LATER)
    key.ticket()
    until_tried(admin, endpoint)
    admin.delete(f"{WEBHOOKS}/{endpoint['id']}")
    other = made(admin, receiver)
    _let_pass(timed_service, 400)
    key.ticket()
    until_tried(admin, other)
    assert len(receiver.got) == 2


def test_attempt_for_a_pruned_event_fails_with_its_reason(
    timed_service: Service, receiver: Receiver
) -> None:
    tenant = timed_service.tenant()
    admin = tenant.admin()
    endpoint = made(admin, receiver)
    receiver.answers(500, headers=_LATER)
    tenant.key().ticket()
    until_tried(admin, endpoint)
    timed_service.run(f"DELETE FROM events WHERE tenant_id = '{tenant.id}'")
    timed_service.clock.advance(400)
    until_all_are("failed", admin, endpoint)
    assert "no longer kept" in deliveries(admin, endpoint)[0]["last_attempt"]["error"]
    assert len(receiver.got) == 1


def test_replay_delivers_a_time_range_again(
    key: Key, admin: Person, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fan_out, "_REPLAY_EVENTS", 3)
    for _ in range(5):
        key.ticket()
    wait_until(lambda: len(key.get(_FEED).json()["data"]) == 5)
    feed = key.get(_FEED).json()["data"]
    endpoint = made(admin, receiver)
    path = f"{WEBHOOKS}/{endpoint['id']}"
    asked = {"since": feed[1]["timestamp"], "until": feed[4]["timestamp"]}
    assert admin.post(f"{path}/replay", asked).status_code == 202
    wait_until(lambda: admin.get(f"{path}/replays").json()["data"][0]["finished_at"] is not None)
    (replay,) = admin.get(f"{path}/replays").json()["data"]
    assert replay["delivery_count"] == 3
    got = receiver.wait(3)
    assert sorted(one.webhook_id for one in got) == [event["id"] for event in feed[1:4]]


def test_attempts_are_counted(timed_service: Service, receiver: Receiver) -> None:
    tenant = timed_service.tenant()
    endpoint = made(tenant.admin(), receiver)
    before = _succeeded(timed_service)
    tenant.key().ticket()
    until_all_are("succeeded", tenant.admin(), endpoint)
    assert _succeeded(timed_service) == before + 1


def _succeeded(service: Service) -> float:
    name = 'sealdesk_webhook_attempts_total{result="succeeded"} '
    lines = httpx.get(f"{service.url}/metrics", timeout=60).text.splitlines()
    assert any(line.startswith("sealdesk_events_waiting_seconds ") for line in lines)
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))
