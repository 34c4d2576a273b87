"""Followers: who follows a ticket, and what they are told of."""

from typing import Any

import pytest

from sealdesk.tickets.followers import store
from tests.support.client import Key
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.pages import INBOX, Page, Visitor, ticket_ids
from tests.support.service import Service, Tenant
from tests.tickets.test_notifications import Agent, write

API = "/api/v1/external/tickets"


@pytest.fixture
def ada(tenant: Tenant) -> Agent:
    return Agent(tenant, "Ada")


@pytest.fixture
def eve(tenant: Tenant) -> Agent:
    return Agent(tenant, "Eve")


@pytest.fixture
def ticket(key: Key) -> dict[str, Any]:
    return key.ticket(subject="Bowls", customer={"email": "m@example.test", "name": "Maria"})


def follow(by: Agent, ticket: dict[str, Any]) -> Page:
    """Press the button: to follow, or to unfollow."""
    at = f"{INBOX}/{ticket['id']}"
    return by.visitor.submit(by.visitor.get(at).form(f"{at}/follow"))


def reply(key: Key, ticket: dict[str, Any], **fields: Any) -> None:
    new = {"body": "Hello", **fields}
    assert key.post(f"{API}/{ticket['id']}/replies", new).status_code == 201


def named(page: Page) -> str:
    """The followers that a ticket's page names; a view is called "Followed by me"."""
    return page.text.replace("Followed by me", "").partition("Followed by ")[2][:10]


def test_a_person_follows_and_unfollows_a_ticket_which_stays_as_it_is(
    ada: Agent, eve: Agent, key: Key, ticket: dict[str, Any]
) -> None:
    follow(ada, ticket)
    page = follow(eve, ticket)
    assert "Ada" in named(page) and "Eve" in named(page) and "Unfollow" in page.text
    assert key.get(f"{API}/{ticket['id']}").json()["data"] == ticket
    assert "Eve" not in named(follow(eve, ticket))
    assert ticket_ids(eve.visitor.get(f"{INBOX}?view=followed")) == []
    assert ticket_ids(ada.visitor.get(f"{INBOX}?view=followed")) == [ticket["id"]]


def test_followers_are_told_of_replies_notes_and_status_changes_by_others(
    ada: Agent, eve: Agent, key: Key, ticket: dict[str, Any]
) -> None:
    follow(ada, ticket)
    reply(key, ticket, author={"type": "customer"})
    write(eve, ticket, "An answer")
    write(eve, ticket, "A note", is_internal="yes")
    key.patch(f"{API}/{ticket['id']}", {"status": "pending"})
    key.patch(f"{API}/{ticket['id']}", {"priority": "high"})
    write(ada, ticket, "My own")
    told = ada.notifications()
    for sentence in (
        "Maria has replied", "Eve has replied", "Eve has written a note",
        "test has changed the status",
    ):  # fmt: skip
        assert told.count(sentence) == 1, sentence
    assert (ada.bell(), eve.bell()) == ("4", "2")  # who has answered follows, too


def test_a_reply_that_resolves_is_told_once(
    ada: Agent, eve: Agent, key: Key, ticket: dict[str, Any]
) -> None:
    follow(ada, ticket)
    write(eve, ticket, "Solved", status="resolved")
    assert key.get(f"{API}/{ticket['id']}").json()["data"]["status"] == "resolved"
    assert "Eve has replied" in ada.notifications() and ada.bell() == "1"


def test_a_follower_who_is_the_assignee_is_told_once(
    ada: Agent, key: Key, ticket: dict[str, Any]
) -> None:
    key.patch(f"{API}/{ticket['id']}", {"assignee_id": ada.id})
    follow(ada, ticket)
    before = int(ada.bell())
    reply(key, ticket, author={"type": "customer"})
    assert int(ada.bell()) == before + 1


def test_who_is_mentioned_follows_the_ticket_and_is_told_once(
    ada: Agent, eve: Agent, key: Key, ticket: dict[str, Any]
) -> None:
    write(ada, ticket, "@Eve please look", is_internal="yes")
    assert eve.bell() == "1"
    reply(key, ticket)
    assert eve.bell() == "2"
    write(ada, ticket, "@Eve again", is_internal="yes")
    assert eve.bell() == "3"
    follow(eve, ticket)
    reply(key, ticket)
    assert eve.bell() == "3"


def test_a_deactivated_follower_is_neither_told_nor_shown(
    service: Service, tenant: Tenant, ada: Agent, eve: Agent, key: Key, ticket: dict[str, Any]
) -> None:
    follow(eve, ticket)
    tenant.deactivate(eve.id)
    reply(key, ticket)
    rows = service.rows(
        "SELECT id FROM notifications WHERE tenant_id = :tenant_id AND user_id = :user_id LIMIT 9",
        tenant_id=tenant.id, user_id=eve.id,
    )  # fmt: skip
    assert rows == []
    assert named(ada.visitor.get(f"{INBOX}/{ticket['id']}")) == ""


def test_merged_tickets_have_the_followers_of_both(
    ada: Agent, eve: Agent, key: Key, ticket: dict[str, Any]
) -> None:
    other = key.ticket()
    follow(ada, ticket)
    follow(ada, other)
    follow(eve, other)
    key.post(f"{API}/{other['id']}/merge", {"into": ticket["id"]})
    text = ada.visitor.get(f"{INBOX}/{ticket['id']}").text
    assert "Ada , Eve" in text or "Eve , Ada" in text or "Ada, Eve" in text or "Eve, Ada" in text
    before = int(eve.bell())
    reply(key, ticket)
    assert int(eve.bell()) == before + 1


def test_a_ticket_has_a_bounded_number_of_followers(
    ada: Agent, eve: Agent, ticket: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MAX_FOLLOWERS", 1)
    follow(ada, ticket)
    assert follow(eve, ticket).status == 409
    follow(ada, ticket)
    assert follow(eve, ticket).status == 200


def test_nobody_follows_a_ticket_of_another_desk(
    service: Service, ada: Agent, ticket: dict[str, Any]
) -> None:
    other = service.tenant("Other").key().ticket()
    at = f"{INBOX}/{ticket['id']}"
    fields = ada.visitor.get(at).form(f"{at}/follow").fields
    assert ada.visitor.post(f"{INBOX}/{other['id']}/follow", [*fields]).status == 404
    assert service.rows("SELECT 1 FROM ticket_followers WHERE ticket_id = :id LIMIT 1",
                        id=other["id"]) == []  # fmt: skip


def test_the_search_finds_followed_tickets(
    ada: Agent, eve: Agent, key: Key, ticket: dict[str, Any]
) -> None:
    key.ticket()
    follow(ada, ticket)
    for words, by in (("follower:me", ada), ("follower:Ada", eve), ("follower:me", eve)):
        found = ticket_ids(by.visitor.get(f"{INBOX}?q={words}"))
        assert found == ([] if (words, by) == ("follower:me", eve) else [ticket["id"]])
    assert "Nobody is called" in eve.visitor.get(f"{INBOX}?q=follower:Nora").text
    listed = key.get(f"{API}?follower_id={ada.id}").json()["data"]
    assert [each["id"] for each in listed] == [ticket["id"]]


def test_names_of_followers_are_shown_as_text(tenant: Tenant, ticket: dict[str, Any]) -> None:
    hostile = HOSTILE_TEXTS[0]
    email = f"h.of.{tenant.id}@example.test"
    tenant.user("agent", email, hostile)
    visitor = Visitor(tenant.service)
    visitor.log_in(email)
    at = f"{INBOX}/{ticket['id']}"
    page = visitor.submit(visitor.get(at).form(f"{at}/follow"))
    assert hostile.strip() in page.text or " ".join(hostile.split()) in page.text
