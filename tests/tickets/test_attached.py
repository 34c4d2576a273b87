"""Attachments of tickets and replies: references, links to the bytes, and what is deleted."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from sealdesk.state import AppState
from sealdesk.tickets.attachments import files
from sealdesk.tickets.attachments.storage import storage_of
from tests.support.client import Key, Person
from tests.support.contents import kept_of
from tests.support.service import Service
from tests.tickets.test_uploads import PNG, code, rows_of, used_bytes

PATH = "/api/v1/external/attachments"
TICKETS = "/api/v1/external/tickets"
DAY_S = 24 * 3600
NEW = {"subject": "S", "description": "D", "customer": {"email": "a@example.test"}}


def ref_of(shown: dict[str, Any]) -> dict[str, Any]:
    names = ("id", "name", "content_type", "size_bytes", "is_image")
    return {name: shown[name] for name in names}


def test_a_ticket_shows_its_attachments_in_its_order(key: Key) -> None:
    two, one = key.attachment("two.txt"), key.attachment("one.png", PNG)
    ticket = key.ticket(attachment_ids=[one["id"], two["id"], one["id"]])
    assert ticket["attachments"] == [ref_of(one), ref_of(two)]
    assert key.get(f"{TICKETS}/{ticket['id']}").json()["data"]["attachments"] == [
        ref_of(one), ref_of(two),
    ]  # fmt: skip
    shown = key.get(f"{PATH}/{one['id']}").json()["data"]
    assert (shown["ticket_id"], shown["reply_id"]) == (ticket["id"], None)


def test_a_reply_shows_its_attachments(key: Key) -> None:
    ticket, one = key.ticket(), key.attachment()
    path = f"{TICKETS}/{ticket['id']}/replies"
    reply = key.post(path, {"body": "See", "attachment_ids": [one["id"]]}).json()["data"]
    assert reply["attachments"] == [ref_of(one)]
    assert key.get(path).json()["data"][0]["attachments"] == [ref_of(one)]
    shown = key.get(f"{PATH}/{one['id']}").json()["data"]
    assert (shown["ticket_id"], shown["reply_id"]) == (ticket["id"], reply["id"])


def test_attachments_stay_when_a_ticket_changes(key: Key) -> None:
    one = key.attachment()
    ticket = key.ticket(attachment_ids=[one["id"]])
    at = f"{TICKETS}/{ticket['id']}"
    assert key.patch(at, {"attachments": []}).status_code == 422
    changed = key.patch(at, {"subject": "Changed"})
    assert changed.json()["data"]["attachments"] == [ref_of(one)]


def test_what_has_no_attachments_shows_an_empty_list(key: Key) -> None:
    ticket = key.ticket()
    assert ticket["attachments"] == []
    reply = key.post(f"{TICKETS}/{ticket['id']}/replies", {"body": "B"}).json()["data"]
    assert reply["attachments"] == []


def test_an_attachment_is_attached_once(key: Key) -> None:
    one = key.attachment()
    key.ticket(attachment_ids=[one["id"]])
    refused = key.post(TICKETS, {**NEW, "attachment_ids": [one["id"]]})
    assert code(refused) == (422, "validation_failed")
    assert refused.json()["errors"][0]["pointer"] == "/attachment_ids/0"


def test_of_two_who_attach_a_file_at_once_one_succeeds(key: Key) -> None:
    one = key.attachment()
    with ThreadPoolExecutor(4) as pool:
        sent = [
            pool.submit(key.post, TICKETS, {**NEW, "attachment_ids": [one["id"]]}) for _ in range(4)
        ]
    assert sorted(each.result().status_code for each in sent) == [201, 422, 422, 422]


def test_an_attachment_of_another_tenant_cannot_be_attached(service: Service, key: Key) -> None:
    stranger = service.tenant()
    theirs = stranger.key().attachment()
    refused = key.post(TICKETS, {**NEW, "attachment_ids": [theirs["id"]]})
    assert code(refused) == (422, "validation_failed")
    assert [row["ticket_id"] for row in rows_of(stranger)] == [None]


def test_more_than_20_attachments_are_refused(key: Key) -> None:
    shown = [key.attachment()["id"] for _ in range(21)]
    assert code(key.post(TICKETS, {**NEW, "attachment_ids": shown})) == (422, "validation_failed")
    assert len(key.ticket(attachment_ids=shown[:20])["attachments"]) == 20


def lose_contents(service: Service) -> None:
    """Delete all bytes, as if a disk or a bucket had lost them."""

    async def work(state: AppState) -> None:
        storage = storage_of(state.settings)
        async for stored in storage.list_all():
            await storage.delete_unused(stored.content, 2**52, unused)

    async def unused() -> bool:
        return False

    service.in_serving(work)


def follow(service: Service, path: str) -> httpx.Response:
    return Person(service, "").get(path)


def test_a_link_leads_to_the_bytes_for_five_minutes(own_service: Service) -> None:
    own_service.clock.stop()
    shown = own_service.tenant().key().attachment("a.txt", b"some bytes")
    assert follow(own_service, shown["content_path"]).content == b"some bytes"
    own_service.clock.advance(299)
    assert follow(own_service, shown["content_path"]).status_code == 200
    own_service.clock.advance(2)
    assert code(follow(own_service, shown["content_path"])) == (404, "not_found")


def test_a_link_leads_to_its_attachment_only(service: Service, key: Key) -> None:
    one, two = key.attachment(), key.attachment()
    token = one["content_path"].partition("?")[2]
    assert follow(service, f"/attachments/{two['id']}?{token}").status_code == 404
    for bad in ("", "?token=", "?token=AAAA", f"?{token[:-2]}", f"?{token}%00", "?token=%FF"):
        answer = follow(service, f"/attachments/{one['id']}{bad}")
        assert answer.status_code in (400, 404), bad


@pytest.mark.parametrize(
    ("name", "content", "content_type"),
    [("a.html", b"<script>alert(1)</script>", "text/html"), ("a.svg", b"<svg/>", "image/svg+xml"),
     ("a.png", PNG, "text/html")],
)  # fmt: skip
def test_nothing_in_the_bytes_is_run(
    service: Service, key: Key, name: str, content: bytes, content_type: str
) -> None:
    shown = key.upload(name, content, content_type).json()["data"]
    headers = follow(service, shown["content_path"]).headers
    assert headers["content-type"] == (
        "image/png" if content == PNG else "application/octet-stream"
    )
    assert headers["content-disposition"].startswith("attachment; ")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "private, no-store"


def test_a_head_request_shows_the_size_alone(service: Service, key: Key) -> None:
    shown = key.attachment(content=bytes(100_000))
    answer = Person(service, "").call("HEAD", shown["content_path"])
    assert (answer.headers["content-length"], answer.content) == ("100000", b"")


def test_missing_bytes_are_named(own_service: Service) -> None:
    tenant = own_service.tenant()
    key = tenant.key()
    shown = key.attachment()
    lose_contents(tenant.service)
    assert code(key.get(f"{PATH}/{shown['id']}/content")) == (503, "storage_unavailable")


def prune(service: Service) -> None:
    service.prune()


def test_an_upload_that_nothing_refers_to_is_deleted_after_a_day(own_service: Service) -> None:
    tenant = own_service.tenant()
    key = tenant.key()
    kept = key.attachment(content=b"kept")
    key.ticket(attachment_ids=[kept["id"]])
    key.attachment(content=b"kept")
    key.attachment(content=b"unused")
    own_service.clock.advance(DAY_S - 60)
    prune(own_service)
    assert len(rows_of(tenant)) == 3
    own_service.clock.advance(61)
    prune(own_service)
    assert [row["id"] for row in rows_of(tenant)] == [kept["id"]]
    assert kept_of(tenant) == [b"kept"]
    assert used_bytes(tenant) == 4


def test_a_file_without_a_row_is_deleted_in_time(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = own_service.tenant()
    key = tenant.key()
    own_service.refuse_rows("attachments")
    assert key.upload("a.txt", b"lost").status_code == 500
    own_service.take_rows("attachments")
    assert kept_of(tenant) == [b"lost"]
    monkeypatch.setattr(type(storage_of(own_service.settings)), "turns", 1)
    prune(own_service)
    assert kept_of(tenant) == [b"lost"]
    own_service.clock.advance(DAY_S + 2)
    prune(own_service)
    assert kept_of(tenant) == []


def test_what_a_killed_process_was_receiving_is_deleted_after_an_hour(own_service: Service) -> None:
    own_service.tenant().key().attachment()
    left: Path = files.folder_of(own_service.settings) / "incoming" / "left"
    left.write_bytes(b"half of it")
    own_service.clock.advance(3500)
    prune(own_service)
    assert left.exists()
    own_service.clock.advance(200)
    prune(own_service)
    assert not left.exists()
