"""Merging tickets, undoing it, and splitting a ticket, through the API."""

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from sealdesk import ids
from sealdesk.tickets.merging import rules
from tests.support.client import Key
from tests.support.service import Service, Tenant

TICKETS = "/api/v1/external/tickets"
BY_CUSTOMER = {"author": {"type": "customer"}}


def read(key: Key, ticket: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = key.get(f"{TICKETS}/{ticket['id']}").json()["data"]
    return shown


def reply(key: Key, ticket: dict[str, Any], body: str, **fields: Any) -> dict[str, Any]:
    response = key.post(f"{TICKETS}/{ticket['id']}/replies", {"body": body, **fields})
    assert response.status_code == 201, response.text
    shown: dict[str, Any] = response.json()["data"]
    return shown


def texts(key: Key, ticket: dict[str, Any]) -> list[str]:
    """The texts of the replies and notes, in reading order."""
    listed = key.walk(f"{TICKETS}/{ticket['id']}/replies?sort=asc")
    return [each["body"] for each in listed]


def merge(key: Key, source: dict[str, Any], target: dict[str, Any]) -> httpx.Response:
    return key.post(f"{TICKETS}/{source['id']}/merge", {"into": target["id"]})


def undo(key: Key, source: dict[str, Any]) -> httpx.Response:
    return key.call("DELETE", f"{TICKETS}/{source['id']}/merge")


def split(key: Key, ticket: dict[str, Any], reply_id: str, **fields: str) -> httpx.Response:
    new = {"reply_id": reply_id, "subject": "A second question", **fields}
    return key.post(f"{TICKETS}/{ticket['id']}/split", new)


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_both_conversations_are_in_the_other_ticket_in_the_order_of_time(key: Key) -> None:
    target = key.ticket(description="first")
    reply(key, target, "second")
    source = key.ticket(description="third")
    reply(key, source, "fourth", is_internal=True)
    reply(key, target, "fifth")
    reply(key, source, "sixth", **BY_CUSTOMER)
    merged = merge(key, source, target)
    assert merged.status_code == 200, merged.text
    assert texts(key, target) == ["second", "third", "fourth", "fifth", "sixth"]
    assert merged.json()["data"] == read(key, target)
    assert read(key, target)["reply_count"] == 4


def test_the_merged_ticket_is_closed_and_names_the_other_one(key: Key) -> None:
    source, target = key.ticket(status="pending"), key.ticket()
    assert read(key, source)["merged_into_id"] is None
    merge(key, source, target)
    after = read(key, source)
    assert (after["status"], after["merged_into_id"]) == ("closed", target["id"])
    assert after["reply_count"] == 0 and texts(key, source) == []


def test_the_customer_waits_since_the_earlier_of_two_unanswered_tickets(key: Key) -> None:
    source, target = key.ticket(), key.ticket()
    merge(key, source, target)
    after = read(key, target)
    assert after["waiting_since"] == source["created_at"]
    assert after["last_reply_by"] == "customer"
    assert read(key, source)["waiting_since"] is None
    undo(key, source)
    waiting = [read(key, each)["waiting_since"] for each in (source, target)]
    assert waiting == [source["created_at"], target["created_at"]]


def test_an_answer_in_the_merged_ticket_ends_the_waiting(key: Key) -> None:
    source, target = key.ticket(), key.ticket()
    reply(key, source, "answered")
    merge(key, source, target)
    after = read(key, target)
    assert (after["waiting_since"], after["last_reply_by"]) == (None, "api_key")


def test_what_is_sent_to_a_merged_ticket_is_refused_with_the_one_to_use(key: Key) -> None:
    source, next_one, target, third = (key.ticket() for _ in range(4))
    merge(key, source, next_one)
    merge(key, next_one, target)
    at = f"{TICKETS}/{source['id']}"
    refused = (
        key.patch(at, {"status": "open"}),
        key.patch(at, {"tags": ["late"]}),
        key.post(f"{at}/replies", {"body": "Me again.", "author": {"type": "customer"}}),
        merge(key, source, third),
        key.post(f"{at}/split", {"reply_id": source["id"], "subject": "New"}),
        key.call("PUT", f"{at}/participants", {"participants": []}),
        key.post(f"{at}/followers", {"user_id": source["id"]}),
        key.post(f"{at}/links", {"ticket_id": third["id"], "relation": "relates_to"}),
        merge(key, third, source),
    )
    for each in refused:
        assert code(each) == (409, "ticket_merged")
        assert each.json()["merged_into_id"] == target["id"]


def test_tickets_cannot_be_merged_in_a_circle(key: Key) -> None:
    one, two = key.ticket(), key.ticket()
    merge(key, one, two)
    refused = merge(key, two, one)
    assert code(refused) == (409, "ticket_merged")
    assert refused.json()["ticket_id"] == one["id"]
    assert read(key, two)["merged_into_id"] is None


def test_a_ticket_cannot_be_merged_into_itself(key: Key) -> None:
    ticket = key.ticket()
    assert code(merge(key, ticket, ticket)) == (409, "merge_into_itself")
    assert read(key, ticket) == ticket


def test_a_ticket_cannot_be_merged_into_a_closed_one(key: Key) -> None:
    source, target = key.ticket(), key.ticket()
    key.patch(f"{TICKETS}/{target['id']}", {"status": "closed"})
    assert code(merge(key, source, target)) == (409, "ticket_closed")


def test_the_ticket_of_another_tenant_does_not_exist(service: Service, key: Key) -> None:
    ticket, foreign = key.ticket(), service.tenant("Other").key().ticket()
    refused = merge(key, ticket, foreign)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["code"] == "unknown_ticket"
    assert merge(key, foreign, ticket).status_code == 404
    assert undo(key, foreign).status_code == 404
    assert split(key, foreign, str(uuid.uuid4())).status_code == 404
    assert read(key, ticket) == ticket


def test_undoing_gives_a_ticket_what_it_had(key: Key) -> None:
    source, target = key.ticket(status="on_hold", description="theirs"), key.ticket()
    reply(key, target, "ours")
    reply(key, source, "answer")
    reply(key, source, "note", is_internal=True)
    before = read(key, source)
    merge(key, source, target)
    reply(key, target, "after the merge")
    undone = undo(key, source)
    assert undone.status_code == 200, undone.text
    changing = ("updated_at", "version")
    after = {name: value for name, value in read(key, source).items() if name not in changing}
    assert after == {name: value for name, value in before.items() if name not in changing}
    assert texts(key, source) == ["answer", "note"]
    assert texts(key, target) == ["ours", "after the merge"]
    assert read(key, target)["reply_count"] == 2


def test_a_merge_is_final_after_a_day(own_service: Service) -> None:
    key = own_service.tenant().key()
    source, target, other = (key.ticket() for _ in range(3))
    merge(key, source, target)
    own_service.clock.advance(rules.UNDO_HOURS * 3600 - 60)
    assert undo(key, source).status_code == 200
    merge(key, source, other)
    own_service.clock.advance(rules.UNDO_HOURS * 3600)
    assert code(undo(key, source)) == (409, "merge_final")
    own_service.prune()
    assert own_service.rows("SELECT source_id FROM ticket_merges LIMIT 1") == []
    assert code(undo(key, source)) == (409, "merge_final")


def test_a_later_merge_is_undone_first(key: Key) -> None:
    one, two, three = (key.ticket(description=str(n)) for n in (1, 2, 3))
    reply(key, one, "reply to one")
    merge(key, one, two)
    merge(key, two, three)
    assert texts(key, three) == ["1", "2", "reply to one"]
    assert code(undo(key, one)) == (409, "merge_final")
    assert undo(key, two).status_code == 200
    assert undo(key, one).status_code == 200
    assert [texts(key, each) for each in (one, two, three)] == [["reply to one"], [], []]


def test_only_a_merged_ticket_can_be_taken_out(key: Key) -> None:
    ticket = key.ticket()
    assert code(undo(key, ticket)) == (409, "not_merged")


def test_a_merge_that_is_sent_twice_is_done_once(key: Key) -> None:
    source, target = key.ticket(), key.ticket()
    path, once = f"{TICKETS}/{source['id']}/merge", {"idempotency-key": str(uuid.uuid4())}
    first, second = (key.post(path, {"into": target["id"]}, **once) for _ in range(2))
    assert first.content == second.content
    assert len(texts(key, target)) == 1


def test_events_and_history_tell_of_a_merge(key: Key, service: Service, tenant: Tenant) -> None:
    source, target = key.ticket(), key.ticket()
    merge(key, source, target)
    service.settle()
    events = key.get("/api/v1/external/events?per_page=100").json()["data"]
    changes = [each["data"]["changes"] for each in events if each["type"] == "ticket.updated"]
    assert {"status": ["open", "closed"], "merged_into_id": [None, target["id"]]} in changes
    assert {"reply_count": [0, 1]} in changes
    told = service.rows(
        "SELECT changes FROM ticket_changes WHERE ticket_id = :id LIMIT 9", id=target["id"]
    )
    assert [row["changes"] for row in told] == [f'{{"merged":[null,{source["number"]}]}}']


def test_more_replies_than_the_bound_do_not_move(key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MAX_REPLIES", 2)
    source, target = key.ticket(), key.ticket()
    replies = [reply(key, source, str(n)) for n in range(3)]
    refused = merge(key, source, target)
    assert code(refused) == (409, "too_many_replies") and "2" in refused.json()["detail"]
    assert len(texts(key, source)) == 3 and read(key, target) == target
    assert split(key, source, replies[0]["id"]).status_code == 201


def test_a_reply_begins_a_new_ticket_with_all_later_ones(key: Key, tenant: Tenant) -> None:
    agent = tenant.user("agent")
    ticket = key.ticket(priority="high", tags=["vip"], assignee_id=agent)
    reply(key, ticket, "stays")
    first = reply(key, ticket, "begins", **BY_CUSTOMER)
    reply(key, ticket, "moves", is_internal=True)
    reply(key, ticket, "moves too")
    response = split(key, ticket, first["id"])
    assert response.status_code == 201, response.text
    new = response.json()["data"]
    assert response.headers["location"] == f"{TICKETS}/{new['id']}"
    assert (new["subject"], new["description"]) == ("A second question", "begins")
    shared = ("priority", "tags", "assignee_id", "customer")
    assert {name: new[name] for name in shared} == {name: ticket[name] for name in shared}
    assert (texts(key, ticket), texts(key, new)) == (["stays"], ["moves", "moves too"])
    assert (read(key, ticket)["reply_count"], read(key, new)["reply_count"]) == (1, 1)
    assert read(key, new) == new


def test_replies_up_to_one_move_to_a_new_ticket(key: Key) -> None:
    ticket = key.ticket()
    before, first, later, last, end = (reply(key, ticket, text)["id"] for text in "abcde")
    for unknown in (before, ticket["id"]):
        refused = split(key, ticket, first, last_reply_id=unknown)
        assert refused.json()["errors"][0]["pointer"] == "/last_reply_id"
    new = split(key, ticket, later, last_reply_id=last).json()["data"]
    assert (texts(key, ticket), new["description"], texts(key, new)) == (
        ["a", "b", "e"],
        "c",
        ["d"],
    )
    new = split(key, ticket, first, last_reply_id=first).json()["data"]
    assert (texts(key, ticket), new["description"], texts(key, new)) == (["a", "e"], "b", [])
    assert read(key, ticket)["reply_count"] == 2
    assert split(key, ticket, end, last_reply_id=end).status_code == 201


def test_attachments_go_along_with_their_texts(key: Key) -> None:
    files = [key.attachment(f"{n}.txt", b"%d" % n) for n in range(3)]
    source = key.ticket(attachment_ids=[files[0]["id"]])
    first = reply(key, source, "with a file", attachment_ids=[files[1]["id"]])
    later = reply(key, source, "later", attachment_ids=[files[2]["id"]])
    target = key.ticket()
    merge(key, source, target)
    listed = key.walk(f"{TICKETS}/{target['id']}/replies?sort=asc")
    assert [each["attachments"][0]["id"] for each in listed] == [each["id"] for each in files]
    assert linked(key, files) == [(target["id"], each["id"]) for each in listed]
    undo(key, source)
    replies = [None, first["id"], later["id"]]
    assert linked(key, files) == [(source["id"], each) for each in replies]
    new = split(key, source, first["id"]).json()["data"]
    assert [each["id"] for each in new["attachments"]] == [files[1]["id"]]
    assert linked(key, files)[1:] == [(new["id"], None), (new["id"], later["id"])]


def test_attachments_of_a_split_ticket_stay_when_it_changes(key: Key) -> None:
    file, source = key.attachment("a.txt", b"1"), key.ticket()
    first = reply(key, source, "with a file", attachment_ids=[file["id"]])
    new = split(key, source, first["id"]).json()["data"]
    for change in ({"priority": "high"}, {"subject": "Another one"}):
        changed = key.patch(f"{TICKETS}/{new['id']}", change).json()["data"]
        assert [each["id"] for each in changed["attachments"]] == [file["id"]]


def linked(key: Key, files: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    """The ticket and the reply of each attachment."""
    shown = [key.get(f"/api/v1/external/attachments/{each['id']}").json() for each in files]
    return [(each["data"]["ticket_id"], each["data"]["reply_id"]) for each in shown]


@pytest.mark.parametrize("which", ["unknown", "a note", "of another ticket"])
def test_only_a_public_reply_of_the_ticket_begins_a_new_one(key: Key, which: str) -> None:
    ticket, other = key.ticket(), key.ticket()
    reply_id = {
        "unknown": ids.mint(0),
        "a note": reply(key, ticket, "note", is_internal=True)["id"],
        "of another ticket": reply(key, other, "hello")["id"],
    }[which]
    refused = split(key, ticket, reply_id)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/reply_id"
    assert len(key.walk(TICKETS)) == 2


def test_a_merge_whose_description_was_split_off_cannot_be_undone(key: Key) -> None:
    source, target = key.ticket(description="moved twice"), key.ticket()
    merge(key, source, target)
    opening = key.walk(f"{TICKETS}/{target['id']}/replies")[0]
    assert split(key, target, opening["id"]).status_code == 201
    assert code(undo(key, source)) == (409, "merge_final")
    assert read(key, source)["merged_into_id"] == target["id"]


def _patient(request: Callable[[], httpx.Response]) -> httpx.Response:
    """Repeats what changed nothing because others write the same ticket, as clients do."""
    for _ in range(50):
        answer = request()
        if answer.status_code != 503:
            break
    return answer


def test_replies_and_merges_at_the_same_time_lose_nothing(key: Key) -> None:
    source, target = key.ticket(), key.ticket()
    path = f"{TICKETS}/{source['id']}/replies"

    def send(number: int) -> int:
        return _patient(lambda: key.post(path, {"body": f"reply {number}"})).status_code

    with ThreadPoolExecutor(6) as clients:
        sent = [clients.submit(send, number) for number in range(6)]
        merged = clients.submit(_patient, lambda: merge(key, source, target))
        sent += [clients.submit(send, number) for number in range(6, 12)]
    statuses = [each.result() for each in sent]
    assert merged.result().status_code == 200 and {*statuses} <= {201, 409}
    moved = [text for text in texts(key, target) if text.startswith("reply")]
    assert len(moved) == statuses.count(201)
    assert texts(key, source) == [] and read(key, target)["reply_count"] == len(moved) + 1
