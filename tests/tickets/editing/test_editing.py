"""An agent edits their own internal note for five minutes."""

from typing import Any

import pytest

from sealdesk import ids
from sealdesk.tickets.editing import rules
from tests.support.client import Key
from tests.support.feed import EVENTS
from tests.support.searching import wait_until_tickets
from tests.support.service import Tenant
from tests.tickets.test_notifications import Agent, write

API = "/api/v1/external/tickets"
NOTE = {"is_internal": "yes"}


@pytest.fixture
def ada(tenant: Tenant) -> Agent:
    return Agent(tenant, "Ada")


@pytest.fixture
def ticket(key: Key) -> dict[str, Any]:
    return key.ticket(subject="Cracked bowls")


def edit_links(by: Agent, ticket: dict[str, Any]) -> list[str]:
    return [each for each in by.visitor.get(f"/tickets/{ticket['id']}").links if "/notes/" in each]


def newest(key: Key, ticket: dict[str, Any]) -> dict[str, Any]:
    listed = key.get(f"{API}/{ticket['id']}/replies?per_page=1").json()["data"]
    return dict(listed[0])


def test_an_edited_note_is_everywhere_what_it_is_now(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any]
) -> None:
    eve, mia = Agent(tenant, "Eve"), Agent(tenant, "Mia")
    write(ada, ticket, "Ask @Mia about the firstword", **NOTE)
    note, etag = newest(key, ticket), key.get(f"{API}/{ticket['id']}").headers["etag"]
    (link,) = edit_links(ada, ticket)
    text = "Ask @Mia and @Eve about the **secondword**"
    page = ada.visitor.submit(ada.visitor.get(link).form(link), body=text)
    assert ada.visitor.at.startswith(f"/tickets/{ticket['id']}")
    assert "<strong>secondword</strong>" in page.answer.text
    assert "Internal note: Ask @Mia about the firstword →" in page.text  # in the history
    assert newest(key, ticket) == {**note, "body": text}
    assert key.get(f"{API}/{ticket['id']}").headers["etag"] != etag
    assert (eve.bell(), mia.bell(), ada.bell()) == ("1", "1", "0")
    tenant.service.settle()
    told = key.get(f"{EVENTS}?type=reply.updated").json()["data"]
    assert [each["data"]["changes"] for each in told] == [{"body": [note["body"], text]}]
    assert "secondword" in ada.visitor.get("/tickets").text
    wait_until_tickets(tenant, "secondword", ticket["id"])
    wait_until_tickets(tenant, "firstword")


def test_the_same_text_again_changes_nothing(key: Key, ada: Agent, ticket: dict[str, Any]) -> None:
    write(ada, ticket, "As it is", **NOTE)
    before = key.get(f"{API}/{ticket['id']}").json()
    (link,) = edit_links(ada, ticket)
    ada.visitor.submit(ada.visitor.get(link).form(link))
    assert key.get(f"{API}/{ticket['id']}").json() == before
    page = ada.visitor.submit(ada.visitor.get(link).form(link), body=" ")
    assert page.status == 422 and newest(key, ticket)["body"] == "As it is"


def test_a_note_is_recent_for_five_minutes() -> None:
    note_id = ids.mint(1_000_000)
    assert rules.is_recent(note_id, 300_999_999)
    assert not rules.is_recent(note_id, 301_000_000)


def test_after_five_minutes_the_text_is_kept_in_the_form_only(
    key: Key, ada: Agent, ticket: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(ada, ticket, "As it was", **NOTE)
    (link,) = edit_links(ada, ticket)
    form = ada.visitor.get(link).form(link)
    monkeypatch.setattr(rules, "_EDITABLE_US", 0)
    page = ada.visitor.submit(form, body="Too late")
    assert page.status == 409 and page.form(link).value("body") == "Too late"
    assert "A note can be edited for 5 minutes" in page.text
    assert newest(key, ticket)["body"] == "As it was"
    assert edit_links(ada, ticket) == []


def test_only_own_notes_are_edited(
    tenant: Tenant, key: Key, ada: Agent, ticket: dict[str, Any]
) -> None:
    eve = Agent(tenant, "Eve")
    write(ada, ticket, "A public reply")
    at = f"/tickets/{ticket['id']}/notes"
    public = newest(key, ticket)["id"]
    write(eve, ticket, "A note of somebody else", **NOTE)
    others = newest(key, ticket)["id"]
    key.post(f"{API}/{ticket['id']}/replies", {"body": "By a key", "is_internal": True})
    by_key = newest(key, ticket)["id"]
    token = ada.visitor.get("/account").form("/log-out").value("form_token")
    fields = [("form_token", token), ("body", "Taken over")]
    for note_id in (public, others, by_key, ids.mint(1)):
        assert ada.visitor.get(f"{at}/{note_id}").status == 404
        assert ada.visitor.post(f"{at}/{note_id}", fields).status == 404
    assert edit_links(ada, ticket) == []
