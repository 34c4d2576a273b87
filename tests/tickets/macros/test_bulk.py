"""A macro for several tickets: the choice, what it would do, and what it did."""

from typing import Any

import pytest

from tests.support.client import Key
from tests.support.pages import INBOX, Page, Visitor
from tests.support.service import Service, Tenant

USE = f"{INBOX}/bulk/macro?status=all"
TICKETS = "/api/v1/external/tickets"
ADA = {"email": "ada@bulk.example", "name": "Ada Ash"}
BEN = {"email": "ben@bulk.example", "name": "Ben Birk"}


@pytest.fixture
def macro(tenant: Tenant) -> str:
    """A macro that answers, resolves and tags."""
    new = {"name": "Sold out", "shortcut": "sold", "status": "resolved", "tags": ["stock"]}
    body = {**new, "body": "Hello {{customer.first_name}}, it is sold out."}
    return str(tenant.admin().post("/api/v1/macros", body).json()["data"]["id"])


def choose(visitor: Visitor, *tickets: dict[str, Any]) -> Page:
    form = visitor.get(f"{INBOX}?status=all").form(f"{INBOX}/bulk?status=all")
    return visitor.submit(form._replace(action=USE), ticket=[each["id"] for each in tickets])


def preview(visitor: Visitor, macro: str, *tickets: dict[str, Any]) -> Page:
    return visitor.submit(choose(visitor, *tickets).form(USE), macro=macro)


def now(key: Key, ticket: dict[str, Any]) -> dict[str, Any]:
    return dict(key.get(f"{TICKETS}/{ticket['id']}").json()["data"])


def bodies(key: Key, ticket: dict[str, Any]) -> list[str]:
    listed = key.get(f"{TICKETS}/{ticket['id']}/replies").json()["data"]
    return [each["body"] for each in listed]


def test_each_customer_gets_the_reply_with_the_own_name(
    visitor: Visitor, key: Key, macro: str
) -> None:
    first, second, other = (key.ticket(customer=each) for each in (ADA, BEN, ADA))
    page = preview(visitor, macro, first, second)
    assert "Use “Sold out” on 2 tickets?" in page.text
    assert "2 replies are sent. The first one: Hello Ada, it is sold out." in page.text
    assert now(key, first) == first
    done = visitor.submit(page.form(USE))
    assert "“Sold out” was used on 2 tickets" in done.text
    assert [bodies(key, each) for each in (first, second, other)] == [
        ["Hello Ada, it is sold out."],
        ["Hello Ben, it is sold out."],
        [],
    ]
    after = now(key, second)
    assert (after["status"], after["tags"]) == ("resolved", ["stock"])


def test_a_macro_is_not_used_on_tickets_that_are_closed_or_have_changed(
    visitor: Visitor, key: Key, macro: str
) -> None:
    free, busy, closed = key.ticket(), key.ticket(), key.ticket()
    key.patch(f"{TICKETS}/{closed['id']}", {"status": "closed"})
    page = preview(visitor, macro, free, busy, closed)
    assert "on 2 tickets?" in page.text and "It is closed. Open it first." in page.text
    key.post(f"{TICKETS}/{busy['id']}/replies", {"body": "Another thing"})
    done = visitor.submit(page.form(USE))
    assert "was used on 1 ticket" in done.text
    assert "It has changed since you opened this page." in done.text
    assert bodies(key, busy) == ["Another thing"] and bodies(key, closed) == []
    again = visitor.submit(page.form(USE))  # sent again, it answers nobody twice
    assert "Nothing was changed" in again.text
    assert len(bodies(key, free)) == 1


def test_a_macro_that_only_sets_fields_sends_nothing(
    visitor: Visitor, tenant: Tenant, key: Key
) -> None:
    new = {"name": "Urgent", "shortcut": "now", "priority": "urgent"}
    macro = tenant.admin().post("/api/v1/macros", new).json()["data"]["id"]
    ticket, same = key.ticket(), key.ticket(priority="urgent")
    page = preview(visitor, macro, ticket, same)
    assert "reply" not in page.text and "It already has these values." in page.text
    visitor.submit(page.form(USE))
    assert now(key, ticket)["priority"] == "urgent"
    assert bodies(key, ticket) == []


def test_a_macro_that_changed_after_the_preview_is_shown_again(
    visitor: Visitor, tenant: Tenant, key: Key, macro: str
) -> None:
    ticket = key.ticket()
    page = preview(visitor, macro, ticket)
    tenant.admin().patch(f"/api/v1/macros/{macro}", {"body": "Back in May."})
    again = visitor.submit(page.form(USE))
    assert "This reply is sent: Back in May." in again.text
    assert bodies(key, ticket) == []
    visitor.submit(again.form(USE))
    assert bodies(key, ticket) == ["Back in May."]


def test_a_merged_ticket_is_named_as_merged(visitor: Visitor, key: Key, macro: str) -> None:
    merged, into = key.ticket(), key.ticket()
    page = preview(visitor, macro, merged, into)
    key.post(f"{TICKETS}/{merged['id']}/merge", {"into": into["id"]})
    assert "on 2 tickets?" in page.text
    assert "It was merged into another ticket." in preview(visitor, macro, merged).text
    form = visitor.get(f"{INBOX}?status=all").form(f"{INBOX}/bulk?status=all")
    changed = visitor.submit(form, ticket=[merged["id"]], priority="urgent")
    assert "It was merged into another ticket." in changed.text


def test_a_closed_ticket_is_opened_by_a_macro_without_a_text(
    visitor: Visitor, tenant: Tenant, key: Key
) -> None:
    new = {"name": "Open", "shortcut": "open", "body": " ", "status": "open"}
    macro = tenant.admin().post("/api/v1/macros", new).json()["data"]["id"]
    ticket = key.ticket()
    key.patch(f"{TICKETS}/{ticket['id']}", {"status": "closed"})
    visitor.submit(preview(visitor, macro, ticket).form(USE))
    assert now(key, ticket)["status"] == "open"
    assert bodies(key, ticket) == []  # a blank text is none


def test_without_tickets_or_macros_the_page_says_what_to_do(visitor: Visitor, key: Key) -> None:
    ticket = key.ticket()
    assert "No tickets selected" in choose(visitor).text
    assert "101 tickets are too many" in choose(visitor, *[ticket] * 101).text
    page = choose(visitor, ticket)
    assert "There are no macros" in page.text and "/settings/macros/new" in page.links


def test_a_macro_of_other_does_not_exist(
    visitor: Visitor, service: Service, key: Key, macro: str
) -> None:
    new = {"name": "Secret", "shortcut": "secret", "body": "Not for you"}
    foreign = service.tenant("Other").admin().post("/api/v1/macros", new).json()["data"]["id"]
    page = visitor.submit(choose(visitor, key.ticket()).form(USE), macro=foreign)
    assert "Use a macro on 1 ticket" in page.text and "Secret" not in page.text
