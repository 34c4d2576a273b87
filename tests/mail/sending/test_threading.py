"""Messages that go out name the messages before them, and keep the customer's subject."""

import re
from collections import defaultdict

import pytest

from sealdesk.mail.sending.rules import MAX_REFERENCES, numbered, references, subject_of_answer
from sealdesk.tickets.text.quotes import fold
from tests.mail.support import Desk, Receiver, message
from tests.support.for_each import for_each
from tests.support.mail_server import MailServer
from tests.support.service import wait_until

ANN, FIRST, SECOND = "ann@customer.test", "<1@customer.test>", "<2@customer.test>"
BO, LATE = "bo@customer.test", "late@customer.test"
DATE = "Mon, 02 Nov 2026 10:00:00 +0000"


def test_references_carry_the_conversation_and_end_with_what_is_answered(
    own: Desk, server: MailServer
) -> None:
    raw = message(sender=ANN, to=own.address, Message_ID=FIRST, Date=DATE, subject="AW: Re: Bowl")
    own.get_mail(raw, sender=ANN)
    ticket = own.ticket()
    path = f"/api/v1/external/tickets/{ticket['id']}/replies"

    def answer(number: int) -> None:
        assert own.key.post(path, {"body": f"Answer {number}"}).status_code == 201
        wait_until(lambda: len(server.received) == number)

    answer(1)
    answer(2)
    more = message("More.", sender=ANN, to=own.address, Message_ID=SECOND, In_Reply_To=FIRST)
    own.get_mail(more, sender=ANN)
    answer(3)
    first, second, third = (each.message for each in server.received)
    sent = [str(each["message-id"]) for each in (first, second)]
    assert (first["in-reply-to"], first["references"]) == (FIRST, FIRST)
    assert (second["in-reply-to"], second["references"].split()) == (FIRST, [sent[0], FIRST])
    assert third["in-reply-to"] == SECOND
    assert third["references"].split() == [FIRST, *sent, SECOND]
    assert {each["subject"] for each in (first, second, third)} == {"Re: Bowl"}


def test_a_mailbox_may_number_quote_and_hide_participants(
    receiver: Receiver, server: MailServer
) -> None:
    options = ["ticket_number", "quoted_message", "hidden_participants"]
    smtp = {"smtp_host": "127.0.0.1", "smtp_port": server.port, "smtp_security": "none"}
    desk = Desk(receiver, options=options, **smtp)
    raw = message("It broke.\n\n> old", sender=f"Ann <{ANN}>", to=desk.address, Cc=BO)
    desk.get_mail(raw, sender=ANN)
    ticket = desk.ticket()
    path = f"/api/v1/external/tickets/{ticket['id']}"
    assert desk.key.post(f"{path}/replies", {"body": "Sorry."}).status_code == 201
    wait_until(lambda: len(server.received) == 2)
    people = {"participants": [{"email": each} for each in (ANN, BO, LATE)]}
    assert desk.key.call("PUT", f"{path}/participants", people).status_code == 200
    assert desk.key.post(f"{path}/replies", {"body": "Sent."}).status_code == 201
    wait_until(lambda: len(server.received) == 5)
    texts = defaultdict(list)
    for each in server.received:
        assert each.message["subject"] == f"Re: A broken bowl [#{ticket['number']}]"
        assert each.message["cc"] is None
        part = each.message.get_body(("plain",))
        assert part is not None
        texts[each.recipients[0]].append(part.get_content().replace("\r", "").strip())
    first, second = texts[ANN]
    assert re.fullmatch(r"Sorry\.\n\nOn [-0-9]+ [0-9:]+ UTC, Ann wrote:\n\n> It broke\.", first)
    assert "\n> Sorry." in second and "It broke" not in second
    assert {fold(each)[0] for each in texts[ANN] + texts[BO]} == {"Sorry.", "Sent."}
    assert texts[LATE] == ["Sent."]


def test_a_long_conversation_is_cut_to_its_newest_messages() -> None:
    conversation = [(f"{number}@customer.test {DATE}", "") for number in range(30)]
    found = references(conversation, "token", "help@desk.test")
    assert len(found) == MAX_REFERENCES
    assert found[-1] == "<29@customer.test>"


@pytest.mark.parametrize("key", ["sha256 0a", "content 0a", "", "schön@customer.test"])
def test_what_is_no_message_id_is_not_referred_to(key: str) -> None:
    assert references([(key, "")], "token", "help@desk.test") == ()


@for_each(
    ("subject", "answer"),
    [
        ("Bowl", "Re: Bowl"),
        ("RE: AW: Bowl", "Re: Bowl"),
        ("Re[2]: Bowl", "Re: Bowl"),
        ("Re:", "Re: Re:"),
        ("Regarding: Bowl", "Re: Regarding: Bowl"),
        ("Ref: 1234", "Re: Ref: 1234"),
    ],
)
def test_an_answer_has_the_subject_behind_one_re(subject: str, answer: str) -> None:
    assert subject_of_answer(subject) == answer


def test_a_subject_has_the_number_of_one_ticket() -> None:
    assert numbered("Bowl", 7) == "Bowl [#7]"
    assert numbered("Bowl [#7]", 12) == "Bowl [#12]"
