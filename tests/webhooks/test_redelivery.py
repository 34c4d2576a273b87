"""Redelivery of any delivery whose endpoint is active and whose event is not pruned."""

from typing import Any

import pytest

from sealdesk import clock, ids
from sealdesk.webhooks.store import deliveries as delivery_store
from tests.support.client import Person
from tests.support.databases import POSTGRESQL_ONLY
from tests.support.feed import unplaced
from tests.support.receiver import Receiver
from tests.support.service import Service, Tenant, wait_until
from tests.webhooks.factories import UNKNOWN, WEBHOOKS, log_delivery, made, refused

_FAR = 9_000_000_000_000_000


@pytest.fixture(scope="module")
def office(shared_service: Service) -> Tenant:
    """A tenant that the tests of this file share."""
    return shared_service.tenant()


@pytest.fixture(scope="module")
def admin(office: Tenant) -> Person:
    return office.admin()


def target(delivery: Any) -> str:
    return f"{WEBHOOKS}/{delivery.endpoint_id}/deliveries/{delivery.id}/redeliver"


@pytest.mark.parametrize(
    "state",
    [
        {"status": "failed", "retry_count": 9},
        {"status": "succeeded"},
        {"status": "pending", "due_at": _FAR},
    ],
    ids=["failed", "succeeded", "pending"],
)
def test_delivery_in_any_state_can_be_redelivered(
    admin: Person, office: Tenant, receiver: Receiver, state: dict[str, Any]
) -> None:
    endpoint_id = made(admin, receiver)["id"]
    delivery = log_delivery(office, endpoint_id, refused(1), **state)
    wakes = _endpoint(office, endpoint_id)["wakes"]
    answer = admin.post(target(delivery))
    assert answer.status_code == 202
    shown = answer.json()["data"]
    assert (shown["id"], shown["event_id"]) == (delivery.id, delivery.event_id)
    assert (shown["status"], shown["attempt_count"]) == ("pending", 1)
    assert shown["next_attempt_at"] is not None
    assert shown["last_attempt"]["status"] == 500
    assert _endpoint(office, endpoint_id)["wakes"] > wakes


def _endpoint(office: Tenant, endpoint_id: str) -> Any:
    sql = "SELECT due_at, wakes FROM endpoints WHERE id = :id LIMIT 1"
    return office.service.rows(sql, id=endpoint_id)[0]


def test_redelivery_is_retried_with_the_same_id_until_it_succeeds(
    admin: Person, office: Tenant, receiver: Receiver
) -> None:
    endpoint_id = made(admin, receiver)["id"]
    delivery = log_delivery(office, endpoint_id, refused(1))
    path = f"{WEBHOOKS}/{endpoint_id}/deliveries/{delivery.id}"
    for count in (1, 2):  # the second time it has succeeded
        admin.post(f"{path}/redeliver")
        assert [got.webhook_id for got in receiver.wait(count)] == [delivery.event_id] * count
        wait_until(lambda: _shown(admin, path)["status"] == "succeeded")
    shown = _shown(admin, path)
    assert [attempt["number"] for attempt in shown["attempts"]] == [1, 2, 3]
    assert {got.body.decode() for got in receiver.got} == {shown["payload"]}


def _shown(admin: Person, path: str) -> Any:
    return admin.get(path).json()["data"]


def test_failed_redelivery_restarts_the_schedule(
    admin: Person, office: Tenant, receiver: Receiver
) -> None:
    receiver.answers(500)
    endpoint_id = made(admin, receiver)["id"]
    delivery = log_delivery(office, endpoint_id, *(refused(n) for n in range(1, 11)))
    path = f"{WEBHOOKS}/{endpoint_id}/deliveries/{delivery.id}"
    admin.post(f"{path}/redeliver")
    wait_until(lambda: _shown(admin, path)["attempt_count"] >= 11)
    shown = _shown(admin, path)
    assert shown["status"] == "pending"
    assert shown["next_attempt_at"] is not None


def test_redelivery_to_an_inactive_endpoint_is_refused(
    admin: Person, office: Tenant, receiver: Receiver
) -> None:
    endpoint_id = made(admin, receiver)["id"]
    path = f"{WEBHOOKS}/{endpoint_id}"
    delivery = log_delivery(office, endpoint_id)
    admin.patch(path, {"is_active": False})
    answer = admin.post(target(delivery))
    assert (answer.status_code, answer.json()["code"]) == (409, "webhook_inactive")
    assert "paused" in answer.json()["detail"]
    office.service.run(f"UPDATE endpoints SET disabled_reason = 'gone' WHERE id = '{endpoint_id}'")
    assert "disabled" in admin.post(target(delivery)).json()["detail"]
    assert admin.get(f"{path}/deliveries").json()["data"][0]["status"] == "failed"


def test_delivery_of_a_pruned_event_cannot_be_redelivered(
    admin: Person, office: Tenant, receiver: Receiver
) -> None:
    delivery = log_delivery(office, made(admin, receiver)["id"], event_id=UNKNOWN)
    answer = admin.post(target(delivery))
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert "deleted after 30 days" in answer.json()["detail"]


def test_redelivery_of_a_test_whose_event_has_no_position_yet_is_sent_once_it_has(
    admin: Person, office: Tenant, receiver: Receiver
) -> None:
    path = f"{WEBHOOKS}/{made(admin, receiver)['id']}"
    with unplaced():
        delivery = admin.post(f"{path}/test").json()["data"]
        again = f"{path}/deliveries/{delivery['id']}"
        answer = admin.post(f"{again}/redeliver")
        assert (answer.status_code, answer.json()["data"]["status"]) == (202, "pending")
        assert _shown(admin, again)["payload"] == delivery["payload"]
    wait_until(lambda: _shown(admin, again)["status"] == "succeeded")
    assert {got.webhook_id for got in receiver.got} == {delivery["event_id"]}
    assert [got.body.decode() for got in receiver.got] == [delivery["payload"]] * 2


@POSTGRESQL_ONLY
def test_endpoint_is_left_alone_while_the_event_of_its_delivery_has_no_position(
    admin: Person, office: Tenant, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = made(admin, receiver)
    path = f"{WEBHOOKS}/{endpoint['id']}"
    releases: list[bool] = []

    async def release(*args: Any, **named: Any) -> bool:
        releases.append(await _release(*args, **named))
        return releases[-1]

    _release = delivery_store.release
    with unplaced():
        delivery = admin.post(f"{path}/test").json()["data"]
        monkeypatch.setattr(delivery_store, "release", release)
        admin.post(f"{path}/deliveries/{delivery['id']}/redeliver")
        wait_until(lambda: len(releases) >= 2)
        assert all(releases)
        row = _endpoint(office, endpoint["id"])
    assert row["due_at"] is not None
    receiver.wait(2)


def _log(admin: Person, endpoint_id: str, query: str) -> list[str]:
    answer = admin.get(f"{WEBHOOKS}/{endpoint_id}/deliveries?{query}")
    assert answer.status_code == 200, answer.text
    return [row["id"] for row in answer.json()["data"]]


def test_failed_deliveries_since_a_time_are_redelivered_together(
    admin: Person, office: Tenant, receiver: Receiver
) -> None:
    endpoint_id = made(admin, receiver)["id"]
    early_us = office.service.clock.now_us() - 86_400_000_000
    old = log_delivery(office, endpoint_id, refused(1), id=ids.mint(early_us), created_at=early_us)
    new = [log_delivery(office, endpoint_id, refused(1)) for _ in "12"]
    log_delivery(office, endpoint_id, refused(1), status="succeeded")
    log_delivery(office, endpoint_id, refused(1), event_type="webhook.test")
    path = f"{WEBHOOKS}/{endpoint_id}/redeliver-failed"
    since = clock.iso(early_us + 1_000_000)
    answer = admin.post(path, {"since": since})
    assert answer.status_code == 202
    assert answer.json()["data"] == {"delivery_count": 2, "has_more": False}
    assert old.id in _log(admin, endpoint_id, "status=failed")
    wait_until(lambda: _attempts(admin, endpoint_id, [each.id for each in new]) == {2})
    for invalid in ("2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z", "yesterday"):
        assert admin.post(path, {"since": invalid}).status_code == 422


def _attempts(admin: Person, endpoint_id: str, delivery_ids: list[str]) -> set[int]:
    paths = (f"{WEBHOOKS}/{endpoint_id}/deliveries/{one}" for one in delivery_ids)
    return {admin.get(path).json()["data"]["attempt_count"] for path in paths}


def test_waiting_deliveries_are_retried_now(
    admin: Person, office: Tenant, receiver: Receiver
) -> None:
    endpoint_id = made(admin, receiver)["id"]
    waiting = log_delivery(
        office, endpoint_id, refused(1), status="pending", due_at=_FAR, retry_count=3
    )
    failed = log_delivery(office, endpoint_id, refused(1))
    answer = admin.post(f"{WEBHOOKS}/{endpoint_id}/retry-now")
    assert (answer.status_code, answer.json()["data"]["delivery_count"]) == (202, 1)
    wait_until(lambda: _log(admin, endpoint_id, "status=succeeded") == [waiting.id])
    assert _log(admin, endpoint_id, "status=failed") == [failed.id]
    admin.patch(f"{WEBHOOKS}/{endpoint_id}", {"is_active": False})
    for action, body in (("retry-now", None), ("redeliver-failed", {"since": _now(office)})):
        paused = admin.post(f"{WEBHOOKS}/{endpoint_id}/{action}", body)
        assert (paused.status_code, paused.json()["code"]) == (409, "webhook_inactive")


def _now(office: Tenant) -> str:
    return clock.iso(office.service.clock.now_us() - 1_000_000)


def test_deliveries_are_filtered_by_type_time_and_state(
    admin: Person, office: Tenant, receiver: Receiver
) -> None:
    endpoint_id = made(admin, receiver)["id"]
    early_us = office.service.clock.now_us() - 86_400_000_000
    old = log_delivery(office, endpoint_id, refused(1), id=ids.mint(early_us), created_at=early_us)
    new = log_delivery(office, endpoint_id, refused(1), event_type="ticket.created")
    noon = clock.iso(early_us + 1_000_000).replace("+", "%2B")
    assert _log(admin, endpoint_id, "event_type=ticket.created") == [new.id]
    assert _log(admin, endpoint_id, f"created_after={noon}") == [new.id]
    assert _log(admin, endpoint_id, f"created_before={noon}&status=failed") == [old.id]
    assert _log(admin, endpoint_id, f"created_before={noon}&event_type=ticket.created") == []
    unknown = admin.get(f"{WEBHOOKS}/{endpoint_id}/deliveries?event_type=unknown")
    assert (unknown.status_code, unknown.json()["code"]) == (400, "invalid_parameter")
