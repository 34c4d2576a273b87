"""The search in the inbox."""

from typing import Any

import pytest

from sealdesk.errors import QueryTooSlow
from sealdesk.search import actions as search
from tests.support.client import Key
from tests.support.pages import INBOX, Visitor, logged_in, ticket_ids
from tests.support.searching import wait_until_tickets
from tests.support.service import Tenant


@pytest.fixture
def visitor(tenant: Tenant) -> Visitor:
    """A browser with the log-in of the administrator."""
    return logged_in(tenant)


def test_search_results_are_newest_first_in_any_status(
    visitor: Visitor, tenant: Tenant, key: Key
) -> None:
    old = key.ticket(subject="A cracked kettle")
    key.ticket(subject="A saucer")
    new = key.ticket(subject="Cracked again", status="resolved")
    wait_until_tickets(tenant, "cracked", new["id"], old["id"])
    page = visitor.get(f"{INBOX}?q=cracked")
    assert ticket_ids(page) == [new["id"], old["id"]]
    assert "2 tickets with “cracked”." in page.text
    assert ("input", "value", "cracked") in page.attributes
    assert f"{INBOX}?status=closed" in page.links


def test_a_search_without_results_says_so(visitor: Visitor, tenant: Tenant, key: Key) -> None:
    key.ticket()
    other = tenant.service.tenant()
    wait_until_tickets(other, "elsewhere", other.key().ticket(subject="Elsewhere")["id"])
    for words in ("elsewhere", "%22%2A%28", "%3Cscript%3Ealert(1)%3C/script%3E"):
        page = visitor.get(f"{INBOX}?q={words}")
        assert (page.status, ticket_ids(page)) == (200, [])
        assert "No ticket contains these words" in page.text
        assert page.tags.count("script") == 1


def test_a_search_with_too_many_results_says_so(
    visitor: Visitor, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = key.ticket()

    async def many(*_: Any) -> search.SearchResult:
        return search.SearchResult([ticket["id"]], has_more=True)

    monkeypatch.setattr(search, "find_tickets", many)
    assert "The newest tickets with “a”" in visitor.get(f"{INBOX}?q=a").text

    async def cut_off(*_: Any) -> None:
        raise QueryTooSlow

    monkeypatch.setattr(search, "find_tickets", cut_off)
    page = visitor.get(f"{INBOX}?q=a")
    assert (page.status, "Add a less common word." in page.text) == (503, True)


def test_search_results_can_be_changed_and_the_link_leads_back(
    visitor: Visitor, tenant: Tenant, key: Key
) -> None:
    ticket = key.ticket(subject="A cracked kettle")
    wait_until_tickets(tenant, "kettle", ticket["id"])
    form = visitor.get(f"{INBOX}?q=cracked+kettle").form(f"{INBOX}/bulk?q=cracked+kettle")
    page = visitor.submit(form, ticket=ticket["id"], priority="low")
    page = visitor.submit(page.form(form.action))
    assert "1 ticket was changed" in page.text
    assert f"{INBOX}?q=cracked+kettle" in page.links
