"""A message by somebody who is no participant: the note asks what to do, until it is decided."""

from typing import Any

import pytest

from tests.mail.received_messages.test_held import API, PATH, refusal
from tests.mail.support import Desk, Ticket, message
from tests.support.client import Person
from tests.support.pages import logged_in

EVE = "eve@other.test"


@pytest.fixture
def ticket(desk: Desk) -> Ticket:
    """A ticket with a note of somebody who is no participant."""
    desk.get_mail(message(to=desk.address))
    ticket = desk.ticket()
    raw = message("I have one too.", sender=f"Eve <{EVE}>", subject="Mine", to=desk.address)
    desk.get_mail(raw, to=desk.reply_address(ticket), sender=EVE)
    assert desk.outcomes() == ["ticket", "note"]
    return ticket


@pytest.fixture
def admin(desk: Desk) -> Person:
    return desk.tenant.admin()


def target(desk: Desk, what: str, root: str = API) -> str:
    return f"{root}/{desk.messages()[1]['id']}/{what}"


def test_the_sender_is_added_and_writes_public_replies(
    desk: Desk, ticket: Ticket, admin: Person
) -> None:
    answer = admin.post(target(desk, "add-sender"))
    assert (answer.status_code, answer.json()["data"]["reason"]) == (
        200,
        "no participant, added later",
    )
    assert sorted(desk.tokens(ticket)) == ["ann@example.test", EVE]
    raw = message("And it is red.", sender=EVE)
    desk.get_mail(raw, to=desk.reply_address(ticket, EVE), sender=EVE)
    assert [each["is_internal"] for each in desk.replies(ticket)] == [True, False]
    for what in ("add-sender", "open-ticket"):
        assert refusal(admin.post(target(desk, what))) == (409, "message_decided")


def test_a_new_ticket_is_opened_of_it_once(desk: Desk, ticket: Ticket, admin: Person) -> None:
    opened = admin.post(target(desk, "open-ticket")).json()["data"]
    assert (opened["outcome"], opened["reason"]) == ("ticket", "no participant, opened as a ticket")
    (new, _) = desk.tickets()
    assert (new["id"], new["subject"], new["customer"]["email"]) == (
        opened["ticket_id"],
        "Mine",
        EVE,
    )
    assert new["description"] == "I have one too."
    assert f"#{new['number']}" in desk.replies(ticket)[-1]["body"]
    assert refusal(admin.post(target(desk, "open-ticket"))) == (409, "message_decided")
    assert len(desk.tickets()) == 2


def test_other_messages_have_nothing_to_decide(desk: Desk, ticket: Ticket, admin: Person) -> None:
    first = desk.messages()[0]["id"]
    for what in ("add-sender", "open-ticket"):
        assert refusal(admin.post(f"{API}/{first}/{what}")) == (409, "message_decided")
        stranger = desk.tenant.service.tenant().admin()
        assert refusal(stranger.post(target(desk, what))) == (404, "not_found")
    assert list(desk.tokens(ticket)) == ["ann@example.test"]


@pytest.mark.parametrize("what", ["add-sender", "open-ticket"])
def test_the_page_of_the_ticket_asks_without_scripts(desk: Desk, ticket: Ticket, what: str) -> None:
    visitor, at = logged_in(desk.tenant), f"/tickets/{ticket['id']}"
    page = visitor.get(at)
    assert f"Add {EVE} to this ticket" in page.text
    visitor.submit(page.form(target(desk, what, PATH)))
    opened: Any = desk.tickets()[0]["id"]
    assert visitor.at.partition("#")[0] == f"/tickets/{opened}"
    assert f"Add {EVE}" not in visitor.get(at).text


def test_the_page_of_the_ticket_names_the_mailbox_and_has_the_message(
    desk: Desk, ticket: Ticket
) -> None:
    page = logged_in(desk.tenant).get(f"/tickets/{ticket['id']}")
    assert page.text.count(f"Came by e-mail to {desk.address}.") == 2
    for row in desk.messages():
        assert f"{PATH}/{row['id']}/raw" in page.links
