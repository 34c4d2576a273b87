"""The search in the inbox."""

from typing import Any
from urllib.parse import urlencode

import pytest

from sealdesk.errors import QueryTooSlow
from sealdesk.search import actions as search
from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.pages import INBOX, Page, Visitor, ticket_ids
from tests.support.searching import wait_until_customers, wait_until_tickets
from tests.support.service import Tenant


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
    assert ticket_ids(visitor.get(f"{INBOX}?q=cracked&status=resolved")) == [new["id"]]
    assert f"{INBOX}?q=cracked&status=closed" in page.links


def test_a_search_without_results_says_so(visitor: Visitor, tenant: Tenant, key: Key) -> None:
    key.ticket()
    other = tenant.service.tenant()
    wait_until_tickets(other, "elsewhere", other.key().ticket(subject="Elsewhere")["id"])
    for words in ("elsewhere", "%22%2A%28", "%3Cscript%3Ealert(1)%3C/script%3E"):
        page = visitor.get(f"{INBOX}?q={words}")
        assert (page.status, ticket_ids(page)) == (200, [])
        assert "No ticket contains these words" in page.text
        assert page.tags.count("script") == 1


def older(page: Page) -> str:
    """The address of the next page, empty behind the last one."""
    return next((each for each in page.links if "before=" in each), "")


def test_a_search_with_many_results_has_pages(
    visitor: Visitor, tenant: Tenant, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    tickets = [key.ticket(subject="Same words")["id"] for _ in range(3)]
    wait_until_tickets(tenant, "same", *reversed(tickets))
    monkeypatch.setattr("sealdesk.tickets.views.searching.MAX_RESULTS", 2)
    page = visitor.get(f"{INBOX}?q=same")
    assert "Tickets with “same”, the newest first." in page.text
    assert "Longest waiting first" not in page.text
    assert ticket_ids(page) == tickets[:0:-1]
    page = visitor.get(older(page))
    assert ticket_ids(page) == tickets[:1] and not older(page)
    # Of each page so many are looked at for those that match the filters.
    key.patch(f"/api/v1/external/tickets/{tickets[0]}", {"status": "pending"})
    monkeypatch.setattr("sealdesk.tickets.views.searching._MAX_NARROWED", 2)
    page = visitor.get(f"{INBOX}?q=same&status=pending")
    assert "None of those so far match the filters" in page.text and ticket_ids(page) == []
    assert ticket_ids(visitor.get(older(page))) == tickets[:1]


def test_a_search_that_takes_too_long_says_so(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cut_off(*_: Any, **__: Any) -> None:
        raise QueryTooSlow

    monkeypatch.setattr(search, "find_tickets", cut_off)
    page = visitor.get(f"{INBOX}?q=a")
    assert (page.status, "Add a less common word." in page.text) == (503, True)


def test_filters_in_the_search_narrow_it(visitor: Visitor, tenant: Tenant, key: Key) -> None:
    eve = tenant.user("agent", f"eve.{tenant.id}@example.test", "Eve Adams")
    maria = {"email": "maria@example.test", "name": "Maria Rossi"}
    first = key.ticket(subject="A kettle", tags=["VIP"], priority="urgent", customer=maria)
    second = key.ticket(subject="A kettle", status="on_hold", assignee_id=eve)
    tickets = [second["id"], first["id"]]
    wait_until_tickets(tenant, "kettle", *tickets)
    wait_until_customers(tenant, "maria", first["customer"]["id"])
    for query, found in {
        "kettle status:open": tickets[1:], "kettle status:on-hold": tickets[:1],
        "status:open status:on_hold": tickets, "kettle priority:URGENT": tickets[1:],
        "tag:vip": tickets[1:], "kettle tag:nothing": [], "from:maria": tickets[1:],
        "from:maria@example.test kettle": tickets[1:], 'from:"maria rossi"': tickets[1:],
        "assignee:eve": tickets[:1], 'kettle assignee:"Eve Adams"': tickets[:1],
        "assignee:nobody kettle": tickets[1:], "kettle assignee:me": [],
        "kettle after:2020-01-01": tickets, "kettle before:2020-01-01": [],
        "before:2020-01-01": [], f"#{second['number']}": tickets[:1],
        f"{first['number']} status:open": tickets[1:], '"kettle status:open"': [],
    }.items():  # fmt: skip
        page = visitor.get(f"{INBOX}?{urlencode({'q': query})}")
        assert (page.status, ticket_ids(page)) == (200, found), query
    page = visitor.get(f"{INBOX}?q=kettle&status=on_hold&assignee={eve}")
    assert ticket_ids(page) == tickets[:1]
    assert f"{INBOX}?q=kettle&assignee={eve}" in page.links


@for_each(
    ("query", "says"),
    [
        ("status:lost", "“lost” is no status. Write open, pending, on_hold, resolved, closed."),
        ("priority:top", "“top” is no priority. Write low, medium, high, urgent."),
        ("before:tomorrow", "“tomorrow” is no date. Write it as in before:2026-11-01."),
        ("after:2026-02-30", "“2026-02-30” is no date."),
        ("assignee:zaphod", "Nobody is called “zaphod”. Write assignee:me"),
        ("from:zaphod", "No customer matches “zaphod”."),
        ("tag:<b>:x status:<b>", "“<b>” is no status."),
    ],
)
def test_a_wrong_filter_says_what_would_be_right(
    visitor: Visitor, key: Key, query: str, says: str
) -> None:
    key.ticket(subject="A kettle")
    page = visitor.get(f"{INBOX}?{urlencode({'q': query})}")
    assert (page.status, ticket_ids(page)) == (200, [])
    assert says in page.text


def test_addresses_and_times_are_words(visitor: Visitor, key: Key, tenant: Tenant) -> None:
    texts = "See https://example.test/kettle at 12:30, HTTP status:500, priority:P1"
    ticket = key.ticket(description=texts)
    wait_until_tickets(tenant, "kettle", ticket["id"])
    for query in ("https://example.test/kettle", "12:30 kettle", "status:500", "priority:P1"):
        page = visitor.get(f"{INBOX}?{urlencode({'q': query})}")
        assert ticket_ids(page) == [ticket["id"]], query


def test_hits_are_marked_and_a_snippet_shows_them(
    visitor: Visitor, key: Key, tenant: Tenant
) -> None:
    ticket = key.ticket(subject="A <b>Kettle</b>", description="My <i>kettle</i> & more")
    reply = {"body": "The courier <script>alert(1)</script> comes."}
    assert key.post(f"/api/v1/external/tickets/{ticket['id']}/replies", reply).status_code == 201
    wait_until_tickets(tenant, "courier", ticket["id"])
    text = visitor.get(f"{INBOX}?q=kettle").answer.text
    assert "A &lt;b&gt;<mark>Kettle</mark>&lt;/b&gt;" in text
    assert "My &lt;i&gt;<mark>kettle</mark>&lt;/i&gt; &amp; more" in text
    page = visitor.get(f"{INBOX}?q=courier")
    assert "The <mark>courier</mark> &lt;script&gt;" in page.answer.text
    assert page.tags.count("script") == 1


def test_a_search_with_a_wrong_letter_shows_what_was_meant(
    visitor: Visitor, key: Key, tenant: Tenant
) -> None:
    ticket = key.ticket(subject="A kettle")
    wait_until_tickets(tenant, "kettle", ticket["id"])
    page = visitor.get(f"{INBOX}?q=ketle")
    assert ticket_ids(page) == [ticket["id"]]
    assert "Nothing with “ketle”. These tickets contain “kettle”." in page.text
    assert "<mark>kettle</mark>" in page.answer.text


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
