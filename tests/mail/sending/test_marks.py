"""What nobody would see is told behind the bell: notes by e-mail, and replies that come back."""

import pytest

from sealdesk.teams import store as teams
from tests.mail.reports import report
from tests.mail.support import Desk, Ticket, message
from tests.support.mail_server import MailServer
from tests.support.pages import logged_in
from tests.support.service import wait_until

ANN = "ann@customer.test"


@pytest.fixture
def ticket(own: Desk) -> Ticket:
    own.get_mail(message(sender=ANN, to=own.address), sender=ANN)
    return own.ticket()


def told(desk: Desk) -> list[str]:
    """The kinds of the notifications of all users."""
    sql = "SELECT kind FROM notifications WHERE tenant_id = :tenant ORDER BY id LIMIT 100"
    return [row["kind"] for row in desk.receiver.service.rows(sql, tenant=desk.tenant.id)]


def answer(desk: Desk, ticket: Ticket) -> None:
    """A reply of the administrator."""
    visitor, path = logged_in(desk.tenant), f"/tickets/{ticket['id']}"
    visitor.submit(visitor.get(path).form(f"{path}/reply"), body="We are on it.")


def delivery(desk: Desk, ticket: Ticket) -> str | None:
    return next((each["delivery"] for each in desk.replies(ticket)), None)


def get_note(desk: Desk, ticket: Ticket, sender: str = ANN, **headers: str) -> None:
    to = desk.reply_address(ticket, ANN)
    desk.get_mail(message("Away.", sender=sender, to=to, **headers), to=to, sender=sender)


def test_the_author_of_a_reply_is_told_that_it_came_back(
    own: Desk, ticket: Ticket, server: MailServer
) -> None:
    answer(own, ticket)
    wait_until(lambda: delivery(own, ticket) == "sent")
    own.get_mail(report(server.received[0].message["message-id"]), sender="<>")
    assert told(own) == ["noted"]


def test_the_author_of_a_reply_is_told_that_the_server_refuses_it(
    own: Desk, ticket: Ticket, server: MailServer
) -> None:
    server.answers[ANN] = ["550 5.1.1 No such user here"]
    answer(own, ticket)
    wait_until(lambda: delivery(own, ticket) == "bounced")
    assert told(own) == ["noted"]


@pytest.mark.parametrize(
    ("sender", "headers"),
    [(ANN, {"Auto_Submitted": "auto-replied"}), ("eve@other.test", {})],
    ids=["automatic answer", "stranger"],
)
@pytest.mark.parametrize("status", ["resolved", "pending", "open"])
def test_a_note_on_a_ticket_that_is_not_open_is_told_to_users(
    own: Desk, ticket: Ticket, status: str, sender: str, headers: dict[str, str]
) -> None:
    own.change(ticket, status=status)
    get_note(own, ticket, sender, **headers)
    assert own.replies(ticket)[0]["is_internal"]
    assert told(own) == ([] if status == "open" else ["noted"])


def test_a_note_is_told_to_the_team_of_the_ticket_alone(own: Desk, ticket: Ticket) -> None:
    member = own.tenant.user()
    team_id = own.add_team()
    tenant_id = own.tenant.id
    own.receiver.service.write(
        lambda tx: teams.add_member(tx, tenant_id, team_id, member, capacity=None)
    )
    own.change(ticket, status="resolved", team_id=team_id)
    get_note(own, ticket, Auto_Submitted="auto-replied")
    assert told(own) == ["noted"]


def test_an_answer_by_a_mailbox_that_may_be_of_a_person_waits(own: Desk) -> None:
    other = own.add_mailbox(receives="no")
    own.get_mail(message(sender=other.address, subject="Out of office: Re: Bowl"))
    own.get_mail(message(sender=other.address, Auto_Submitted="auto-replied"))
    assert own.outcomes() == ["held", "ignored"]
