"""Answers go to addresses that somebody reads, and are refused when there are none."""

from typing import Any

import pytest

from tests.mail.support import Desk, Receiver, Ticket, message
from tests.support.mail_server import MailServer
from tests.support.pages import logged_in
from tests.support.service import wait_until

ANN, FORM = "ann@customer.test", "noreply@forms.test"
REFUSED = "Nobody can get this reply by e-mail"


def _answer(desk: Desk, ticket: Ticket, **new: Any) -> Any:
    path = f"/api/v1/external/tickets/{ticket['id']}/replies"
    return desk.key.post(path, {"body": "We are on it.", **new})


def _set_participants(desk: Desk, ticket: Ticket, *people: str) -> None:
    path = f"/api/v1/external/tickets/{ticket['id']}/participants"
    body = {"participants": [{"email": each} for each in people]}
    assert desk.key.call("PUT", path, body).status_code == 200


@pytest.mark.parametrize(
    "sender", [FORM, "root@localhost", "backup@server3", "ann@customer.invalid", "ann@[here]"]
)
def test_an_answer_that_nobody_can_get_is_refused_until_somebody_is_added(
    own: Desk, server: MailServer, sender: str
) -> None:
    own.get_mail(message(sender=sender, to=own.address), sender=FORM)
    ticket = own.ticket()
    refused = _answer(own, ticket)
    assert (refused.status_code, refused.json()["code"]) == (409, "no_recipient")
    assert own.replies(ticket) == []
    assert _answer(own, ticket, is_internal=True).status_code == 201
    assert _answer(own, ticket, author={"type": "customer"}).status_code == 201
    _set_participants(own, ticket, ANN, FORM)
    assert _answer(own, ticket).status_code == 201
    wait_until(lambda: own.replies(ticket)[-1]["delivery"] == "sent")
    assert [each.recipients for each in server.received] == [[ANN]]


def test_the_page_says_that_nobody_can_get_a_reply_and_keeps_the_text(own: Desk) -> None:
    own.get_mail(message(sender=FORM, to=own.address), sender=FORM)
    visitor, path = logged_in(own.tenant), f"/tickets/{own.ticket()['id']}"
    page = visitor.get(path)
    assert "Nobody can get a reply by e-mail" in page.text
    answer = visitor.submit(page.form(f"{path}/reply"), body="We are on it.")
    assert answer.status == 409
    assert REFUSED in answer.text and "We are on it." in answer.text


def test_answers_never_go_to_a_mailbox_of_the_desk(own: Desk, server: MailServer) -> None:
    own.get_mail(message(sender=ANN, to=own.address, Cc="sales@acme.test"), sender=ANN)
    ticket = own.ticket()
    own.add_mailbox(address=(sales := f"sales.{own.tenant.id[-12:]}@acme.test"))
    sql = "UPDATE ticket_participants SET address = :sales, address_identity = :sales"
    own.execute(
        f"{sql} WHERE tenant_id = :tenant AND address = :old", sales=sales, old="sales@acme.test"
    )
    assert _answer(own, ticket).status_code == 201
    wait_until(lambda: own.replies(ticket)[-1]["delivery"] == "sent")
    assert [each.recipients for each in server.received] == [[ANN]]
    assert server.received[0].message["cc"] is None


def test_the_page_says_where_answers_go_when_reply_to_differs(own: Desk) -> None:
    raw = message(sender=ANN, to=own.address, Reply_To="office@customer.test")
    own.get_mail(raw, sender=ANN)
    page = logged_in(own.tenant).get(f"/tickets/{own.ticket()['id']}").text
    assert "Answers go to office@customer.test" in page


def test_domains_in_other_letters_are_sent_as_every_server_knows_them(
    receiver: Receiver, server: MailServer
) -> None:
    smtp = {"smtp_host": "127.0.0.1", "smtp_port": server.port, "smtp_security": "none"}
    desk = Desk(receiver, address="help@müller.test", **smtp)
    raw = b"From: Ann <ann@xx.test>\r\nTo: help@xn--mller-kva.test\r\nCc: bo@xx.test\r\n\r\nHello"
    raw = raw.replace(b"xx", "bücher".encode())
    desk.get_mail(raw, to="help@xn--mller-kva.test")
    ticket = desk.ticket()
    assert _answer(desk, ticket).status_code == 201
    wait_until(lambda: desk.replies(ticket)[-1]["delivery"] == "sent")
    ann, bo = sorted(server.received, key=lambda each: each.recipients)
    assert [*ann.recipients, *bo.recipients] == [f"{n}@xn--bcher-kva.test" for n in ("ann", "bo")]
    for each in (ann, bo):
        assert each.sender == "help@xn--mller-kva.test"
        assert each.raw.isascii() and b"=?" not in each.raw.partition(b"\r\n\r\n")[0]
    answer = f"From: ann@xn--bcher-kva.test\r\nIn-Reply-To: {ann.message['message-id']}\r\n\r\nYes"
    desk.get_mail(answer.encode(), to=str(ann.message["reply-to"].addresses[0].addr_spec))
    assert desk.replies(ticket)[-1]["body"] == "Yes"
