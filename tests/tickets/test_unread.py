"""Which tickets are unread by whom, and what the rows of the inbox say of the last message."""

import re
from typing import Any

import pytest

from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.tickets.ticket.store import reads
from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.pages import INBOX, Page, Visitor, ticket_ids
from tests.support.service import Tenant

TICKETS = "/api/v1/external/tickets"
BY_CUSTOMER: dict[str, Any] = {"author": {"type": "customer"}}


@pytest.fixture
def colleague(tenant: Tenant) -> Visitor:
    """A browser with the log-in of an agent."""
    tenant.user("agent", email := f"agent.{tenant.id}@example.test")
    visitor = Visitor(tenant.service)
    visitor.log_in(email)
    return visitor


def unread(visitor: Visitor, query: str = "") -> list[str]:
    """The ids of the tickets that the inbox shows as unread."""
    page = visitor.get(f"{INBOX}{query}")
    rows = [
        "unread" in element.split("<input", 1)[0]
        for element in page.answer.text.split("<li data-ticket")[1:]
    ]
    return [one for one, is_unread in zip(ticket_ids(page), rows, strict=True) if is_unread]


def reply(key: Key, ticket_id: str, **fields: Any) -> None:
    answer = key.post(f"{TICKETS}/{ticket_id}/replies", {"body": "Hello", **fields})
    assert answer.status_code == 201, answer.text


def opened(visitor: Visitor, ticket_id: str) -> Page:
    page = visitor.get(f"{INBOX}/{ticket_id}")
    assert page.status == 200
    return page


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_marks_nothing_as_read_without_a_click(
    visitor: Visitor, key: Key, site: str
) -> None:
    ticket = key.ticket()["id"]
    path = f"{INBOX}/{ticket}"
    framed = visitor.once("GET", path, sec_fetch_site=site, sec_fetch_dest="iframe")
    assert framed.status_code == 200
    assert unread(visitor) == [ticket]
    visitor.once("GET", path, sec_fetch_site=site, sec_fetch_dest="document", sec_fetch_user="?1")
    assert unread(visitor) == []


def test_a_ticket_is_unread_until_its_page_is_opened(visitor: Visitor, key: Key) -> None:
    first, second = key.ticket()["id"], key.ticket()["id"]
    assert unread(visitor) == [second, first]
    opened(visitor, first)
    assert unread(visitor) == [second]


@for_each("fields", [{}, BY_CUSTOMER, {"is_internal": True}])
def test_every_message_makes_it_unread_again(
    visitor: Visitor, key: Key, fields: dict[str, Any]
) -> None:
    ticket_id = key.ticket()["id"]
    opened(visitor, ticket_id)
    reply(key, ticket_id, **fields)
    assert unread(visitor) == [ticket_id]
    opened(visitor, ticket_id)
    assert unread(visitor) == []


def test_a_change_without_a_message_makes_nothing_unread(visitor: Visitor, key: Key) -> None:
    ticket_id = key.ticket()["id"]
    opened(visitor, ticket_id)
    key.patch(f"{TICKETS}/{ticket_id}", {"priority": "urgent", "tags": ["a"]})
    assert unread(visitor) == []


def test_another_persons_reading_clears_nothing(
    visitor: Visitor, colleague: Visitor, key: Key
) -> None:
    ticket_id = key.ticket()["id"]
    opened(colleague, ticket_id)
    assert (unread(visitor), unread(colleague)) == ([ticket_id], [])


def test_an_own_reply_is_read(visitor: Visitor, colleague: Visitor, key: Key) -> None:
    ticket_id = key.ticket()["id"]
    opened(colleague, ticket_id)
    at = f"{INBOX}/{ticket_id}"
    form = opened(visitor, ticket_id).form(f"{at}/reply")
    assert visitor.submit(form, body="Done").status == 200
    assert (unread(visitor), unread(colleague)) == ([], [ticket_id])


def test_a_ticket_can_be_marked_as_unread(visitor: Visitor, colleague: Visitor, key: Key) -> None:
    ticket_id = key.ticket()["id"]
    for each in (visitor, colleague):
        opened(each, ticket_id)
    form = opened(visitor, ticket_id).form(f"{INBOX}/{ticket_id}/unread")
    visitor.submit(form)
    assert visitor.at == INBOX
    assert (unread(visitor), unread(colleague)) == ([ticket_id], [])
    opened(visitor, ticket_id)
    assert unread(visitor) == []


@for_each(
    ("back", "to"),
    [
        ("https://desk.test/tickets?status=all&tag=a", f"{INBOX}?status=all&tag=a"),
        ("//evil.test/?status=pending", f"{INBOX}?status=pending"),
        ("javascript:alert(1)", INBOX),
        ("?next=//evil.test", INBOX),
        *((text[:200].replace("\0", ""), INBOX) for text in HOSTILE_TEXTS if "?" not in text),
    ],
)
def test_it_leads_back_to_a_list_and_nowhere_else(
    visitor: Visitor, key: Key, back: str, to: str
) -> None:
    ticket_id = key.ticket()["id"]
    visitor.submit(opened(visitor, ticket_id).form(f"{INBOX}/{ticket_id}/unread"), back=back)
    assert visitor.at == to


@pytest.mark.parametrize("name", ["sec_purpose", "purpose"])
def test_a_prefetched_page_is_not_read(visitor: Visitor, key: Key, name: str) -> None:
    ticket_id = key.ticket()["id"]
    visitor.get(f"{INBOX}/{ticket_id}", **{name: "prefetch;prerender"})
    visitor.get(f"{INBOX}/{ticket_id}?before=x")
    assert unread(visitor) == [ticket_id]


def test_a_page_is_shown_while_nothing_can_be_stored(
    visitor: Visitor, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket_id = key.ticket()["id"]

    async def refuse(*_: Any) -> None:
        raise ServiceUnavailable

    with monkeypatch.context() as patched:
        patched.setattr(reads, "prune_reads", refuse)
        opened(visitor, ticket_id)
    assert unread(visitor) == [ticket_id]


def test_tickets_of_another_tenant_are_not_found(visitor: Visitor, key: Key) -> None:
    own = key.ticket()["id"]
    form = opened(visitor, own).form(f"{INBOX}/{own}/unread")
    foreign = visitor.service.tenant().key().ticket()["id"]
    assert visitor.post(form.action.replace(own, foreign), form.fields).status == 404


def test_tickets_from_before_a_person_was_there_are_read(tenant: Tenant, key: Key) -> None:
    key.ticket()
    tenant.user("agent", email := f"late.{tenant.id}@example.test")
    visitor = Visitor(tenant.service)
    visitor.log_in(email)
    assert unread(visitor) == []
    new = key.ticket()["id"]
    assert unread(visitor) == [new]


def test_a_person_has_a_bounded_number_of_rows(
    tenant: Tenant, visitor: Visitor, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reads, "MAX_READS", 3)
    monkeypatch.setattr(reads, "_SLACK", 2)
    tickets = [key.ticket()["id"] for _ in range(9)]
    for ticket_id in tickets[:8]:
        opened(visitor, ticket_id)
    assert unread(visitor) == tickets[8:]
    rows = tenant.service.rows(
        "SELECT ticket_id FROM reads WHERE tenant_id = :tenant_id LIMIT 100", tenant_id=tenant.id
    )
    assert len(rows) <= 3 + 2 + 2
    reply(key, tickets[0])
    assert unread(visitor) == [tickets[0], tickets[8]]


def test_an_old_read_does_not_hide_a_ticket_that_was_marked_as_unread(tenant: Tenant) -> None:
    async def work(tx: Tx) -> reads.Reads:
        await reads.record_read(tx, tenant.id, "u", "", 50)
        await reads.record_read(tx, tenant.id, "u", "a", 9)
        return await reads.list_reads(tx, tenant.id, "u", ["a", "b"])

    found = tenant.service.write(work)
    assert found.is_unread("a", 10) and not found.is_unread("b", 50)
    assert found.is_unread("b", 51) and not found.is_unread("c", None)


def test_a_row_says_what_was_written_last_and_who_waits(visitor: Visitor, key: Key) -> None:
    ticket_id = key.ticket(description="It is\nbroken")["id"]
    assert re.search("It is broken .*waiting 1 min", visitor.get(INBOX).text)
    reply(key, ticket_id, body="We look at it")
    text = visitor.get(INBOX).text
    assert "We look at it" in text and "waiting 1 min" not in text
    reply(key, ticket_id, body="Thanks!", **BY_CUSTOMER)
    assert re.search("Thanks! .*waiting 1 min", visitor.get(INBOX).text)


def test_a_row_does_not_repeat_what_the_list_implies(visitor: Visitor, key: Key) -> None:
    ticket_id = key.ticket(priority="urgent", tags=["a"])["id"]

    def row(query: str) -> str:
        page = visitor.get(f"{INBOX}{query}")
        return page.answer.text.split("<li data-ticket")[1].split("</li>")[0]

    assert "Open</span>" in row("?status=all") and "Open</span>" not in row("")
    assert "Urgent</span>" in row("") and "Urgent</span>" not in row("?priority=urgent")
    assert "nobody" in row("") and "nobody" not in row("?assignee=nobody")
    assert ticket_id in row("?assignee=nobody")


def test_a_ticket_of_an_earlier_version_shows_its_description(
    tenant: Tenant, visitor: Visitor, key: Key
) -> None:
    key.ticket(description="From before")

    async def forget(tx: Tx) -> None:
        sql = "UPDATE tickets SET snippet = NULL, last_message_at = NULL WHERE tenant_id = :tenant"
        await tx.execute(sql, {"tenant": tenant.id})

    tenant.service.write(forget)
    assert "From before" in visitor.get(INBOX).text and unread(visitor) == []


def test_a_row_says_that_its_last_words_are_an_internal_note(visitor: Visitor, key: Key) -> None:
    ticket_id, other_id = key.ticket()["id"], key.ticket()["id"]
    reply(key, ticket_id, body="Only for us", is_internal=True)
    noted = re.compile(r"<span>Internal note</span> <bdi class=\"last note[^>]*>Only for us</bdi>")
    assert noted.search(visitor.get(INBOX).answer.text)
    reply(key, other_id, body="Public")
    assert key.post(f"{TICKETS}/{ticket_id}/merge", {"into": other_id}).is_success
    assert not noted.search(visitor.get(INBOX).answer.text)
    reply(key, other_id, body="Again", is_internal=True)
    (row,) = [
        each for each in visitor.get(INBOX).answer.text.split("<li data-ticket") if "Again" in each
    ]
    assert "Internal note" in row


def test_hostile_messages_are_shown_as_text(visitor: Visitor, key: Key) -> None:
    ticket_id = key.ticket()["id"]
    for text in HOSTILE_TEXTS:
        usable = text.replace("\0", "")[:150]
        if not usable.strip():
            continue
        reply(key, ticket_id, body=usable)
        page = visitor.get(INBOX)
        assert " ".join(usable.split()) in page.text and page.tags.count("script") == 1
        assert not [name for _, name, _ in page.attributes if name.startswith("on")]
