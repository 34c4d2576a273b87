"""The acknowledgement: once for each ticket that a person opens by e-mail."""

from collections.abc import Iterator
from typing import Any

import pytest

from sealdesk.mail.receiving import reparsing, store
from sealdesk.mail.sending import rules
from sealdesk.state import AppState
from tests.mail.reports import complaint, report
from tests.mail.support import MX, Desk, Receiver, message
from tests.support.mail_server import MailServer
from tests.support.pages import logged_in
from tests.support.service import wait_until

ANN = "ann@customer.test"
TEXT = "Thank you, we have got your message."


@pytest.fixture
def own(receiver: Receiver, server: MailServer) -> Iterator[Desk]:
    smtp = {"smtp_host": "127.0.0.1", "smtp_port": server.port, "smtp_security": "none"}
    yield Desk(receiver, **smtp, acknowledgement=TEXT)


def queued(desk: Desk) -> list[Any]:
    """The acknowledgements of a desk, sent or not, oldest first."""
    sql = """
    SELECT address, about_id, state FROM outgoing_messages
    WHERE tenant_id = :tenant AND kind = 'acknowledgement' ORDER BY id LIMIT 100"""
    return list(desk.receiver.service.rows(sql, tenant=desk.tenant.id))


def test_a_new_ticket_is_acknowledged_once(own: Desk, server: MailServer) -> None:
    first = "<first@customer.test>"
    own.get_mail(message(sender=ANN, to=own.address, Cc="bo@customer.test", Message_ID=first))
    ticket = own.ticket()
    wait_until(lambda: queued(own)[0]["state"] == "sent")
    (sent,) = server.received
    assert sent.recipients == [ANN]
    assert sent.message["auto-submitted"] == "auto-replied"
    assert sent.message["x-auto-response-suppress"] == "All"
    assert sent.message["in-reply-to"] == first
    assert sent.message["subject"] == f"Re: {ticket['subject']}"
    assert sent.message["reply-to"].addresses[0].addr_spec == own.reply_address(ticket, ANN)
    text = sent.message.get_body(("plain",))
    assert text is not None and text.get_content().startswith(TEXT)
    shown = logged_in(own.tenant).get(f"/tickets/{ticket['id']}").text
    assert f"An acknowledgement was sent to {ANN}." in shown


def test_who_has_called_a_message_spam_gets_no_more_acknowledgements(
    own: Desk, server: MailServer
) -> None:
    own.get_mail(message(sender=ANN))
    wait_until(lambda: bool(server.received))
    own.get_mail(complaint(str(server.received[0].message["message-id"])), sender="a@b.test")
    own.receiver.service.clock.advance(48 * 3600)
    for sender in (ANN, "bo@customer.test"):
        own.get_mail(message("The cup too.", sender=sender))
    assert [each["address"] for each in queued(own)] == [ANN, "bo@customer.test"]


def test_an_answer_to_an_acknowledgement_joins_its_ticket(own: Desk, server: MailServer) -> None:
    own.get_mail(message(sender=ANN))
    wait_until(lambda: bool(server.received))
    answered = str(server.received[0].message["message-id"])
    own.get_mail(message("Thank you!", sender=ANN, In_Reply_To=answered))
    (reply,) = own.replies(own.ticket())
    assert (reply["body"], len(queued(own))) == ("Thank you!", 1)


@pytest.mark.parametrize(
    ("headers", "envelope"),
    [
        ({"Auto_Submitted": "auto-replied"}, ANN),
        ({"Auto_Submitted": "auto-generated; owner-email=x"}, ANN),
        ({"Precedence": "bulk"}, ANN),
        ({"List_Id": "<news.customer.test>"}, ANN),
        ({"X_Auto_Response_Suppress": "OOF"}, ANN),
        ({"Authentication_Results": f"{MX}; dmarc=fail"}, ANN),
        ({}, "<>"),
    ],
)
def test_programs_and_forgeries_are_not_answered(
    own: Desk, headers: dict[str, str], envelope: str
) -> None:
    own.get_mail(message(sender=ANN, **headers), sender=envelope)
    assert (own.outcomes(), queued(own)) == (["ticket"], [])


def test_what_waits_and_what_has_no_address_is_not_answered(own: Desk) -> None:
    other = own.add_mailbox(receives="no")
    own.block("@spam.test")
    own.get_mail(message(sender="eve@spam.test"))
    own.get_mail(message(sender=ANN, X_Spam_Flag="YES"))
    own.get_mail(message(sender=own.address))
    own.get_mail(message(sender=other.address))
    own.get_mail(message(sender="nobody"))
    own.get_mail(report("<unknown@example.test>"), sender="<>")
    own.release()
    assert sorted(own.outcomes()) == ["held", "held", "held", "spam", "ticket", "ticket"]
    assert queued(own) == []


def test_a_mailbox_without_a_text_or_a_server_answers_nothing(
    receiver: Receiver, server: MailServer
) -> None:
    silent = Desk(receiver, smtp_host="127.0.0.1", smtp_port=server.port, smtp_security="none")
    deaf = Desk(receiver, acknowledgement=TEXT)
    for desk in (silent, deaf):
        desk.get_mail(message(sender=ANN))
        assert (desk.outcomes(), queued(desk)) == (["ticket"], [])


def test_reading_a_message_again_sends_nothing(own: Desk) -> None:
    raw = message(sender=ANN)
    own.get_mail(raw)
    own.get_mail(raw)
    (row,) = own.messages()

    async def work(state: AppState) -> None:
        stored = await state.database.read(
            lambda tx: store.find(tx, own.tenant.id, row["id"]), own.tenant.id
        )
        assert stored is not None
        await reparsing.repair(state, stored)

    own.receiver.service.in_serving(work)
    assert len(queued(own)) == 1


def test_merging_and_splitting_send_nothing(own: Desk) -> None:
    own.get_mail(message(sender=ANN))
    own.get_mail(message(sender="bo@customer.test"))
    second, first = own.tickets()
    path = f"/api/v1/external/tickets/{first['id']}"
    reply = own.key.post(f"{path}/replies", {"body": "Which bowl?"}).json()["data"]
    split = own.key.post(f"{path}/split", {"reply_id": reply["id"], "subject": "Which bowl?"})
    merged = own.key.post(f"/api/v1/external/tickets/{second['id']}/merge", {"into": first["id"]})
    assert (split.status_code, merged.status_code) == (201, 200), (split.text, merged.text)
    assert len(queued(own)) == 2


def test_an_address_gets_one_in_an_hour(own: Desk) -> None:
    for _ in range(3):
        own.get_mail(message(sender=ANN))
    assert len(queued(own)) == 1
    own.get_mail(message(sender="bo@customer.test"))
    assert [row["address"] for row in queued(own)] == [ANN, "bo@customer.test"]


@pytest.mark.parametrize(
    ("hours", "may"),
    [((), True), ((0.9,), False), ((1.1,), True), ((2, 4, 6, 8), True), ((2, 4, 6, 8, 10), False)],
)
def test_an_address_gets_five_in_a_day(hours: tuple[float, ...], may: bool) -> None:
    now_us = 10**15
    sent_at = [now_us - int(each * 3600 * 10**6) for each in hours]
    assert rules.may_acknowledge(sent_at, now_us) is may


def test_an_acknowledgement_that_comes_back_is_a_note(own: Desk, server: MailServer) -> None:
    server.answers[ANN] = ["550 5.1.1 No such user here"]
    own.get_mail(message(sender=ANN))
    wait_until(lambda: queued(own)[0]["state"] == "bounced")
    (note,) = own.replies(own.ticket())
    assert note["is_internal"] and note["delivery"] is None and ANN in note["body"]
    shown = logged_in(own.tenant).get(f"/tickets/{own.ticket()['id']}").text
    assert f"The acknowledgement to {ANN} was not delivered." in shown
