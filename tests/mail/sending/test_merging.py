"""Replies of merged and split tickets go to everybody, also those that wait to be sent."""

from typing import Any

from tests.mail.sending.test_sending import ANA, BO, until_delivery_is
from tests.support.mail_desk import Desk
from tests.support.mail_server import MailServer
from tests.support.service import wait_until


def merge(desk: Desk, source: dict[str, Any], target: dict[str, Any]) -> None:
    path = f"/api/v1/external/tickets/{source['id']}/merge"
    response = desk.key.post(path, {"into": target["id"]})
    assert response.status_code == 200, response.text


def test_replies_of_a_merged_ticket_go_to_the_participants_of_both(
    desk: Desk, server: MailServer
) -> None:
    source, target = desk.ticket(ANA, BO), desk.ticket(BO, "cy@customer.example")
    merge(desk, source, target)
    desk.reply(target)
    until_delivery_is("sent", desk, target)
    got = sorted(each.recipients[0] for each in server.received)
    assert got == [ANA, BO, "cy@customer.example"]
    assert len({str(each.message["reply-to"]) for each in server.received}) == 3


def test_an_undone_merge_takes_the_participants_back(desk: Desk, server: MailServer) -> None:
    source, target = desk.ticket(ANA, BO), desk.ticket(BO)
    merge(desk, source, target)
    undone = desk.key.delete(f"/api/v1/external/tickets/{source['id']}/merge")
    assert undone.status_code in (200, 204), undone.text
    desk.reply(target)
    until_delivery_is("sent", desk, target)
    assert [each.recipients for each in server.received] == [[BO]]


def test_replies_of_a_split_ticket_go_to_the_same_participants(
    desk: Desk, server: MailServer
) -> None:
    ticket = desk.ticket(ANA, BO)
    reply = desk.reply(ticket)
    until_delivery_is("sent", desk, ticket)
    path = f"/api/v1/external/tickets/{ticket['id']}/split"
    split = desk.key.post(path, {"reply_id": reply, "subject": "Another matter"}).json()["data"]
    desk.reply(split)
    until_delivery_is("sent", desk, split)
    assert sorted(each.recipients[0] for each in server.received) == [ANA, ANA, BO, BO]


def test_a_reply_that_waits_is_sent_after_a_merge(desk: Desk, server: MailServer) -> None:
    server.answers[ANA] = ["450 4.2.1 Try again later"]
    source, target = desk.ticket(ANA), desk.ticket()
    desk.reply(source, "Which bowl?")
    wait_until(lambda: "450" in (desk.replies(source)[-1]["delivery_reason"] or ""))
    merge(desk, source, target)
    desk.service.clock.advance(61)
    wait_until(lambda: bool(server.received))
    assert b"Which bowl?" in server.received[0].raw
    moved = next(each for each in desk.replies(target) if each["body"] == "Which bowl?")
    wait_until(lambda: any(each["delivery"] == "sent" for each in desk.replies(target)))
    assert moved["ticket_id"] == target["id"]
