"""The inbox: which tickets it shows, where its links lead, and that nothing is interpreted."""

import pytest

from tests.support.client import Key
from tests.support.pages import Visitor, logged_in
from tests.support.service import Tenant

INBOX = "/tickets"


@pytest.fixture
def visitor(tenant: Tenant) -> Visitor:
    """The tenant's administrator at a browser."""
    return logged_in(tenant)


def test_the_first_page_shows_what_is_open(visitor: Visitor, key: Key) -> None:
    ticket = key.ticket(subject="The kettle sings")
    key.ticket(subject="Long done", status="resolved")
    page = visitor.get(INBOX)
    assert page.status == 200
    assert "The kettle sings" in page.text and "Long done" not in page.text
    assert f"{INBOX}/{ticket['id']}" in page.links
    assert "Open 1" in page.text and "Resolved 1" in page.text


def test_an_empty_desk_shows_the_first_steps(visitor: Visitor) -> None:
    page = visitor.get(INBOX)
    assert "Your desk is ready" in page.text
    assert f"export SEALDESK_API_URL={visitor.service.url}" in page.text


def test_chosen_tickets_are_changed_together(visitor: Visitor, key: Key) -> None:
    ids = [key.ticket(subject=f"Number {n}")["id"] for n in range(3)]
    form = visitor.get(INBOX).form(f"{INBOX}/bulk")
    page = visitor.submit(form, ticket=ids[:2], status="pending", priority="urgent", assignee="me")
    assert "Change 2 tickets?" in page.text
    page = visitor.submit(page.form(f"{INBOX}/bulk"))
    assert "2 tickets were changed" in page.text
    for one in ids[:2]:
        ticket = key.get(f"/api/v1/external/tickets/{one}").json()["data"]
        assert (ticket["status"], ticket["priority"]) == ("pending", "urgent")
        assert ticket["assignee_id"] is not None
