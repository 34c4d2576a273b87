"""A customer writes, is answered, and answers: one ticket, in one thread of their mail program."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mail.support import Desk, message, receiving
from tests.support.databases import Begin
from tests.support.mail_server import MailServer, mail_server
from tests.support.service import wait_until

ANN = "ann@customer.test"


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server


@pytest.fixture
def desk(begin: Begin, tmp_path: Path, server: MailServer) -> Iterator[Desk]:
    with (
        begin(tmp_path, SEALDESK_MAIL_ALLOWED_CIDRS="127.0.0.0/8") as service,
        receiving(service) as receiver,
    ):
        smtp = {"smtp_host": "127.0.0.1", "smtp_port": server.port, "smtp_security": "none"}
        yield Desk(receiver, **smtp)


def test_a_customer_writes_is_answered_and_answers(desk: Desk, server: MailServer) -> None:
    first = "<first@customer.test>"
    raw = message(
        "It arrived broken.", sender=ANN, to=desk.address, subject="My bowl", Message_ID=first
    )
    desk.get_mail(raw, sender=ANN)
    ticket = desk.ticket()
    assert (ticket["source"], ticket["customer"]["email"]) == ("email", ANN)
    path = f"/api/v1/external/tickets/{ticket['id']}/replies"
    assert desk.key.post(path, {"body": "A new one is on its way."}).status_code == 201
    wait_until(lambda: desk.replies(ticket)[-1]["delivery"] == "sent")
    (sent,) = server.received
    assert (sent.recipients, sent.message["in-reply-to"]) == ([ANN], first)
    address = sent.message["reply-to"].addresses[0].addr_spec
    answer = message("Thank you!", sender=ANN, to=address, subject="AW: something else")
    desk.get_mail(answer, to=address, sender=ANN)
    bodies = [(each["author"]["type"], each["body"]) for each in desk.replies(ticket)]
    assert bodies == [("api_key", "A new one is on its way."), ("customer", "Thank you!")]
    assert len(desk.tickets()) == 1
