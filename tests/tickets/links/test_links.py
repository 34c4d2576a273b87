"""Links between tickets by the API: both sides, what cannot be linked, merging and erasing."""

import sys
from typing import Any

import httpx
import pytest

from tests.support.client import Key
from tests.support.service import Service, wait_until

TICKETS = "/api/v1/external/tickets"
Ticket = dict[str, Any]


def path_of(ticket: Ticket) -> str:
    return f"{TICKETS}/{ticket['id']}/links"


def link(key: Key, ticket: Ticket, relation: str, other: Ticket) -> httpx.Response:
    return key.post(path_of(ticket), {"relation": relation, "ticket_id": other["id"]})


def links(key: Key, ticket: Ticket) -> list[tuple[str, int]]:
    """The relation and the number of each other ticket."""
    listed = key.walk(path_of(ticket))
    return [(each["relation"], each["number"]) for each in listed]


def refusal(response: httpx.Response) -> tuple[int, str]:
    problem = response.json()
    faults = problem.get("errors") or [problem]
    return response.status_code, faults[0]["code"]


@pytest.mark.parametrize(
    ("relation", "opposite"),
    [("relates_to", "relates_to"), ("blocks", "blocked_by"), ("has_duplicate", "duplicate_of")],
)
def test_both_tickets_have_the_link_until_one_removes_it(
    key: Key, relation: str, opposite: str
) -> None:
    one, two = key.ticket(subject="One"), key.ticket(subject="Two")
    made = [link(key, one, relation, two).json()["data"] for _ in ("first", "again")]
    assert made[0] == made[1] and (made[0]["subject"], made[0]["status"]) == ("Two", "open")
    assert links(key, one) == [(relation, two["number"])]
    assert links(key, two) == [(opposite, one["number"])]
    assert key.get(f"{TICKETS}/{one['id']}").json()["data"] == one
    for _ in ("first", "again"):
        assert key.delete(f"{path_of(two)}/{one['id']}").status_code == 204
    assert (links(key, one), links(key, two)) == ([], [])


def test_links_are_listed_in_pages(key: Key) -> None:
    one, *others = (key.ticket() for _ in range(3))
    for each in others:
        link(key, one, "relates_to", each)
    first = key.get(f"{path_of(one)}?per_page=1").json()
    second = key.get(f"{path_of(one)}?per_page=1&cursor={first['meta']['next_cursor']}").json()
    assert [each["id"] for each in first["data"] + second["data"]] == [x["id"] for x in others]
    assert second["meta"]["next_cursor"] is None


def test_what_cannot_be_linked_says_why(service: Service, key: Key) -> None:
    one, two = key.ticket(), key.ticket()
    stranger = service.tenant("Other").key()
    theirs = stranger.ticket()
    assert refusal(link(key, one, "blocks", theirs)) == (422, "unknown_ticket")
    assert link(key, theirs, "blocks", one).status_code == 404
    assert stranger.get(path_of(one)).status_code == 404
    assert refusal(link(key, one, "blocks", one)) == (422, "same_ticket")
    assert link(key, one, "likes", two).status_code == 422
    link(key, one, "blocks", two)
    again = link(key, one, "relates_to", two)
    assert refusal(again) == (409, "linked_otherwise") and again.json()["relation"] == "blocks"
    assert stranger.delete(f"{path_of(one)}/{two['id']}").status_code == 404
    assert links(key, one) == [("blocks", two["number"])]


def test_tickets_do_not_block_each_other_through_others(key: Key) -> None:
    one, two, three = (key.ticket() for _ in range(3))
    link(key, one, "blocks", two)
    link(key, three, "blocked_by", two)
    assert refusal(link(key, three, "blocks", one)) == (409, "link_circle")
    assert refusal(link(key, one, "blocked_by", three)) == (409, "link_circle")
    assert link(key, one, "blocks", three).status_code == 201


def test_a_full_ticket_takes_no_further_link(key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rules", "store"):
        monkeypatch.setattr(sys.modules[f"sealdesk.tickets.links.{name}"], "MAX_LINKS", 1)
    one, two, three = (key.ticket() for _ in range(3))
    link(key, one, "relates_to", two)
    for pair in ((one, three), (three, one)):
        assert refusal(link(key, pair[0], "blocks", pair[1])) == (409, "too_many_links")
    assert link(key, two, "relates_to", one).status_code == 201


def test_a_merged_ticket_takes_its_links_along_until_the_merge_is_undone(key: Key) -> None:
    source, target, other, both = (key.ticket() for _ in range(4))
    link(key, source, "blocks", other)
    link(key, source, "relates_to", target)
    link(key, source, "relates_to", both)
    link(key, target, "blocks", both)
    key.post(f"{TICKETS}/{source['id']}/merge", {"into": target["id"]})
    assert links(key, target) == [("blocks", other["number"]), ("blocks", both["number"])]
    assert links(key, other) == [("blocked_by", target["number"])]
    assert refusal(link(key, other, "relates_to", source)) == (409, "ticket_merged")
    key.delete(f"{TICKETS}/{source['id']}/merge")
    assert links(key, other) == [("blocked_by", source["number"])]
    assert links(key, target) == [("relates_to", source["number"]), ("blocks", both["number"])]


def test_an_erased_ticket_loses_its_links_and_gets_none(own_service: Service) -> None:
    key = own_service.tenant().key()
    erased = key.ticket(customer={"email": "gone@example.test"})
    other = key.ticket(customer={"email": "stays@example.test"})
    link(key, erased, "relates_to", other)
    key.post(f"/api/v1/external/customers/{erased['customer']['id']}/erase", None)
    assert refusal(link(key, other, "blocks", erased)) == (422, "erased_ticket")
    own_service.clock.advance(11)  # the worker begins after ten seconds
    wait_until(lambda: links(key, other) == [])
    assert links(key, erased) == []
