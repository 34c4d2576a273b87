"""A real Postfix between the desk and the world: submission, LMTP, and its own reports."""

from collections.abc import Iterator
from itertools import count

import pytest

from tests.http_client.receivers import Authority
from tests.mail.support import Desk, Receiver, message, receiving
from tests.servers import server_directory
from tests.servers.postfix import DESK_DOMAIN, OTHER_DOMAIN, UNKNOWN_DOMAIN, Postfix
from tests.support.service import Service, wait_until

ANN, NOBODY = f"ann@{OTHER_DOMAIN}", f"nobody@{UNKNOWN_DOMAIN}"
_numbers = count()


@pytest.fixture(scope="session")
def lmtp(shared_service: Service) -> Iterator[Receiver]:
    with receiving(shared_service, is_lmtp=True) as receiver:
        yield receiver


@pytest.fixture(scope="session")
def postfix(lmtp: Receiver, authority: Authority) -> Iterator[Postfix]:
    with server_directory() as directory:
        own = directory / "postfix"
        own.mkdir(mode=0o755)
        server = Postfix.start(own, authority.certificate("localhost"), lmtp.port)
        yield server
        server.stop()


@pytest.fixture
def desk(lmtp: Receiver, postfix: Postfix) -> Desk:
    """A desk behind Postfix, to which it submits with STARTTLS."""
    smtp = {"smtp_host": "localhost", "smtp_port": postfix.port, "smtp_security": "starttls"}
    address = f"help{next(_numbers)}@{DESK_DOMAIN}"
    return Desk(lmtp, address=address, **smtp, acknowledgement="Thank you.")


def acknowledged(desk: Desk) -> list[str]:
    """The states of the acknowledgements of a desk."""
    sql = "SELECT state FROM outgoing_messages WHERE tenant_id = :tenant ORDER BY id LIMIT 99"
    return [row["state"] for row in desk.receiver.service.rows(sql, tenant=desk.tenant.id)]


def test_a_message_comes_by_lmtp_and_its_answer_goes_by_submission(
    desk: Desk, postfix: Postfix
) -> None:
    raw = message("It broke.", sender=ANN, to=desk.address)
    postfix.submit(raw, desk.address, sender=ANN)
    wait_until(lambda: desk.outcomes() == ["ticket"])
    ticket = desk.ticket()
    assert (ticket["description"], ticket["customer"]["email"]) == ("It broke.", ANN)
    path = f"/api/v1/external/tickets/{ticket['id']}/replies"
    assert desk.key.post(path, {"body": "A new one is on its way."}).status_code == 201
    wait_until(lambda: desk.replies(ticket)[-1]["delivery"] == "sent")
    # Through the reply address, whose code Postfix must leave as it is.
    to = desk.reply_address(ticket, ANN)
    postfix.submit(message("Thank you!", sender=ANN, to=to), to, sender=ANN)
    wait_until(lambda: desk.outcomes() == ["ticket", "reply"])
    assert desk.replies(ticket)[-1]["body"] == "Thank you!"
    assert acknowledged(desk) == ["sent", "sent"]


def test_its_report_about_an_unknown_recipient_makes_the_reply_bounced(
    desk: Desk, postfix: Postfix
) -> None:
    postfix.submit(message(sender=NOBODY, to=desk.address), desk.address, sender=NOBODY)
    wait_until(lambda: desk.outcomes()[:1] == ["ticket"])
    # The acknowledgement came back first.
    wait_until(lambda: desk.outcomes() == ["ticket", "bounce"])
    ticket = desk.ticket()
    path = f"/api/v1/external/tickets/{ticket['id']}/replies"
    assert desk.key.post(path, {"body": "We are on it."}).status_code == 201
    wait_until(lambda: desk.outcomes() == ["ticket", "bounce", "bounce"])
    reply = next(each for each in desk.replies(ticket) if not each["is_internal"])
    assert (reply["delivery"], acknowledged(desk)) == ("bounced", ["bounced", "bounced"])
    assert "no such mailbox" in reply["delivery_reason"]
    notes = [each["body"] for each in desk.replies(ticket) if each["is_internal"]]
    assert len(notes) == 2 and all(NOBODY in note for note in notes)
    assert len(desk.tickets()) == 1
