"""The next and the previous ticket of the view from which one was opened."""

import re
from itertools import pairwise

import pytest

from tests.support.for_each import for_each
from tests.support.pages import Visitor, ticket_ids
from tests.support.service import Tenant

TICKETS = "/api/v1/external/tickets"


def _place(visitor: Visitor, ticket_id: str, query: str) -> str:
    """The position of a ticket in a list."""
    text = visitor.get(f"/tickets?{query}").answer.text
    places = re.findall(r'data-at="([^"]*)".*?value="([^"]+)"', text, re.DOTALL)
    at = next(at for at, one in places if one == ticket_id)
    return f"{at}_{ticket_id}" if at else ticket_id


def _led(visitor: Visitor, way: str, query: str, at: str) -> str:
    answer = visitor.once("GET", f"/tickets/{way}?{query}&at={at}")
    assert answer.status_code == 303
    return answer.headers["location"]


@pytest.mark.parametrize("query", ["status=open", "status=open&sort=newest", "status=all"])
def test_next_and_previous_walk_through_the_view(
    tenant: Tenant, visitor: Visitor, query: str
) -> None:
    key = tenant.key()
    tickets = [key.ticket(subject=f"Order {n}")["id"] for n in range(3)][::-1]
    at = _place(visitor, tickets[1], query)
    after = _led(visitor, "next", query, at)
    assert after.startswith(f"/tickets/{tickets[2]}?")
    assert _led(visitor, "previous", query, at).startswith(f"/tickets/{tickets[0]}?")
    # They are counted, where the number of the ticket is known.
    for way, number, counted in (("next", 51, "52"), ("previous", 2, "1"), ("next", "%C2%B2", "")):
        led = _led(visitor, way, f"{query}&n={number}", at)
        assert led.partition("&n=")[2] == counted
    assert visitor.once("GET", after).status_code == 200
    # Behind the last one is the list.
    last = after.partition("at=")[2]
    assert _led(visitor, "next", query, last).partition("?")[0] == "/tickets"


@for_each(
    "query", ["", "status=all&sort=newest", "status=open&sort=priority", "view=unassigned",
              "status=open&sort=waiting"],
)  # fmt: skip
def test_without_scripts_the_list_that_a_ticket_was_opened_from_leads_on(
    tenant: Tenant, visitor: Visitor, query: str
) -> None:
    key = tenant.key()
    for n in range(3):
        key.ticket(subject=f"Order {n}", priority="high")
    listed = ticket_ids(visitor.get(f"/tickets?{query}"))
    page = visitor.get(f"/tickets/{listed[1]}")
    (after,) = [link for link in page.links if link.startswith("/tickets/next?")]
    (before,) = [link for link in page.links if link.startswith("/tickets/previous?")]
    visitor.get(before)
    assert visitor.at.startswith(f"/tickets/{listed[0]}?")
    page = visitor.get(after)
    assert visitor.at.startswith(f"/tickets/{listed[2]}?")
    assert [link for link in page.links if link.startswith("/tickets/next?")]


@for_each(
    "referer", ["/customers", "/tickets?q=order", "https://evil.test/tickets?status=open",
                "/tickets?view=0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "/tickets?%ff"],
)  # fmt: skip
def test_without_a_known_list_a_ticket_has_no_neighbours(
    tenant: Tenant, visitor: Visitor, referer: str
) -> None:
    ticket = tenant.key().ticket()["id"]
    from_own = f"{tenant.service.url}{referer}" if referer.startswith("/") else referer
    page = visitor.get(f"/tickets/{ticket}", referer=from_own)
    assert page.status == 200
    assert "/tickets/next" in page.links
    assert ("span", "hidden", "") in page.attributes


def test_only_tickets_of_the_view_are_neighbours(tenant: Tenant, visitor: Visitor) -> None:
    key = tenant.key()
    oldest = key.ticket(priority="urgent")["id"]
    key.ticket(priority="low")
    newest = key.ticket(priority="urgent")["id"]
    query = "status=open&priority=urgent"
    at = _place(visitor, newest, query)
    assert _led(visitor, "next", query, at).startswith(f"/tickets/{oldest}?")


def test_a_ticket_that_left_the_view_still_has_a_next_one(tenant: Tenant, visitor: Visitor) -> None:
    key = tenant.key()
    oldest, newest = key.ticket()["id"], key.ticket()["id"]
    at = _place(visitor, newest, "status=open")
    key.patch(f"/api/v1/external/tickets/{newest}", {"status": "resolved"})
    assert _led(visitor, "next", "status=open", at).startswith(f"/tickets/{oldest}?")


def test_a_position_that_is_none_leads_to_the_list(visitor: Visitor) -> None:
    for at in ("", "x", "1_x", "99999999999999999999_01a2"):
        assert _led(visitor, "next", "tag=gift", at) == "/tickets?tag=gift"


def _send(visitor: Visitor, ticket_id: str, query: str, **fields: str) -> str:
    """Send a reply from the page of a ticket; where it leads."""
    at = f"/tickets/{ticket_id}"
    form = visitor.get(f"{at}?{query}").form(f"{at}/reply")
    assert visitor.submit(form, body="On its way", **fields).status == 200
    return visitor.at


def test_resolving_with_a_reply_leads_to_the_next_ticket(tenant: Tenant, visitor: Visitor) -> None:
    key = tenant.key()
    tickets = [key.ticket(subject=f"Order {n}")["id"] for n in range(3)][::-1]
    query = f"status=open&at={_place(visitor, tickets[0], 'status=open')}"
    for left, following in pairwise(tickets):
        path, _, fragment = _send(visitor, left, query, then="resolve").partition("#")
        assert fragment == f"sent-{left}"
        path, _, query = path.partition("?")
        assert path == f"/tickets/{following}"
        found = key.get(f"{TICKETS}/{left}").json()["data"]
        assert (found["status"], found["reply_count"]) == ("resolved", 1)
    # Behind the last one is the list.
    assert _send(visitor, tickets[2], query, then="resolve") == f"/tickets#sent-{tickets[2]}"


def test_send_and_next_leaves_the_status(tenant: Tenant, visitor: Visitor) -> None:
    key = tenant.key()
    oldest, newest = key.ticket()["id"], key.ticket()["id"]
    query = f"status=open&at={_place(visitor, newest, 'status=open')}"
    assert _send(visitor, newest, query, then="next").startswith(f"/tickets/{oldest}?")
    assert key.get(f"{TICKETS}/{newest}").json()["data"]["status"] == "open"


def test_a_ticket_that_moved_behind_its_place_is_not_its_own_next(
    tenant: Tenant, visitor: Visitor
) -> None:
    key = tenant.key()
    low, urgent = key.ticket(priority="low")["id"], key.ticket(priority="urgent")["id"]
    query = "status=open&sort=priority"
    query += f"&at={_place(visitor, urgent, query)}"
    lowered = {"set_priority": "medium", "was_set_priority": "urgent"}
    led = _send(visitor, urgent, query, then="next", **lowered)
    assert led.startswith(f"/tickets/{low}?")


@for_each(
    "place", ["", "at=x", "//evil.example", "https://evil.example/?at=1", "at=%00", "é", "&" * 300]
)
def test_without_a_view_resolving_stays_and_next_leads_to_the_list(
    tenant: Tenant, visitor: Visitor, place: str
) -> None:
    ticket_id = tenant.key().ticket()["id"]
    led = _send(visitor, ticket_id, "", then="resolve", **{"in": place})
    assert led.startswith(f"/tickets/{ticket_id}?sent=")
    led = _send(visitor, ticket_id, "", then="next", **{"in": place})
    assert led == f"/tickets#sent-{ticket_id}"


def test_a_rejected_reply_keeps_its_place(tenant: Tenant, visitor: Visitor) -> None:
    ticket_id = tenant.key().ticket()["id"]
    at, place = f"/tickets/{ticket_id}", f"at={_place(visitor, ticket_id, 'status=open')}"
    form = visitor.get(f"{at}?{place}").form(f"{at}/reply")
    assert form.value("in") == place
    rejected = visitor.submit(form, body=" ", then="resolve")
    assert rejected.form(f"{at}/reply").value("in") == place
