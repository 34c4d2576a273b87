"""Sending by a server that wants an access token."""

from collections.abc import Iterator

import pytest

from sealdesk.caller import SYSTEM, Caller
from sealdesk.mail.mailboxes import actions as mailboxes
from sealdesk.mail.mailboxes.types import Consent
from sealdesk.mail.sending import rules, turns
from sealdesk.oauth.providers import PROVIDERS
from tests.http_client.receivers import Authority
from tests.mail.mailboxes.servers import MailServers
from tests.support.authorization_server import ENV, AuthorizationServer, authorizing
from tests.support.databases import Begin
from tests.support.mail_desk import Desk
from tests.support.service import Service, wait_until

ANA = "ana@customer.example"


@pytest.fixture(scope="module")
def shared_service(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    env = {**ENV, "SEALDESK_MAIL_ALLOWED_CIDRS": "127.0.0.0/8,::1"}
    with begin(tmp_path_factory.mktemp("oauth"), **env) as service:
        yield service


@pytest.fixture(scope="session")
def servers(authority: Authority) -> Iterator[MailServers]:
    context = authority.context("localhost")
    running = MailServers(context, context)
    yield running
    running.stop()


@pytest.fixture
def provider(
    servers: MailServers, monkeypatch: pytest.MonkeyPatch
) -> Iterator[AuthorizationServer]:
    with authorizing() as server:
        servers.inbox.access_tokens = server.access_tokens
        servers.inbox.messages.clear()
        local = server.provider(servers.imaps_port, servers.smtps_port)
        monkeypatch.setitem(PROVIDERS, "google", local)
        yield server


def _connect(desk: Desk, refresh_token: str) -> None:
    caller, service = Caller(desk.tenant.id, SYSTEM, frozenset(), ""), desk.service
    consent = Consent("google", desk.address, refresh_token)
    service.write(
        lambda tx: mailboxes.connect_mailbox(
            tx,
            caller,
            desk.mailbox.id,
            consent,
            key_ring=service.state.key_ring,
            now_us=service.clock.now_us(),
        )
    )


def _problem(desk: Desk) -> str | None:
    found = desk.service.read(
        lambda tx: mailboxes.get_mailbox(tx, desk.tenant.id, desk.mailbox.id)
    ).problems.sending
    return found.code if found else None


def test_replies_wait_while_the_consent_is_withdrawn_and_go_out_once(
    desk: Desk,
    servers: MailServers,
    provider: AuthorizationServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "_LINGER_S", 0.0)
    monkeypatch.setattr(rules, "_PAUSES_S", (0.2,))
    provider.life_s = 0
    _connect(desk, provider.give_refresh_token(desk.address))
    ticket = desk.ticket(ANA)
    desk.reply(ticket, "The first one.")
    wait_until(lambda: desk.delivery(ticket) == "sent")
    provider.withdraw()
    desk.reply(ticket, "The second one.")
    wait_until(lambda: _problem(desk) == "consent_withdrawn")
    assert desk.delivery(ticket) == "queued"
    _connect(desk, provider.give_refresh_token(desk.address))
    wait_until(lambda: desk.delivery(ticket) == "sent")
    assert _problem(desk) is None
    assert [b"first one" in each for each in servers.inbox.messages] == [True, False]
