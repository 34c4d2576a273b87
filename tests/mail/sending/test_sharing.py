"""What a participant writes by e-mail reaches the other participants."""

import pytest

from tests.mail.support import Desk, Ticket, message
from tests.support.mail_server import MailServer, Received
from tests.support.service import wait_until

ANN, BO, CY = "ann@customer.test", "bo@customer.test", "cy@customer.test"
TEXT = "The lid is broken, too.\n\nOn Mon, 2 Nov 2026 at 10:00, desk <desk@acme.test> wrote:\n> Old"


@pytest.fixture
def ticket(own: Desk) -> Ticket:
    own.get_mail(message(sender=ANN, to=own.address, Cc=f"{BO}, {CY}"), sender=ANN)
    return own.ticket()


def write(desk: Desk, ticket: Ticket, text: str = TEXT, **headers: str) -> None:
    """Ann answers to her reply address."""
    to = desk.reply_address(ticket, ANN)
    desk.get_mail(message(text, sender=f"Ann <{ANN}>", to=to, **headers), to=to, sender=ANN)


def sent(server: MailServer, count: int) -> list[Received]:
    wait_until(lambda: len(server.received) >= count)
    return sorted(server.received, key=lambda each: each.recipients)


def shared(desk: Desk) -> list[str]:
    """Who gets what participants wrote."""
    sql = """
    SELECT address FROM outgoing_messages WHERE tenant_id = :tenant AND kind = 'shared'
    ORDER BY address LIMIT 100"""
    return [row["address"] for row in desk.receiver.service.rows(sql, tenant=desk.tenant.id)]


def test_an_answer_reaches_the_others_and_can_be_answered(
    own: Desk, ticket: Ticket, server: MailServer
) -> None:
    write(own, ticket)
    first, second = sent(server, 2)
    assert (first.recipients, second.recipients) == ([BO], [CY])
    got = first.message
    assert "ann (Acme)" in got["from"] and own.address in got["from"]
    assert got["reply-to"].addresses[0].addr_spec == own.reply_address(ticket, BO)
    body = got.get_body(("plain",))
    assert body is not None
    assert "The lid is broken, too." in body.get_content() and "Old" not in body.get_content()
    (reply,) = own.replies(ticket)
    assert reply["delivery"] is None
    to = own.reply_address(ticket, BO)
    answered = message("Mine is whole.", sender=BO, to=to, In_Reply_To=str(got["message-id"]))
    own.get_mail(answered, to=to, sender=BO)
    assert shared(own) == [ANN, BO, CY, CY]


def test_nobody_gets_what_they_have_already(own: Desk, ticket: Ticket) -> None:
    write(own, ticket, Cc=BO)
    assert shared(own) == [CY]


@pytest.mark.parametrize(
    "headers",
    [
        {"Auto_Submitted": "auto-replied"},
        {"Precedence": "bulk"},
        {"X_Auto_Response_Suppress": "All"},
        {"List_Id": "<l.example.test>"},
    ],
    ids=str,
)
def test_nothing_is_shared_that_a_program_may_have_written(
    own: Desk, ticket: Ticket, headers: dict[str, str]
) -> None:
    write(own, ticket, **headers)
    assert len(own.replies(ticket)) == 1
    assert shared(own) == []


def test_a_shared_message_that_comes_back_is_not_shared_again(
    own: Desk, ticket: Ticket, server: MailServer
) -> None:
    write(own, ticket)
    first, _ = sent(server, 2)
    to = own.reply_address(ticket, BO)
    assert first.message["x-auto-response-suppress"] == "All"
    own.get_mail(first.raw, to=to, sender=BO)
    assert shared(own) == [BO, CY]
