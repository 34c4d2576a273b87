"""The timeline of a ticket: replies, notes and changes in one order, with Markdown."""

import re
from typing import Any

import pytest

from sealdesk.tickets.pages.timeline import COLOURS, avatar
from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.pages import Page, Visitor
from tests.support.service import Service, Tenant

API = "/api/v1/external/tickets"


@pytest.fixture
def ticket(key: Key) -> dict[str, Any]:
    return key.ticket(description="The beginning")


@pytest.fixture
def at(ticket: dict[str, Any]) -> str:
    return f"/tickets/{ticket['id']}"


def _reply(key: Key, at: str, body: str, *, is_internal: bool = False) -> None:
    new = {"body": body, "is_internal": is_internal}
    assert key.post(f"/api/v1/external{at}/replies", new).status_code == 201


def _html(page: Page) -> str:
    return page.answer.text


def test_replies_notes_and_changes_are_in_one_order(visitor: Visitor, key: Key, at: str) -> None:
    _reply(key, at, "First reply")
    key.patch(f"/api/v1/external{at}", {"priority": "urgent"})
    key.patch(f"/api/v1/external{at}", {"tags": ["vip"]})
    _reply(key, at, "A note", is_internal=True)
    key.patch(f"/api/v1/external{at}", {"status": "pending"})
    text = visitor.get(at).text
    parts = (
        "The beginning", "First reply", "Priority: Medium → Urgent", "Tags: none → vip",
        "A note", "Status: Open → Pending",
    )  # fmt: skip
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_a_long_timeline_has_pages_of_replies_and_changes(
    visitor: Visitor, key: Key, at: str
) -> None:
    expected = []
    for number in range(30):
        _reply(key, at, f"Reply-{number}.")
        key.patch(f"/api/v1/external{at}", {"external_id": f"id-{number}."})
        expected += [f"Reply-{number}.", f"→ id-{number}."]
    seen, path = [], at
    while path:
        page = visitor.get(path)
        seen.append(re.findall(r"Reply-\d+\.|→ id-\d+\.", page.text))
        found = re.search(r'<a href="([^"]+)" rel="prev">', _html(page))
        path = found[1] if found else ""
    assert [part for parts in reversed(seen) for part in parts] == expected
    assert [len(parts) for parts in seen] == [50, 10]


def test_long_replies_end_a_page_early_and_nothing_is_left_out(
    visitor: Visitor, key: Key, at: str
) -> None:
    expected = []
    for number in range(4):
        key.patch(f"/api/v1/external{at}", {"external_id": f"id-{number}."})
        _reply(key, at, f"Reply-{number}. {'x' * 60_000}")
        expected += [f"→ id-{number}.", f"Reply-{number}."]
    seen: list[str] = []
    path = at
    while path:
        page = visitor.get(path)
        seen = re.findall(r"Reply-\d+\.|→ id-\d+\.", page.text) + seen
        found = re.search(r'<a href="([^"]+)" rel="prev">', _html(page))
        path = found[1] if found else ""
    assert seen == expected


def test_a_reply_can_be_sent_behind_many_changes(visitor: Visitor, key: Key, at: str) -> None:
    _reply(key, at, "Hidden by the changes")
    for number in range(51):
        key.patch(f"/api/v1/external{at}", {"external_id": f"id-{number}"})
    page = visitor.get(at)
    assert "Hidden by the changes" not in page.text
    assert visitor.submit(page.form(f"{at}/reply"), body="And on").status == 200


def test_texts_are_markdown(visitor: Visitor, key: Key, tenant: Tenant, at: str) -> None:
    tenant.user("agent", name="Eve Miller")
    _reply(key, at, "**Bold** @eve miller, see #12 [x](javascript:alert(1))\n\n> a\n> b\n> c\n> d")
    html = _html(visitor.get(at))
    assert "<strong>Bold</strong> <strong>@eve miller</strong>" in html
    assert '<a href="/tickets/12" rel="nofollow noopener noreferrer">#12</a>' in html
    assert "<details><summary>Quoted text</summary>" in html
    assert "[x](javascript:alert(1))" in html
    assert key.get(f"/api/v1/external{at}/replies").json()["data"][0]["body"].startswith("**Bold**")


def test_the_number_of_a_ticket_leads_to_it(
    visitor: Visitor, key: Key, service: Service, ticket: dict[str, Any], at: str
) -> None:
    page = visitor.get(f"/tickets/{ticket['number']}?in=status%3Dpending")
    assert (page.status, visitor.at) == (200, f"{at}?in=status%3Dpending")
    foreign = service.tenant().key()
    numbers = [foreign.ticket()["number"] for _ in range(3)]
    assert visitor.get(f"/tickets/{numbers[-1] + 10}").status == 404
    for path in ("0", "9" * 18, "9" * 19, "-1", "1.0", "%D9%A3"):
        assert visitor.get(f"/tickets/{path}").status == 404


@for_each(
    ("name", "initials"),
    [
        ("Maria Lopez", "ML"), ("maria", "M"), ("Dr. Ana María de la Cruz", "DC"),
        ("c@example.test", "C"), ("<script>", "S"), ("…", "?"), ("", "?"), ("王 小明", "王小"),
        ("\u202e Ada", "A"), ("ß", "SS"),
    ],
)  # fmt: skip
def test_avatars_have_initials(name: str, initials: str) -> None:
    assert avatar(name, "1").initials == initials


def test_avatars_have_a_colour_that_stays_the_same() -> None:
    colours = {avatar("A", str(number)).colour for number in range(100)}
    assert colours == {*range(COLOURS)}
    assert avatar("A", "1") == avatar("A", "1")
