"""Reports of mail servers about messages that the desk has sent."""

import hashlib

import pytest

from tests.mail.reports import complaint, report
from tests.mail.support import Desk, Receiver, Ticket, message
from tests.support.mail_server import MailServer
from tests.support.service import wait_until

ANN, BO = "ann@customer.test", "bo@customer.test"


@pytest.fixture
def ticket(own: Desk) -> Ticket:
    """The ticket of a message by Ann, with Bo in CC."""
    own.get_mail(message(sender=ANN, to=own.address, Cc=BO), sender=ANN)
    return own.ticket()


def answer(desk: Desk, ticket: Ticket, server: MailServer) -> dict[str, str]:
    """Reply, and wait until it is sent: the Message-ID of each recipient."""
    path = f"/api/v1/external/tickets/{ticket['id']}/replies"
    assert desk.key.post(path, {"body": "We are on it."}).status_code == 201
    wait_until(lambda: delivery(desk, ticket) == "sent")
    return {each.recipients[0]: each.message["message-id"] for each in server.received}


def delivery(desk: Desk, ticket: Ticket) -> str | None:
    """That of the first public reply."""
    state: str | None = public(desk, ticket)["delivery"]
    return state


def public(desk: Desk, ticket: Ticket) -> Ticket:
    return next(each for each in desk.replies(ticket) if not each["is_internal"])


def notes(desk: Desk, ticket: Ticket) -> list[str]:
    return [each["body"] for each in desk.replies(ticket) if each["is_internal"]]


def test_a_message_that_comes_back_makes_its_reply_bounced(
    own: Desk, ticket: Ticket, server: MailServer
) -> None:
    sent = answer(own, ticket, server)
    own.get_mail(report(sent[BO]), sender="<>")
    reply = public(own, ticket)
    assert reply["delivery"] == "bounced"
    assert reply["delivery_reason"] == "5.1.1 550 No such user"
    assert notes(own, ticket) == [
        f"A message to {BO} was not delivered. 5.1.1 550 No such user",
    ]
    own.receiver.service.settle()
    feed = own.key.get("/api/v1/external/events?type=reply.bounced").json()["data"]
    assert [each["data"]["object"] for each in feed] == [reply]
    # The envelope says that a server wrote it, whoever its From names.
    plain = f"Your message was rejected: {ANN}\n\nMessage-ID: {sent[ANN]}"
    of_person = message(plain, sender="Administrator <admin@mx.test>", subject="Undeliverable: Re")
    own.get_mail(of_person, sender="<>")
    assert own.outcomes() == ["ticket", "bounce", "bounce"]


def test_a_complaint_is_a_note_and_opens_no_ticket(
    own: Desk, ticket: Ticket, server: MailServer
) -> None:
    sent = answer(own, ticket, server)
    own.get_mail(complaint(sent[BO]), sender="feedback@mx.example.test")
    own.get_mail(complaint("<unknown@acme.test>"), sender="feedback@mx.example.test")
    (note,) = notes(own, ticket)
    assert note.startswith(f"{BO} has marked a message of this ticket as spam.")
    assert (delivery(own, ticket), len(own.tickets())) == ("sent", 1)
    assert own.outcomes() == ["ticket", "note", "held"]
    assert [each["from_identity"] for each in own.messages()][1] == BO


def test_reports_about_one_message_have_one_effect(
    own: Desk, ticket: Ticket, server: MailServer
) -> None:
    sent = answer(own, ticket, server)
    again = report(sent[BO], own_id="<report@mx.example.test>")
    own.get_mail(again, sender="<>")
    own.get_mail(again, sender="<>")
    own.get_mail(report(sent[BO]), sender="<>")
    assert len(notes(own, ticket)) == 1
    assert own.outcomes() == ["ticket", "bounce", "ignored"]
    own.get_mail(report(sent[ANN]), sender="<>")
    assert len(notes(own, ticket)) == 2
    own.receiver.service.settle()
    feed = own.key.get("/api/v1/external/events?type=reply.bounced").json()["data"]
    assert len(feed) == 1


def test_a_report_about_a_delay_changes_nothing(
    own: Desk, ticket: Ticket, server: MailServer
) -> None:
    sent = answer(own, ticket, server)
    own.get_mail(report(sent[ANN], "delayed"), sender="<>")
    # In words that are not known here, a code alone may err: somebody should look.
    unclear = report(sent[ANN], "xx").replace(b"5.1.1", b"4.4.1").replace(b"Undelivered", b"Ni")
    own.get_mail(unclear.replace(b"It could not be delivered", b"Ni bezongo"), sender="<>")
    assert (delivery(own, ticket), notes(own, ticket)) == ("sent", [])
    assert own.outcomes() == ["ticket", "ignored", "held"]


@pytest.mark.parametrize(
    "recipient",
    [
        "Original-Recipient: rfc822;Ann+x@Old.Test\nFinal-Recipient: rfc822; a.n.n@elsewhere.test",
        "Final-Recipient: X400; /G=Ann/S=Bo/",
        "Final-Recipient: rfc822;\n <ANN@CUSTOMER.TEST>",
        "Original-Recipient: rfc822;ann+40customer.test",
    ],
)
def test_the_message_counts_whatever_the_recipient_is_called(
    own: Desk, ticket: Ticket, server: MailServer, recipient: str
) -> None:
    sent = answer(own, ticket, server)
    own.get_mail(report(sent[ANN], recipient=recipient), sender="<>")
    assert delivery(own, ticket) == "bounced"
    assert notes(own, ticket)[0].startswith(f"A message to {ANN} ")


def test_a_report_about_a_message_of_another_tenant_has_no_effect(
    own: Desk, ticket: Ticket, server: MailServer, receiver: Receiver
) -> None:
    sent = answer(own, ticket, server)
    other = Desk(receiver)
    other.get_mail(report(sent[ANN]), sender="<>")
    assert other.outcomes() == ["held"]
    assert (delivery(own, ticket), notes(own, ticket)) == ("sent", [])


def test_forged_reports_have_no_effect(own: Desk, ticket: Ticket, server: MailServer) -> None:
    sent = answer(own, ticket, server)
    reply_id, _, rest = sent[ANN].strip("<>").partition(".")
    domain = rest.partition("@")[2]
    # What one participant knows of the message to the other.
    guess = hashlib.sha256(BO.encode()).hexdigest()[:16]
    for forged in (f"{reply_id}.{guess}@{domain}", f"{reply_id}@{domain}", sent[BO].upper()):
        own.get_mail(report(f"<{forged.strip('<>')}>"), sender="<>")
    own.get_mail(report(sent[BO]), sender=ANN)
    own.get_mail(report("<first@example.test>"), sender="<>")
    assert (delivery(own, ticket), notes(own, ticket)) == ("sent", [])
    assert set(own.outcomes()[1:]) == {"held"}


def test_a_message_that_came_back_is_not_sent_again(
    own: Desk, ticket: Ticket, server: MailServer
) -> None:
    server.answers[ANN] = ["450 4.2.1 Try again later"]
    path = f"/api/v1/external/tickets/{ticket['id']}/replies"
    own.key.post(path, {"body": "We are on it."})
    wait_until(lambda: "450" in (public(own, ticket)["delivery_reason"] or ""))
    sql = "SELECT message_id FROM outgoing_messages WHERE address = :ann AND tenant_id = :tenant"
    service = own.receiver.service
    (waiting,) = service.rows(f"{sql} LIMIT 2", ann=ANN, tenant=own.tenant.id)
    own.get_mail(report(waiting["message_id"]), sender="<>")
    assert delivery(own, ticket) == "bounced"
    service.clock.advance(61)
    own.key.post(path, {"body": "One more."})
    wait_until(lambda: len([each for each in server.received if each.recipients == [ANN]]) == 1)
    assert b"One more" in next(each for each in server.received if each.recipients == [ANN]).raw
