"""Delivering: what happens arrives at every endpoint that wants it, signed, in the end."""

import itertools
import json
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook

from sealdesk.webhooks.delivery import replays
from tests.support.client import Key, Person
from tests.support.receiver import Receiver, Reply
from tests.support.service import Service, Tenant, wait_until
from tests.webhooks.factories import WEBHOOKS, made

_FEED = "/api/v1/external/events?type=ticket.created"


def deliveries(admin: Person, endpoint: dict[str, Any]) -> list[dict[str, Any]]:
    """Newest first."""
    return list(admin.get(f"{WEBHOOKS}/{endpoint['id']}/deliveries").json()["data"])


def until_tried(admin: Person, endpoint: dict[str, Any], count: int = 1) -> None:
    """Until its one delivery was tried so often."""
    wait_until(lambda: [one["attempt_count"] for one in deliveries(admin, endpoint)] == [count])


def until_all_are(status: str, admin: Person, endpoint: dict[str, Any], count: int = 1) -> None:
    def are_so() -> bool:
        return [one["status"] for one in deliveries(admin, endpoint)] == [status] * count

    wait_until(are_so)


def test_an_event_arrives_signed_as_it_happened(
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


def test_only_what_an_endpoint_wants_arrives(key: Key, admin: Person, receiver: Receiver) -> None:
    endpoint = made(admin, receiver, events=["ticket.status_changed", "customer.created"])
    path = f"/api/v1/external/tickets/{key.ticket()['id']}"
    key.patch(path, {"subject": "Other"})
    key.patch(path, {"status": "resolved"})
    until_all_are("succeeded", admin, endpoint, 2)
    types = [json.loads(got.body)["type"] for got in receiver.got]
    assert sorted(types) == ["customer.created", "ticket.status_changed"]


def test_every_endpoint_of_the_tenant_gets_it_and_none_of_another(
    service: Service, key: Key, admin: Person, receiver: Receiver
) -> None:
    made(service.tenant().admin(), receiver)
    endpoints = [made(admin, receiver) for _ in range(3)]
    key.ticket()
    for endpoint in endpoints:
        until_all_are("succeeded", admin, endpoint)
    assert len(receiver.got) == 3
    assert len({got.webhook_id for got in receiver.got}) == 1


def test_an_attempt_is_kept_with_request_and_answer(
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


def test_what_fails_arrives_later_under_the_same_id(
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


def test_whoever_answers_badly_is_asked_one_at_a_time(
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


def test_a_paused_endpoint_gets_what_waited_and_not_what_happened_meanwhile(
    timed_service: Service, receiver: Receiver
) -> None:
    tenant = timed_service.tenant()
    admin, key = tenant.admin(), tenant.key()
    endpoint = made(admin, receiver)
    path = f"{WEBHOOKS}/{endpoint['id']}"
    receiver.answers(500)
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
    """Move the clock, and wait until what has happened has its place, and was looked at."""
    service.clock.advance(seconds)
    wait_until(lambda: not service.rows("SELECT 1 FROM events WHERE position IS NULL LIMIT 1"))


def test_a_deleted_endpoint_gets_nothing_more(timed_service: Service, receiver: Receiver) -> None:
    tenant = timed_service.tenant()
    admin, key = tenant.admin(), tenant.key()
    endpoint = made(admin, receiver)
    receiver.answers(500)
    key.ticket()
    until_tried(admin, endpoint)
    admin.delete(f"{WEBHOOKS}/{endpoint['id']}")
    other = made(admin, receiver)
    _let_pass(timed_service, 400)
    key.ticket()
    until_tried(admin, other)
    assert len(receiver.got) == 2


def test_an_event_that_is_no_longer_kept_is_told_as_such(
    timed_service: Service, receiver: Receiver
) -> None:
    tenant = timed_service.tenant()
    admin = tenant.admin()
    endpoint = made(admin, receiver)
    receiver.answers(500)
    tenant.key().ticket()
    until_tried(admin, endpoint)
    timed_service.run(f"DELETE FROM events WHERE tenant_id = '{tenant.id}'")
    timed_service.clock.advance(10)
    until_all_are("failed", admin, endpoint)
    assert "no longer kept" in deliveries(admin, endpoint)[0]["last_attempt"]["error"]
    assert len(receiver.got) == 1


def test_a_replay_brings_a_range_of_time_once_more(
    key: Key, admin: Person, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "_BATCH_EVENTS", 3)
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
    lines = httpx.get(f"{service.url}/metrics").text.splitlines()
    assert any(line.startswith("sealdesk_events_unplaced_seconds ") for line in lines)
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))
