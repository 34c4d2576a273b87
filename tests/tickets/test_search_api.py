"""The search of the API finds what the inbox finds, page by page."""

from typing import Any
from urllib.parse import urlencode

import pytest

from sealdesk.errors import QueryTooSlow
from sealdesk.search import actions as search
from sealdesk.tickets.views import search_words
from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.searching import wait_until_customers, wait_until_tickets
from tests.support.service import Tenant

SEARCH = "/api/v1/external/search"


def found(key: Key, q: str, **more: object) -> dict[str, Any]:
    response = key.get(f"{SEARCH}?{urlencode({'q': q, **more})}")
    assert response.status_code == 200, response.text
    result: dict[str, Any] = response.json()
    return result


def ids_of(body: dict[str, Any]) -> list[str]:
    return [each["ticket"]["id"] for each in body["data"]]


def test_words_and_filters_find_tickets_with_their_hits(tenant: Tenant, key: Key) -> None:
    ticket = key.ticket(subject="Cracked bowl", description="The Kettle leaks", tags=["vip"])
    other = key.ticket(subject="Cracked cup", status="resolved")
    wait_until_tickets(tenant, "cracked", other["id"], ticket["id"])
    body = found(key, "status:open tag:vip kettle crack")
    assert ids_of(body) == [ticket["id"]]
    (hit,) = body["data"]
    assert hit["ticket"] == key.get(f"/api/v1/external/tickets/{ticket['id']}").json()["data"]
    assert hit["highlights"] == {
        "subject": [{"text": "Cracked", "is_hit": True}, {"text": " bowl", "is_hit": False}],
        "snippet": [
            {"text": "The ", "is_hit": False},
            {"text": "Kettle", "is_hit": True},
            {"text": " leaks", "is_hit": False},
        ],
    }
    assert body["meta"] == {
        "per_page": 25, "has_more": False, "next_cursor": None, "corrected": None,
        "is_complete": True,
    }  # fmt: skip
    assert ids_of(found(key, "status:resolved")) == [other["id"]]
    assert found(key, "crakced")["meta"]["corrected"] == "cracked"
    assert ids_of(found(tenant.service.tenant().key(), "cracked")) == []


@pytest.mark.parametrize("q", ["same", "status:open", "status:open same", ""])
def test_pages_hold_each_ticket_once(tenant: Tenant, key: Key, q: str) -> None:
    made = [key.ticket(subject="Same words")["id"] for _ in range(5)]
    wait_until_tickets(tenant, "same", *reversed(made))
    walked = key.walk(f"{SEARCH}?{urlencode({'q': q})}" if q else SEARCH, per_page=2)
    assert [each["ticket"]["id"] for each in walked] == made[::-1]


def test_a_ticket_comes_first_by_its_number_and_no_second_time(tenant: Tenant, key: Key) -> None:
    numbered = key.ticket()
    number = numbered["number"]
    naming = [key.ticket(subject=f"See {number}")["id"] for _ in range(3)]
    wait_until_tickets(tenant, "see", *reversed(naming))
    for per_page in (1, 2, 3):
        walked = key.walk(f"{SEARCH}?q=%23{number}", per_page=per_page)
        assert [each["ticket"]["id"] for each in walked] == [numbered["id"], *naming[::-1]]


def test_a_page_of_the_search_ends_early_and_the_next_one_goes_on(
    tenant: Tenant, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [key.ticket(subject="Same words")["id"] for _ in range(4)]
    wait_until_tickets(tenant, "same", *reversed(made))
    for each in made[1:]:
        key.patch(f"/api/v1/external/tickets/{each}", {"status": "pending"})
    monkeypatch.setattr("sealdesk.tickets.views.searching._MAX_NARROWED", 3)
    body = found(key, "same status:open", per_page=2)
    assert (ids_of(body), body["meta"]["is_complete"]) == ([], False)
    assert body["meta"]["has_more"]
    body = found(key, "same status:open", per_page=2, cursor=body["meta"]["next_cursor"])
    assert (ids_of(body), body["meta"]["is_complete"]) == ([made[0]], True)
    assert (body["meta"]["has_more"], body["meta"]["next_cursor"]) == (False, None)
    walked = key.walk(f"{SEARCH}?q=same+status:pending", per_page=1)
    assert [each["ticket"]["id"] for each in walked] == made[:0:-1]


@for_each(
    "typed",
    [("tag:vip", "vip"), ('tag:"a b"', "a b"), ('tag:"a b', "a b"), ('tag:15"', '15"'),
     ('tag:"15"" wide"', '15" wide'), ('tag:"""so"""', '"so"')],
)  # fmt: skip
def test_every_tag_can_be_written_in_a_search(typed: tuple[str, str]) -> None:
    query, tag = typed
    assert search_words.parse(f"kettle {query}").tags == (tag,)


@pytest.mark.parametrize(
    ("q", "named"),
    [("status:broken", "Write open, pending"),
     ('kettle -tag:"a b"', "“-tag:\"a b\"” cannot be left out. Only words can"),
     ("-Field.plan:gold", "cannot be left out"),
     ("assignee:Zzz", "Nobody is called"), ("before:yesterday", "is no date")],
)  # fmt: skip
def test_a_filter_that_cannot_be_read_is_named(key: Key, q: str, named: str) -> None:
    response = key.get(f"{SEARCH}?{urlencode({'q': q})}")
    assert (response.status_code, response.json()["code"]) == (400, "invalid_parameter")
    assert named in response.json()["detail"]


def test_a_search_that_takes_too_long_says_so(key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    async def cut_off(*_: Any, **__: Any) -> None:
        raise QueryTooSlow

    monkeypatch.setattr(search, "find_tickets", cut_off)
    response = key.get(f"{SEARCH}?q=kettle")
    assert (response.status_code, response.json()["code"]) == (503, "query_too_slow")


def test_customers_are_found_by_words_page_by_page(tenant: Tenant, key: Key) -> None:
    path = "/api/v1/external/customers"
    made = [
        key.post(path, {"email": f"c{n}@pottery.example", "name": f"Zoë {n}"}).json()["data"]["id"]
        for n in range(3)
    ]
    wait_until_customers(tenant, "zoe", *reversed(made))
    assert [each["id"] for each in key.walk(f"{path}?q=zoe+pott", per_page=2)] == made[::-1]
    (one,) = key.walk(f"{path}?q=C1%40pottery.example")
    assert one["id"] == made[1]
    for query, named in (("q=zoe&external_id=x", "together with external_id"), ("q=+", "a word")):
        response = key.get(f"{path}?{query}")
        assert (response.status_code, response.json()["code"]) == (400, "invalid_parameter")
        assert named in response.json()["detail"]


def test_only_keys_that_read_customers_search_by_them(tenant: Tenant) -> None:
    key = tenant.key()
    customer_id = key.ticket()["customer"]["id"]
    key.patch(f"/api/v1/external/customers/{customer_id}", {"phone": "555 1234"})
    wait_until_customers(tenant, "555", customer_id)
    reader = tenant.key(permissions=["tickets:read"])
    refused = reader.get("/api/v1/external/search?q=from:555")
    assert (refused.status_code, refused.json().get("required")) == (403, ["customers:read"])
    assert len(key.get("/api/v1/external/search?q=from:555").json()["data"]) == 1
