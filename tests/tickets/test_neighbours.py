"""The next and the previous ticket of the view from which one was opened."""

import re

import pytest

from tests.support.pages import Visitor, logged_in
from tests.support.service import Tenant


@pytest.fixture
def visitor(tenant: Tenant) -> Visitor:
    return logged_in(tenant)


def _place(visitor: Visitor, ticket_id: str, query: str) -> str:
    """The position of a ticket in a list."""
    text = visitor.get(f"/tickets?{query}").answer.text
    places: dict[str, str] = dict(
        re.findall(r'data-at="([^"]+)".*?value="([^"]+)"', text, re.DOTALL)
    )
    return next(at for at, one in places.items() if one == ticket_id)


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
    assert visitor.once("GET", after).status_code == 200
    # Behind the last one is the list.
    last = after.partition("at=")[2]
    assert _led(visitor, "next", query, last).partition("?")[0] == "/tickets"


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
