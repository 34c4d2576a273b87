"""Robots that answer each other stop, with real SMTP between them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mail.reports import report
from tests.mail.support import Desk, Receiver, message, receiving
from tests.support.databases import Begin
from tests.support.mail_server import MailServer, Received
from tests.support.service import wait_until

ANN, BO = "ann@customer.test", "bo@customer.test"
_UNHANDLED = """
SELECT 1 FROM log_positions e LEFT JOIN log_positions m ON m.name = 'mail'
WHERE e.name = 'sequencer' AND COALESCE(m.position, 0) < e.position LIMIT 1
"""
_MESSAGES = """
SELECT kind, state FROM outgoing_messages WHERE tenant_id = :tenant ORDER BY id LIMIT 99
"""
Answer = Callable[[Received], bytes]


@pytest.fixture
def own(receiver: Receiver, server: MailServer) -> Desk:
    smtp = {"smtp_host": "127.0.0.1", "smtp_port": server.port, "smtp_security": "none"}
    return Desk(receiver, **smtp, acknowledgement="Thank you.")


@pytest.fixture
def other_receiver(begin: Begin, tmp_path: Path) -> Iterator[Receiver]:
    """Of another installation."""
    cidrs = {"SEALDESK_MAIL_ALLOWED_CIDRS": "127.0.0.0/8"}
    with begin(tmp_path, **cidrs) as service, receiving(service) as receiver:
        yield receiver


def until_quiet(*desks: Desk) -> None:
    """Wait until all events are handled and all messages are sent."""

    def is_quiet() -> bool:
        before = [sent(desk) for desk in desks]
        services = [desk.receiver.service for desk in desks]
        # The e-mail can have handled all events of the log while one is not in it yet.
        is_waiting = any(not each.has_settled() or each.rows(_UNHANDLED) for each in services)
        # A message is taken by the other desk before it counts as sent.
        after = [sent(desk) for desk in desks]
        is_queued = any(row["state"] == "queued" for rows in after for row in rows)
        return before == after and not is_waiting and not is_queued

    wait_until(is_quiet)


def let_answer(
    desk: Desk, server: MailServer, answer: Answer, envelope: str, *, answered: int = 0
) -> int:
    """Let a robot answer each message that the desk sends, until it sends none; how many.

    answered: how many of them it has answered before.
    """
    until_quiet(desk)
    while answered < len(server.received):
        got = server.received[answered]
        answered += 1
        assert answered < 50, "it does not end"
        to = got.message["reply-to"].addresses[0].addr_spec
        desk.receiver.send(answer(got), to, sender=envelope)
        until_quiet(desk)
    return answered


def sent(desk: Desk) -> list[Any]:
    rows = desk.receiver.service.rows(_MESSAGES, tenant=desk.tenant.id)
    return [dict(row) for row in rows]


def out_of_office(**headers: str) -> Answer:
    """A robot whose answers have these headers, and name what they answer."""

    def answer(got: Received) -> bytes:
        known, to = str(got.message["message-id"]), str(got.message["from"])
        return message(
            "I am away.", sender=ANN, to=to, subject="Away", In_Reply_To=known, **headers
        )  # fmt: skip

    return answer


def stranger(**headers: str) -> Answer:
    """A robot whose answers look like new messages of another person each."""
    numbers = iter(range(100))
    return lambda _: message(
        "I am away.", sender=f"robot{next(numbers)}@customer.test", **headers
    )  # fmt: skip


@pytest.mark.parametrize(
    "headers",
    [
        {"Auto_Submitted": "auto-replied"},
        {"Precedence": "bulk"},
        {"X_Autoreply": "yes"},
        {},
    ],
)
def test_an_out_of_office_robot_is_answered_once(
    own: Desk, server: MailServer, headers: dict[str, str]
) -> None:
    own.get_mail(message(sender=ANN, to=own.address), sender=ANN)
    answered = let_answer(own, server, out_of_office(**headers), ANN)
    assert (answered, len(own.tickets())) == (1, 1)
    # The mark of a list is also in messages of people, so it makes no note.
    assert own.outcomes() == ["ticket", "reply" if headers.keys() <= {"Precedence"} else "note"]
    path = f"/api/v1/external/tickets/{own.ticket()['id']}/replies"
    assert own.key.post(path, {"body": "We are on it."}).status_code == 201
    assert let_answer(own, server, out_of_office(**headers), ANN, answered=1) == 2
    assert len(own.tickets()) == 1


def test_a_robot_that_names_no_message_and_says_nothing_is_answered_once(
    own: Desk, server: MailServer
) -> None:
    def answer(_: Received) -> bytes:
        return message("I am away.", sender=ANN, subject="Away", to=own.address)

    own.get_mail(message(sender=ANN, to=own.address), sender=ANN)
    until_quiet(own)
    answered = 0
    while answered < len(server.received):
        answered += 1
        assert answered < 50, "it does not end"
        own.get_mail(answer(server.received[answered - 1]), sender=ANN)
        until_quiet(own)
    assert (answered, own.outcomes()) == (1, ["ticket", "ticket"])


def test_a_mailbox_whose_reports_come_back_is_left_alone(own: Desk, server: MailServer) -> None:
    def answer(got: Received) -> bytes:
        return report(str(got.message["message-id"]))

    own.get_mail(message(sender=ANN, to=own.address), sender=ANN)
    assert let_answer(own, server, answer, "<>") == 1
    # Another server answers the answer: a report about the report.
    own.get_mail(report("<report@mx.example.test>"), sender="<>")
    until_quiet(own)
    assert own.outcomes() == ["ticket", "bounce", "held"]
    assert [row["kind"] for row in sent(own)] == ["acknowledgement"]


def test_a_report_without_any_sign_of_one_is_answered_once(own: Desk, server: MailServer) -> None:
    own.get_mail(message(sender=ANN, to=own.address), sender=ANN)
    assert let_answer(own, server, stranger(), "robot@customer.test") == 1
    assert len(sent(own)) == 1


def test_two_desks_that_acknowledge_do_not_answer_each_other(
    receiver: Receiver, other_receiver: Receiver
) -> None:
    def desk(at: Receiver, to: Receiver) -> Desk:
        smtp = {"smtp_host": "127.0.0.1", "smtp_port": to.port, "smtp_security": "none"}
        return Desk(at, **smtp, acknowledgement="Thank you, we have got your message.")

    here, there = desk(receiver, other_receiver), desk(other_receiver, receiver)
    # Somebody writes to both desks; what the first answers goes to the second.
    here.get_mail(message(sender=there.address, to=here.address), sender=there.address)
    until_quiet(here, there)
    assert (len(sent(here)), len(sent(there))) == (1, 0)
    path = f"/api/v1/external/tickets/{here.ticket()['id']}/replies"
    assert here.key.post(path, {"body": "What do you need?"}).status_code == 201
    until_quiet(here, there)
    assert [row["kind"] for row in sent(here)] == ["acknowledgement", "reply"]
    assert [row["kind"] for row in sent(there)] == ["acknowledgement"]
    assert (here.outcomes(), there.outcomes()) == (["ticket", "note"], ["ticket", "ticket"])


def test_replies_of_one_sender_are_held_past_a_limit(own: Desk) -> None:
    own.get_mail(message(sender=ANN))
    to = own.reply_address(own.ticket(), ANN)
    for number in range(32):
        own.get_mail(message(f"Number {number}", sender=ANN), to=to)
    assert own.outcomes() == ["ticket", *["reply"] * 30, "held", "held"]
    own.get_mail(message(sender=BO))
    assert own.outcomes()[-1] == "ticket"
    own.receiver.service.clock.advance(601)
    own.get_mail(message("Later", sender=ANN), to=to)
    own.release()
    assert own.outcomes()[-1] == "reply"
    assert own.outcomes().count("held") == 1


def test_messages_to_one_ticket_are_held_past_a_limit(own: Desk) -> None:
    own.get_mail(message(sender=ANN))
    ticket = own.ticket()
    rows = "INSERT INTO received_messages ({}) VALUES ({})"
    (first,) = own.messages()
    for number in range(99):
        row = dict(first) | {
            "id": f"{first['id'][:-4]}{number:04d}",
            "message_key": f"key{number}",
            "from_identity": f"robot{number}@customer.test",
            "outcome": "note",
        }
        own.execute(rows.format(", ".join(row), ", ".join(f":{name}" for name in row)), **row)
    to = own.reply_address(ticket, ANN)
    own.get_mail(message("The last one", sender=BO), to=to)
    own.get_mail(message("One too many", sender=BO), to=to)
    last, held = own.receiver.service.rows(
        "SELECT outcome FROM received_messages WHERE tenant_id = :tenant AND from_identity = :bo"
        " ORDER BY id LIMIT 9",
        tenant=own.tenant.id,
        bo=BO,
    )
    assert (last["outcome"], held["outcome"]) == ("note", "held")
