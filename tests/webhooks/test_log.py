"""The delivery log, and test events."""

import json
from pathlib import Path
from typing import Any

import pytest

from sealdesk.crypto import webhook_signing
from sealdesk.resources.paging import PageRequest
from sealdesk.webhooks.store import delivery_log
from sealdesk.webhooks.store import endpoints as endpoint_store
from sealdesk.webhooks.types import Attempt, DeliveryFilter
from tests.support.client import Person
from tests.support.pages import logged_in
from tests.support.plans import plan
from tests.support.receiver import Receiver, Reply
from tests.support.service import Service, Tenant
from tests.webhooks.factories import UNKNOWN, WEBHOOKS, log_delivery, made, refused, unanswered


@pytest.fixture(scope="module")
def office(shared_service: Service) -> Tenant:
    """A tenant that the tests of this file share."""
    return shared_service.tenant()


@pytest.fixture(scope="module")
def admin(office: Tenant) -> Person:
    return office.admin()


def test_sending_a_test_returns_its_signed_request_and_response(
    admin: Person, receiver: Receiver
) -> None:
    receiver.answers(202, b"thanks", {"x-receiver": "R"})
    endpoint = made(admin, receiver)
    shown = admin.get(f"{WEBHOOKS}/{endpoint['id']}").json()["data"]
    answer = admin.post(f"{WEBHOOKS}/{endpoint['id']}/test")
    assert answer.status_code == 200
    delivery = answer.json()["data"]
    (got,) = receiver.got
    assert (got.method, got.path, got.body.decode()) == ("POST", "/hook", delivery["payload"])
    event = json.loads(got.body)
    assert (event["type"], event["id"]) == ("webhook.test", delivery["event_id"])
    assert event["data"] == {"object": shown, "changes": {}}
    at, key = int(got.headers["webhook-timestamp"]), webhook_signing.key_of(endpoint["secret"])
    assert got.webhook_id == event["id"]
    assert got.headers["webhook-signature"] == webhook_signing.sign(key, event["id"], at, got.body)
    assert (delivery["status"], delivery["attempt_count"]) == ("succeeded", 1)
    (attempt,) = delivery["attempts"]
    assert attempt["request"]["url"] == receiver.url
    assert attempt["request"]["headers"].items() <= got.headers.items()
    assert (attempt["response"]["status"], attempt["response"]["body"]) == (202, "thanks")
    assert attempt["response"]["headers"]["x-receiver"] == "R"
    assert attempt["error"] is None


def test_test_is_in_the_delivery_log(admin: Person, receiver: Receiver) -> None:
    path = f"{WEBHOOKS}/{made(admin, receiver)['id']}"
    delivery = admin.post(f"{path}/test").json()["data"]
    listed = admin.get(f"{path}/deliveries").json()["data"]
    assert listed == [{n: v for n, v in delivery.items() if n not in ("payload", "attempts")}]
    assert listed[0]["last_attempt"]["status"] == 200
    assert admin.get(f"{path}/deliveries/{delivery['id']}").json()["data"] == delivery


@pytest.mark.parametrize("status", [301, 304, 404, 410, 500])
def test_failed_test_does_not_change_the_endpoint(
    admin: Person, receiver: Receiver, status: int
) -> None:
    receiver.answers(status, headers={"location": receiver.url})
    path = f"{WEBHOOKS}/{made(admin, receiver)['id']}"
    before = admin.get(path).json()["data"]
    delivery = admin.post(f"{path}/test").json()["data"]
    assert (delivery["status"], delivery["next_attempt_at"]) == ("failed", None)
    assert admin.get(path).json()["data"] == before
    assert len(receiver.got) == 1


def test_test_without_a_response_says_why(admin: Person, receiver: Receiver) -> None:
    path = f"{WEBHOOKS}/{made(admin, receiver)['id']}"
    receiver.stop()
    delivery = admin.post(f"{path}/test").json()["data"]
    (attempt,) = delivery["attempts"]
    assert (delivery["status"], attempt["response"]) == ("failed", None)
    assert attempt["error"] == delivery["last_attempt"]["error"] != ""


def test_unreadable_secret_is_a_server_error(
    admin: Person, service: Service, receiver: Receiver
) -> None:
    endpoint_id = made(admin, receiver)["id"]
    # Sealed for another version, it cannot be opened, as with a lost master key.
    service.run(f"UPDATE endpoints SET secret_version = 7 WHERE id = '{endpoint_id}'")
    answer = admin.post(f"{WEBHOOKS}/{endpoint_id}/test")
    assert (answer.status_code, answer.json()["code"]) == (503, "storage_unavailable")
    assert "cannot be read by this server" in answer.json()["detail"]
    assert receiver.got == []


def test_paused_endpoint_can_be_tested(admin: Person, receiver: Receiver) -> None:
    path = f"{WEBHOOKS}/{made(admin, receiver)['id']}"
    admin.patch(path, {"is_active": False})
    assert admin.post(f"{path}/test").json()["data"]["status"] == "succeeded"


def test_response_body_is_text_truncated_at_2_kib(admin: Person, receiver: Receiver) -> None:
    receiver.answers(500, b"\xff\x00" + b"x" * 5000)
    path = f"{WEBHOOKS}/{made(admin, receiver)['id']}"
    delivery = admin.post(f"{path}/test").json()["data"]
    body = delivery["attempts"][0]["response"]["body"]
    assert body == "\ufffd\ufffd" + "x" * 2046


def test_endpoint_deleted_during_its_test_is_not_found(admin: Person, receiver: Receiver) -> None:
    path = f"{WEBHOOKS}/{made(admin, receiver)['id']}"
    deleted: list[int] = []

    def answer(_: Any) -> Reply:
        deleted.append(admin.delete(path).status_code)
        return Reply()

    receiver.answer = answer
    assert admin.post(f"{path}/test").status_code == 404
    assert deleted == [204]


def test_log_is_newest_first_paged_and_filtered(
    admin: Person, office: Tenant, receiver: Receiver
) -> None:
    endpoint_id = made(admin, receiver)["id"]
    other_id = made(admin, receiver)["id"]
    path = f"{WEBHOOKS}/{endpoint_id}/deliveries"
    states = ["failed", "succeeded", "failed", "pending", "failed"]
    ids = [log_delivery(office, endpoint_id, status=status).id for status in states]
    log_delivery(office, other_id)
    assert [one["id"] for one in walk(admin, path)] == ids[::-1]
    failed = walk(admin, f"{path}?status=failed")
    assert [one["id"] for one in failed] == [ids[4], ids[2], ids[0]]
    assert {one["status"] for one in failed} == {"failed"}
    assert [one["id"] for one in walk(admin, f"{path}?status=pending")] == [ids[3]]
    refusal = admin.get(f"{path}?status=lost")
    assert (refusal.status_code, refusal.json()["code"]) == (400, "invalid_parameter")


def walk(admin: Person, target: str) -> list[dict[str, Any]]:
    """All rows of a list, read in pages of two."""
    rows: list[dict[str, Any]] = []
    joiner, cursor = "&" if "?" in target else "?", ""
    while True:
        page = admin.get(f"{target}{joiner}per_page=2{cursor}").json()
        rows += page["data"]
        if not page["meta"]["has_more"]:
            return rows
        cursor = f"&cursor={page['meta']['next_cursor']}"


def test_a_delivery_is_listed_with_its_last_attempt(
    admin: Person, office: Tenant, receiver: Receiver
) -> None:
    endpoint_id = made(admin, receiver)["id"]
    path = f"{WEBHOOKS}/{endpoint_id}/deliveries"
    log_delivery(office, endpoint_id, refused(1), unanswered(2))
    log_delivery(office, endpoint_id)
    without, with_two = admin.get(path).json()["data"]
    assert without["last_attempt"] is None
    assert with_two["last_attempt"] == {
        "number": 2,
        "sent_at": "2026-03-02T09:15:41.000002Z",
        "duration_ms": 12,
        "status": None,
        "error": "Refused.",
    }


def test_the_last_100_attempts_are_shown_oldest_first(
    admin: Person, office: Tenant, receiver: Receiver
) -> None:
    endpoint_id = made(admin, receiver)["id"]
    delivery = log_delivery(office, endpoint_id, *(refused(n) for n in range(1, 103)))
    path = f"{WEBHOOKS}/{endpoint_id}/deliveries/{delivery.id}"
    shown = admin.get(path).json()["data"]
    assert [attempt["number"] for attempt in shown["attempts"]] == list(range(3, 103))
    assert shown["last_attempt"]["number"] == shown["attempt_count"] == 102


def test_the_payload_is_null_once_the_event_is_deleted(
    admin: Person, office: Tenant, receiver: Receiver
) -> None:
    endpoint_id = made(admin, receiver)["id"]
    delivery = log_delivery(office, endpoint_id, event_id=UNKNOWN)
    path = f"{WEBHOOKS}/{endpoint_id}/deliveries/{delivery.id}"
    assert admin.get(path).json()["data"]["payload"] is None


def test_delivery_is_found_only_under_its_endpoint(
    admin: Person, office: Tenant, receiver: Receiver
) -> None:
    one, other = made(admin, receiver)["id"], made(admin, receiver)["id"]
    delivery = log_delivery(office, one)
    assert admin.get(f"{WEBHOOKS}/{one}/deliveries/{delivery.id}").status_code == 200
    for path in (f"{other}/deliveries/{delivery.id}", f"{one}/deliveries/{UNKNOWN}"):
        assert admin.get(f"{WEBHOOKS}/{path}").status_code == 404
        assert admin.post(f"{WEBHOOKS}/{path}/redeliver").status_code == 404


@pytest.mark.parametrize("page", [PageRequest(25, None), PageRequest(25, ["id"])])
@pytest.mark.parametrize(
    ("status", "index"),
    [
        (None, "deliveries_endpoint (tenant_id=? AND endpoint_id=? AND id<?)"),
        ("failed", "deliveries_status (tenant_id=? AND endpoint_id=? AND status=? AND id<?)"),
    ],
)
def test_a_page_of_the_log_reads_its_own_index(
    template: Path, page: PageRequest, status: Any, index: str
) -> None:
    steps = plan(
        template,
        lambda tx: delivery_log.list_deliveries(tx, "t", "e", page, DeliveryFilter(status)),
    )
    last = "(tenant_id=? AND delivery_id=? AND number=?) LEFT-JOIN"
    assert [step for step in steps if step.startswith("SEARCH")] == [
        f"SEARCH d USING INDEX {index}",
        f"SEARCH a USING INDEX sqlite_autoindex_attempts_1 {last}",
    ]


def test_endpoints_and_replays_are_read_in_the_order_of_their_ids(template: Path) -> None:
    page = PageRequest(25, ["id"])
    for listing, table in (
        (lambda tx: endpoint_store.list_endpoints(tx, "t", page), "endpoints"),
        (lambda tx: endpoint_store.list_replays(tx, "t", "e", page), "replays"),
    ):
        index = f"sqlite_autoindex_{table}_1 (tenant_id=? AND id<?)"
        assert plan(template, listing) == [f"SEARCH {table} USING INDEX {index}"]


def test_a_delivery_shows_as_many_attempts_as_fit(
    office: Tenant, receiver: Receiver, admin: Person
) -> None:
    webhook = made(admin, receiver)["id"]
    headers = json.dumps({"x-long": '"' * 8_000})
    attempts = [
        Attempt(number, number, 1, "https://a.test/", headers, 500, headers, '"' * 2_000, None)
        for number in range(1, 101)
    ]
    delivery = log_delivery(office, webhook, *attempts).id
    path = f"/webhooks/{webhook}/deliveries/{delivery}"
    shown = admin.get(f"/api/v1{path}").json()["data"]["attempts"]
    assert [each["number"] for each in shown] == [98, 99, 100]
    page = logged_in(office).get(f"/settings{path}")
    assert "Attempt 98" in page.text and "Attempt 97" not in page.text
