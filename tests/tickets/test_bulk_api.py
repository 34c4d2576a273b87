"""Several tickets in one request: each by itself, each once, each charged."""

import json
from typing import Any

import pytest

from sealdesk.errors import ServiceUnavailable
from sealdesk.tickets import actions
from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.service import Tenant

TICKETS = "/api/v1/external/tickets"
BULK = f"{TICKETS}/bulk"


def new(subject: str, **fields: Any) -> dict[str, Any]:
    customer = {"email": "bulk@shop.example"}
    return {"subject": subject, "description": "D", "customer": customer, **fields}


def statuses(response: Any) -> list[int]:
    assert response.status_code == 200, response.text
    return [each["status"] for each in response.json()["data"]]


def test_each_ticket_is_created_by_itself_with_its_own_result(tenant: Tenant, key: Key) -> None:
    unknown_agent = "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f"
    items = [new("first"), new(""), new("third", assignee_id=unknown_agent), new("last")]
    response = key.post(BULK, {"tickets": items})
    assert statuses(response) == [201, 422, 422, 201]
    first, blank, unassigned, last = response.json()["data"]
    for each in (first, last):
        alone = key.get(f"{TICKETS}/{each['data']['id']}")
        assert (each["data"], each["etag"]) == (alone.json()["data"], alone.headers["etag"])
    assert blank["problem"]["code"] == unassigned["problem"]["code"] == "validation_failed"
    assert blank["problem"]["errors"][0]["pointer"] == "/subject"
    assert response.json()["meta"] == {"item_count": 4, "refused_count": 2}
    assert [row["subject"] for row in key.walk(TICKETS)] == ["last", "first"]
    tenant.service.settle()
    types = [event["type"] for event in key.get("/api/v1/external/events").json()["data"]]
    assert types == ["customer.created", "ticket.created", "ticket.created"]


def test_each_change_is_made_by_itself(key: Key) -> None:
    one, two, three = key.ticket(), key.ticket(status="resolved"), key.ticket()
    key.patch(f"{TICKETS}/{two['id']}", {"status": "closed"})
    response = key.patch(
        BULK,
        {
            "tickets": [
                {"id": one["id"], "priority": "urgent", "if_match": 'W/"1.1-gzip"'},
                {"id": two["id"], "status": "pending"},
                {"id": three["id"], "subject": "New", "if_match": '"7.1"'},
                {"id": "unknown", "subject": "New"},
                {"id": one["id"], "tags": ["a", "b"]},
                {"id": one["id"], "add_tags": ["c"], "remove_tags": ["a"]},
            ]
        },
    )
    assert statuses(response) == [200, 409, 412, 404, 200, 200]
    codes = [each.get("problem", {}).get("code") for each in response.json()["data"]]
    assert codes == [None, "invalid_transition", "version_mismatch", "not_found", None, None]
    now = key.get(f"{TICKETS}/{one['id']}").json()["data"]
    assert (now["priority"], now["tags"], now["version"]) == ("urgent", ["b", "c"], 4)


@for_each(
    "body", [{}, {"tickets": []}, {"tickets": [1]}, {"tickets": [new("x")] * 101}, {"tickets": 1}]
)
def test_a_body_without_1_to_100_items_is_refused(key: Key, body: Any) -> None:
    for method in ("POST", "PATCH"):
        response = key.call(method, BULK, body)
        assert (response.status_code, response.json()["code"]) == (422, "validation_failed")
    assert key.walk(TICKETS) == []


def test_sent_again_a_request_continues_where_it_was_interrupted(
    key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"tickets": [new(f"n{n}") for n in range(3)]}
    open_ticket = actions.open_ticket

    async def interrupted(*args: Any, **named: Any) -> Any:
        if args[2].subject == "n1":
            raise ServiceUnavailable
        return await open_ticket(*args, **named)

    with monkeypatch.context() as patch:
        patch.setattr(actions, "open_ticket", interrupted)
        first = key.post(BULK, body, **{"idempotency-key": "k1"})
    assert statuses(first) == [201, 503, 201]
    second = key.post(BULK, body, **{"idempotency-key": "k1"})
    assert statuses(second) == [201, 201, 201]
    assert second.json()["data"][::2] == first.json()["data"][::2]
    assert sorted(row["subject"] for row in key.walk(TICKETS)) == ["n0", "n1", "n2"]
    reused = key.post(BULK, {"tickets": [new("other")]}, **{"idempotency-key": "k1"})
    assert (reused.status_code, reused.json()["code"]) == (422, "idempotency_key_reused")


def test_each_item_counts_as_a_request_of_the_key(tenant: Tenant) -> None:
    key = tenant.key(rate_limit=60)
    left = int(key.get(TICKETS).headers["x-ratelimit-remaining"])
    key.post(BULK, {"tickets": [new(f"n{n}") for n in range(10)]})
    assert int(key.get(TICKETS).headers["x-ratelimit-remaining"]) in (left - 11, left - 10)


def test_a_signature_is_used_up_by_the_whole_request(tenant: Tenant) -> None:
    key = tenant.key(replay_protection="writes")
    content = json.dumps({"tickets": [new("a"), new("b")]}).encode()
    headers = key.signature_headers("POST", BULK, content)
    created, replayed = (key.call("POST", BULK, content=content, headers=headers) for _ in "12")
    assert statuses(created) == [201, 201]
    assert (replayed.status_code, replayed.json()["code"]) == (401, "signature_replayed")
    assert len(key.walk(TICKETS)) == 2


def test_a_read_only_field_may_only_repeat_what_it_has(key: Key) -> None:
    one, two = key.ticket(), key.ticket()
    changes = [one | {"priority": "urgent"}, two | {"number": 99, "priority": "urgent"}]
    for change in changes:
        del change["tags"], change["custom_fields"]
    response = key.patch(BULK, {"tickets": changes}, prefer="handling=strict")
    assert statuses(response) == [200, 422]
    (fault,) = response.json()["data"][1]["problem"]["errors"]
    assert (fault["pointer"], fault["code"]) == ("/number", "read_only")
    now = [key.get(f"{TICKETS}/{each['id']}").json()["data"]["priority"] for each in (one, two)]
    assert now == ["urgent", "medium"]


def test_unknown_names_are_named_with_their_item(key: Key) -> None:
    body = {"tickets": [new("a"), new("b", colour="red")]}
    assert "/tickets/1/colour" in key.post(BULK, body).headers["x-warnings"]
    strict = key.post(BULK, body, prefer="handling=strict")
    assert (strict.status_code, len(key.walk(TICKETS))) == (422, 2)


def test_unknown_names_beside_the_items_are_named(key: Key) -> None:
    body = {"tickets": [new("a")], "atomic": True}
    strict = key.post(BULK, body, prefer="handling=strict")
    assert (strict.status_code, strict.json()["errors"][0]["pointer"]) == (422, "/atomic")
    assert key.post(BULK, body).headers["x-warnings"] == "unknown_field=/atomic"


def test_a_key_that_may_not_import_chooses_no_times(tenant: Tenant) -> None:
    long_ago = "2019-02-03T04:05:06.000000Z"
    writer = tenant.key(permissions=["tickets:write"])
    (ignored,) = writer.post(BULK, {"tickets": [new("a", created_at=long_ago)]}).json()["data"]
    assert ignored["data"]["created_at"] != long_ago
    importer = tenant.key(permissions=["tickets:write", "import:write"])
    (chosen,) = importer.post(BULK, {"tickets": [new("b", created_at=long_ago)]}).json()["data"]
    assert chosen["data"]["created_at"] == long_ago


def test_with_the_idempotency_key_of_another_body_nothing_is_written(key: Key) -> None:
    again = {"idempotency-key": "k2"}
    assert statuses(key.post(BULK, {"tickets": [new(""), new("b")]}, **again)) == [422, 201]
    mended = key.post(BULK, {"tickets": [new("a"), new("b")]}, **again)
    assert (mended.status_code, mended.json()["code"]) == (422, "idempotency_key_reused")
    assert [row["subject"] for row in key.walk(TICKETS)] == ["b"]
