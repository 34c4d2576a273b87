"""What is wrong with a mailbox's server is shown and told, heals by itself, and loses nothing."""

import socket
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from sealdesk.caller import SYSTEM, Caller
from sealdesk.mail.mailboxes import actions as mailboxes
from sealdesk.mail.mailboxes.types import MailboxChange, NewMailbox
from sealdesk.mail.sending import rules, store
from sealdesk.mail.sending.types import DueMailbox
from sealdesk.mail.threads import actions as threads
from tests.http_client.receivers import Authority
from tests.mail.mailboxes.servers import PASSWORD, USERNAME, MailServers
from tests.servers import free_port
from tests.support.databases import SQLITE_FIRST
from tests.support.mail_desk import Desk
from tests.support.mail_server import MailServer
from tests.support.service import Service, Tenant, wait_until

ANA, BO = "ana@customer.example", "bo@customer.example"


@pytest.fixture(scope="session")
def tls_servers(authority: Authority) -> Iterator[MailServers]:
    expired = authority.context("localhost", days=(-2, -1))
    servers = MailServers(authority.context("localhost"), expired)
    yield servers
    servers.stop()


def change(desk: Desk, **fields: Any) -> None:
    """Change the mailbox as an administrator does."""
    caller, service = Caller(desk.tenant.id, SYSTEM, frozenset(), ""), desk.service
    service.write(
        lambda tx: mailboxes.change_mailbox(
            tx,
            caller,
            desk.mailbox.id,
            MailboxChange(**fields),
            key_ring=service.state.key_ring,
            if_match=None,
            now_us=service.clock.now_us(),
        )
    )


def problem(desk: Desk) -> dict[str, Any] | None:
    """What the API says is wrong with sending."""
    answer = desk.tenant.admin().get(f"/api/v1/mailboxes/{desk.mailbox.id}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] | None = answer.json()["data"]["sending_problem"]
    return found


def until_failing(desk: Desk, code: str) -> dict[str, Any]:
    """Wait until this is the problem."""
    sql = "SELECT problem FROM mailboxes WHERE id = :id AND problem IS NOT NULL LIMIT 1"
    wait_until(lambda: bool(desk.service.rows(sql, id=desk.mailbox.id)))
    found = problem(desk)
    assert found is not None and found["code"] == code and found["remedy"] and found["since"]
    return found


def events(desk: Desk) -> list[str]:
    """The events of mailboxes, oldest first."""
    desk.service.settle()
    sql = """
    SELECT type FROM events WHERE tenant_id = :tenant AND type LIKE 'mailbox.%'
    ORDER BY position LIMIT 99"""
    return [row["type"] for row in desk.service.rows(sql, tenant=desk.tenant.id)]


def until_sent(desk: Desk, ticket: dict[str, Any]) -> None:
    wait_until(lambda: desk.delivery(ticket) == "sent")


def test_a_wrong_password_is_told_and_heals_when_it_is_corrected(
    desk: Desk, tls_servers: MailServers
) -> None:
    login = {"smtp_username": USERNAME, "smtp_password": "wrong"}
    port = tls_servers.smtps_port
    change(desk, smtp_host="localhost", smtp_port=port, smtp_security="tls", **login)
    ticket = desk.ticket(ANA)
    desk.reply(ticket)
    found = until_failing(desk, "login_refused")
    assert "wrong" not in found["detail"]
    assert desk.delivery(ticket) == "queued"
    change(desk, smtp_password=PASSWORD)
    until_sent(desk, ticket)
    wait_until(lambda: problem(desk) is None)
    assert events(desk) == ["mailbox.failing", "mailbox.recovered"]


def test_nothing_is_sent_to_a_server_whose_certificate_has_expired(
    desk: Desk, tls_servers: MailServers, server: MailServer
) -> None:
    port = tls_servers.expired_port
    change(desk, smtp_host="localhost", smtp_port=port, smtp_security="tls")
    ticket = desk.ticket(ANA)
    desk.reply(ticket)
    found = until_failing(desk, "certificate_invalid")
    assert "expired" in found["detail"]
    change(desk, smtp_host="127.0.0.1", smtp_port=server.port, smtp_security="none")
    until_sent(desk, ticket)
    assert len(server.received) == 1


@SQLITE_FIRST
@pytest.mark.parametrize(
    ("command", "refusal", "code"),
    [
        ("MAIL", "452 4.2.2 Over quota", "quota_full"),
        ("MAIL", "552 5.2.2 Over quota", "quota_full"),
        ("DATA", "452 4.3.1 Insufficient system storage", "quota_full"),
        ("MAIL", "550 5.7.1 Not your address", "message_refused"),
        ("DATA", "421 4.3.2 Shutting down", "not_reachable"),
    ],
)
def test_what_concerns_the_whole_mailbox_uses_up_no_attempt(
    desk: Desk, server: MailServer, command: str, refusal: str, code: str
) -> None:
    server.answers[command] = [refusal] * 99  # until the test has seen it
    ticket = desk.ticket(ANA)
    desk.reply(ticket)
    wait_until(lambda: problem(desk) is not None or desk.delivery(ticket) == "failed")
    found = until_failing(desk, code) if problem(desk) else {"detail": "the message has failed"}
    assert refusal.partition(" ")[2] in found["detail"]
    server.answers.clear()
    desk.service.clock.advance(301)  # the longest pause
    until_sent(desk, ticket)
    wait_until(lambda: problem(desk) is None)
    assert len(server.received) == 1
    assert [each for each in desk.replies(ticket) if each["is_internal"]] == []


def test_a_message_that_is_too_large_fails_alone(desk: Desk, server: MailServer) -> None:
    server.answers["DATA"] = ["552 5.3.4 Message too big"]
    ticket = desk.ticket(ANA)
    desk.reply(ticket)
    wait_until(lambda: desk.delivery(ticket) == "failed")
    assert "too big" in desk.replies(ticket)[-1]["body"]
    assert problem(desk) is None


def test_a_message_at_which_the_server_disappears_delays_no_other(
    desk: Desk, server: MailServer
) -> None:
    server.disappears_for = {ANA}
    broken, other = desk.ticket(ANA), desk.ticket(BO)
    desk.reply(broken)
    until_failing(desk, "closed")
    desk.reply(other)
    desk.service.clock.advance(6)
    until_sent(desk, other)
    assert desk.delivery(broken) == "queued"
    server.disappears_for = set()
    desk.service.clock.advance(61)
    until_sent(desk, broken)
    assert [each.recipients for each in server.received] == [[BO], [ANA]]


def test_a_server_that_was_away_gets_the_messages_by_itself(desk: Desk, server: MailServer) -> None:
    change(desk, smtp_port=1)
    ticket = desk.ticket(ANA)
    desk.reply(ticket)
    until_failing(desk, "not_reachable")
    sql = "UPDATE mailboxes SET smtp_port = :port WHERE id = :id"
    values = {"port": server.port, "id": desk.mailbox.id}
    desk.service.write(lambda tx: tx.execute(sql, values))
    desk.service.clock.advance(6)
    until_sent(desk, ticket)


def test_after_three_days_a_message_has_failed(desk: Desk) -> None:
    change(desk, smtp_port=1)
    ticket = desk.ticket(ANA)
    desk.reply(ticket)
    until_failing(desk, "not_reachable")
    desk.service.clock.advance(3 * 24 * 3600)
    wait_until(lambda: desk.delivery(ticket) == "failed")
    assert ANA in desk.replies(ticket)[-1]["body"]


@SQLITE_FIRST
def test_hanging_servers_of_others_delay_nobody(
    desk: Desk, server: MailServer, shared_service: Service
) -> None:
    tenants = [shared_service.tenant() for _ in range(3)]
    with socket.create_server(("127.0.0.1", free_port()), backlog=100) as hanging:
        port = hanging.getsockname()[1]
        for tenant in tenants:
            for number in range(20):
                add_waiting(tenant, port, number)
        wait_until(lambda: len(connected(shared_service, port)) >= 3 * 5)
        ticket = desk.ticket(ANA)
        desk.reply(ticket)
        until_sent(desk, ticket)
        of_tenants = Counter(connected(shared_service, port))
        assert max(of_tenants.values(), default=0) <= 5
        paused = "UPDATE mailboxes SET is_paused = :is_paused WHERE smtp_port = :port"
        values = {"port": port, "is_paused": True}
        shared_service.write(lambda tx: tx.execute(paused, values))


def connected(service: Service, port: int) -> list[str]:
    """The tenant of each mailbox at this port that is sending."""
    sql = """
    SELECT m.tenant_id FROM mailboxes m JOIN outgoing_messages o
        ON o.tenant_id = m.tenant_id AND o.mailbox_id = m.id
    WHERE m.smtp_port = :port AND o.leased_until IS NOT NULL LIMIT 100"""
    return [row["tenant_id"] for row in service.rows(sql, port=port)]


def add_waiting(tenant: Tenant, port: int, number: int) -> None:
    """A mailbox at this port, and a reply that waits in it."""
    service, caller = tenant.service, Caller(tenant.id, SYSTEM, frozenset(), "")
    now_us, key_ring = service.clock.now_us(), service.state.key_ring
    new = NewMailbox(
        address=f"hanging{number}.{tenant.id[-12:]}@desk.example",
        smtp_host="127.0.0.1",
        smtp_port=port,
        smtp_security="none",
    )
    made = service.write(
        lambda tx: mailboxes.create_mailbox(tx, caller, new, key_ring=key_ring, now_us=now_us)
    )
    key = tenant.key()
    ticket = key.ticket()
    people = [(ANA, None)]
    service.write(
        lambda tx: threads.add_people(tx, tenant.id, ticket["id"], made.id, people, now_us)
    )
    path = f"/api/v1/external/tickets/{ticket['id']}/replies"
    assert key.post(path, {"body": "We are on it."}).status_code == 201


def test_replies_of_a_mailbox_go_on_one_connection(desk: Desk, server: MailServer) -> None:
    ticket = desk.ticket(ANA)
    for _ in range(3):
        desk.reply(ticket)
        until_sent(desk, ticket)
    assert (len(server.received), server.connections) == (3, 1)


@pytest.mark.parametrize("address", ["jörg@customer.example", "a b@customer.example"])
def test_an_unusual_address_delays_no_other(desk: Desk, server: MailServer, address: str) -> None:
    broken, other = desk.ticket(ANA), desk.ticket(BO)
    sql = """
    UPDATE ticket_participants SET address = :address
    WHERE tenant_id = :tenant AND ticket_id = :ticket"""
    values = {"address": address, "tenant": desk.tenant.id, "ticket": broken["id"]}
    desk.service.write(lambda tx: tx.execute(sql, values))
    desk.reply(broken)
    desk.reply(other)
    until_sent(desk, other)
    wait_until(lambda: desk.delivery(broken) in ("sent", "bounced"))
    assert (desk.delivery(broken) == "sent") is (" " not in address)


def test_pauses_and_retries_grow_to_their_ends() -> None:
    assert [rules.pause_us(count) // 10**6 for count in (1, 2, 3, 4, 9)] == [5, 15, 60, 300, 300]
    retries = [rules.next_attempt_at(count, 0) for count in range(1, 11)]
    assert (retries[0], retries[-1]) == (60_000_000, None)
    days = sum(each or 0 for each in retries) / 86_400 / 10**6
    assert 2.9 <= days <= 3


def test_a_lease_is_renewed_unless_another_process_has_it(desk: Desk) -> None:
    change(desk, is_paused=True)
    ticket = desk.ticket(ANA)
    desk.reply(ticket)
    wait_until(lambda: desk.delivery(ticket) == "queued")
    due = DueMailbox(desk.tenant.id, desk.mailbox.id, 1, 600, is_failing=False)
    now = desk.service.clock.now_us()
    messages = desk.service.write(lambda tx: store.lease(tx, due, now, now + 60, 10))

    def leased_until() -> int:
        sql = "SELECT leased_until FROM outgoing_messages WHERE mailbox_id = :id LIMIT 1"
        return int(desk.service.rows(sql, id=desk.mailbox.id)[0][0])

    desk.service.write(lambda tx: store.renew(tx, messages, now + 60, now + 120))
    assert leased_until() == now + 120
    desk.service.write(lambda tx: store.renew(tx, messages, now + 60, now + 180))
    assert leased_until() == now + 120
