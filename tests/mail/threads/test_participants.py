"""Participants of tickets: by API and on their page."""

import json
from typing import Any

import pytest

from tests.mail.support import Desk, Ticket, message
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import logged_in
from tests.support.service import Tenant

ANN = {"email": "ann@example.test", "name": "Ann"}


@pytest.fixture
def ticket(desk: Desk) -> Ticket:
    desk.get_mail(message(to=desk.address))
    return desk.ticket()


def path(ticket: Ticket) -> str:
    return f"/api/v1/external/tickets/{ticket['id']}/participants"


def listed(desk: Desk, ticket: Ticket) -> list[Any]:
    found = desk.key.get(path(ticket)).json()["data"]["participants"]
    return [(each["email"], each["name"]) for each in found]


def put(desk: Desk, ticket: Ticket, *participants: dict[str, str]) -> Any:
    return desk.key.call("PUT", path(ticket), {"participants": list(participants)})


def test_participants_are_set_and_those_who_stay_keep_their_reply_address(
    desk: Desk, ticket: Ticket
) -> None:
    assert listed(desk, ticket) == [("ann@example.test", "Ann")]
    before = desk.tokens(ticket)["ann@example.test"]
    answer = put(desk, ticket, {"email": "Ben@example.test"}, ANN)
    assert answer.status_code == 200 and "token" not in answer.text
    assert listed(desk, ticket) == [("ann@example.test", "Ann"), ("Ben@example.test", None)]
    assert desk.tokens(ticket)["ann@example.test"] == before
    desk.get_mail(message("Me too.", sender="ben@example.test"), to=desk.address)
    desk.get_mail(
        message("Me too.", sender="ben@example.test"),
        to=desk.reply_address(ticket, "Ben@example.test"),
    )
    assert [each["is_internal"] for each in desk.replies(ticket)] == [False]


def test_changes_of_participants_are_in_the_audit_log_without_addresses(
    desk: Desk, ticket: Ticket
) -> None:
    for _ in range(2):  # the second time nothing changes
        put(desk, ticket, {"email": "ben@example.test"}, {"email": "cy@example.test"})
    (entry,) = desk.audit("participants.changed")
    assert (entry["object_id"], entry["actor_kind"]) == (ticket["id"], "api_key")
    assert json.loads(entry["details"]) == {"added": 2, "removed": 1}


def test_who_is_removed_writes_to_the_ticket_no_more(desk: Desk, ticket: Ticket) -> None:
    to = desk.reply_address(ticket)
    assert put(desk, ticket).json()["data"]["participants"] == []
    desk.get_mail(message("Still there?"), to=to)
    assert desk.replies(ticket) == []
    assert len(desk.tickets()) == 2


@pytest.mark.parametrize(
    ("wrong", "code"), [("no address", "invalid_email"), ("mailbox", "own_mailbox")]
)
def test_wrong_participants_are_refused(desk: Desk, ticket: Ticket, wrong: str, code: str) -> None:
    email = desk.reply_address(ticket) if wrong == "mailbox" else wrong
    answer = put(desk, ticket, ANN, {"email": email})
    assert answer.status_code == 422
    (fault,) = answer.json()["errors"]
    assert (fault["pointer"], fault["code"]) == ("/participants/1/email", code)
    assert len(listed(desk, ticket)) == 1


def test_there_are_at_most_50(desk: Desk, ticket: Ticket) -> None:
    many = [{"email": f"person{number}@example.test"} for number in range(51)]
    assert put(desk, ticket, *many).status_code == 422
    assert put(desk, ticket, *many[1:]).status_code == 200
    assert len(listed(desk, ticket)) == 50


def test_without_a_mailbox_nobody_can_be_added(tenant: Tenant) -> None:
    key = tenant.key()
    ticket = key.ticket()
    answer = key.call("PUT", path(ticket), {"participants": [ANN]})
    assert (answer.status_code, answer.json()["code"]) == (409, "no_mailbox")
    assert key.call("PUT", path(ticket), {"participants": []}).status_code == 200


def test_an_agent_adds_and_removes_on_a_page(desk: Desk, ticket: Ticket) -> None:
    visitor = logged_in(desk.tenant)
    at = f"/tickets/{ticket['id']}/participants"
    assert at in visitor.get(f"/tickets/{ticket['id']}").links
    page = visitor.get(at)
    assert_page_is_secure(page)
    (_, adding) = (form for form in page.forms if form.action == at)
    page = visitor.submit(adding, email="ben@example.test", name="Ben")
    assert listed(desk, ticket) == [("ann@example.test", "Ann"), ("ben@example.test", "Ben")]
    wrong = visitor.submit(adding, email=desk.address)
    assert wrong.status == 422 and "address of a mailbox" in wrong.text
    first = next(form for form in page.forms if form.action == at)
    visitor.submit(first)
    assert listed(desk, ticket) == [("ben@example.test", "Ben")]
