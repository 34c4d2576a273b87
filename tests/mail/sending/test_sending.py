"""Public replies go to each participant once, in the thread of the ticket."""

from tests.support.mail_desk import Desk
from tests.support.mail_server import MailServer
from tests.support.pages import logged_in
from tests.support.service import wait_until

ANA, BO = "ana@customer.example", "bo@customer.example"


def until_delivery_is(state: str, desk: Desk, ticket: dict[str, str]) -> None:
    wait_until(lambda: desk.delivery(ticket) == state)


def test_a_reply_goes_to_each_participant_once(desk: Desk, server: MailServer) -> None:
    ticket = desk.ticket(ANA, BO, subject="Broken bowl")
    reply = desk.reply(ticket, "We have **sent** two new bowls.")
    until_delivery_is("sent", desk, ticket)
    assert sorted(each.recipients for each in server.received) == [[ANA], [BO]]
    first, second = (each.message for each in server.received)
    assert first["message-id"].startswith(f"<{reply}.")
    assert first["message-id"] != second["message-id"]
    assert first["reply-to"] != second["reply-to"]
    for each in (first, second):
        assert each["subject"] == "Re: Broken bowl"
        assert desk.address in each["from"] and "Ceramics" in each["from"]
        text = each.get_body(("plain",))
        html = each.get_body(("html",))
        assert text is not None and html is not None
        assert text.get_content().splitlines()[0] == "We have **sent** two new bowls."
        assert "<strong>sent</strong>" in html.get_content()
        assert "Your shop" in text.get_content()


def test_notes_customers_and_tickets_without_participants_send_nothing(
    desk: Desk, server: MailServer
) -> None:
    ticket, alone = desk.ticket(ANA), desk.ticket()
    desk.reply(ticket, "For us only", is_internal=True)
    desk.reply(ticket, "It broke again", author={"type": "customer"})
    desk.reply(alone)
    desk.reply(ticket, "The last one")
    until_delivery_is("sent", desk, ticket)
    (got,) = server.received
    assert b"The last one" in got.raw
    assert [each["delivery"] for each in desk.replies(ticket)] == [None, None, "sent"]
    assert desk.delivery(alone) is None


def test_a_refused_address_bounces_at_once_and_the_feed_tells(
    desk: Desk, server: MailServer
) -> None:
    server.answers[ANA] = ["550 5.1.1 No such user here"]
    ticket = desk.ticket(ANA)
    desk.reply(ticket)
    until_delivery_is("bounced", desk, ticket)
    reply, note = desk.replies(ticket)
    assert note["is_internal"] and "No such user here" in note["body"]
    assert "550" in reply["delivery_reason"] and "No such user here" in reply["delivery_reason"]
    desk.service.settle()
    feed = desk.key.get("/api/v1/external/events?type=reply.bounced").json()["data"]
    assert [each["data"]["object"] for each in feed] == [reply]
    assert server.received == []


def test_a_busy_server_gets_the_same_message_later(desk: Desk, server: MailServer) -> None:
    server.answers[ANA] = ["450 4.2.1 Try again later"]
    ticket = desk.ticket(ANA)
    desk.reply(ticket)
    wait_until(lambda: "450" in (desk.replies(ticket)[-1]["delivery_reason"] or ""))
    assert desk.delivery(ticket) == "queued"
    desk.service.clock.advance(61)
    until_delivery_is("sent", desk, ticket)
    assert len(server.received) == 1


def test_an_unreachable_server_is_the_problem_of_the_mailbox(desk: Desk) -> None:
    sql = "UPDATE mailboxes SET smtp_port = 1 WHERE tenant_id = :tenant_id"
    desk.service.write(lambda tx: tx.execute(sql, {"tenant_id": desk.tenant.id}))
    ticket = desk.ticket(ANA)
    desk.reply(ticket)
    problem = "SELECT problem FROM mailboxes WHERE tenant_id = :tenant_id LIMIT 1"
    wait_until(lambda: desk.service.rows(problem, tenant_id=desk.tenant.id)[0][0] is not None)
    assert desk.delivery(ticket) == "queued"


def test_the_ticket_page_says_who_gets_a_reply_and_what_became_of_it(
    desk: Desk, server: MailServer
) -> None:
    server.answers[ANA] = ["550 No such <b>user</b>"]
    ticket = desk.ticket(ANA)
    visitor, path = logged_in(desk.tenant), f"/tickets/{ticket['id']}"
    assert f"It is sent by e-mail to {ANA}" in " ".join(visitor.get(path).text.split())
    desk.reply(ticket)
    until_delivery_is("bounced", desk, ticket)
    shown = visitor.get(path).text
    assert "Not delivered by e-mail." in shown and "No such <b>user</b>" in shown
