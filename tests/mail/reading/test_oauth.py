"""Reading a folder whose server wants an access token: a Dovecot that asks whose it is."""

from collections.abc import Iterator
from typing import Any

import pytest

from sealdesk.caller import SYSTEM, Caller
from sealdesk.mail.mailboxes import actions as mailboxes
from sealdesk.mail.mailboxes.types import Consent
from sealdesk.oauth.providers import PROVIDERS
from tests.http_client.receivers import Authority
from tests.mail.reading.support import Folders, Reading
from tests.mail.support import message
from tests.servers import Dovecot, server_directory
from tests.support.authorization_server import (
    ENV,
    INTROSPECTION_PATH,
    AuthorizationServer,
    authorizing,
)
from tests.support.databases import Begin
from tests.support.service import Service


@pytest.fixture(scope="module")
def shared_service(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with begin(tmp_path_factory.mktemp("oauth"), **ENV) as service:
        yield service


@pytest.fixture(scope="module")
def provider() -> Iterator[AuthorizationServer]:
    with authorizing() as server:
        yield server


@pytest.fixture(scope="module")
def dovecot(authority: Authority, provider: AuthorizationServer) -> Iterator[Dovecot]:
    with server_directory() as directory:
        url = f"{provider.url}{INTROSPECTION_PATH}"
        certificate = authority.certificate("localhost")
        server = Dovecot.start(directory / "dovecot", certificate, introspection_url=url)
        yield server
        server.kill()


@pytest.fixture(autouse=True)
def local_provider(
    provider: AuthorizationServer, dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = provider.provider(dovecot.tls_port, dovecot.tls_port)
    monkeypatch.setitem(PROVIDERS, "google", local)


def _connect(desk: Any, refresh_token: str) -> None:
    caller = Caller(desk.tenant.id, SYSTEM, frozenset(), "")
    consent = Consent("google", desk.address, refresh_token)
    key_ring, now_us = desk.service.state.key_ring, desk.service.clock.now_us()
    desk.service.write(
        lambda tx: mailboxes.connect_mailbox(
            tx, caller, desk.mailbox.id, consent, key_ring=key_ring, now_us=now_us
        )
    )


def test_a_connected_folder_is_read(
    folders: Folders, reader: Reading, provider: AuthorizationServer
) -> None:
    desk = folders.desk(imap_password="wrong")
    desk.wait_for_problem("login_refused")
    desk.put(message(subject="By a token"))
    _connect(desk, provider.give_refresh_token(desk.address))
    desk.wait_for("By a token")
    desk.wait_for_problem(None)


def test_a_token_of_another_account_opens_nothing(
    folders: Folders, reader: Reading, provider: AuthorizationServer
) -> None:
    desk = folders.desk()
    _connect(desk, provider.give_refresh_token("eve@acme.test"))
    desk.wait_for_problem("login_refused")


def test_a_consent_that_ends_while_reading_is_told_and_loses_nothing(
    folders: Folders, reader: Reading, provider: AuthorizationServer, dovecot: Dovecot
) -> None:
    desk = folders.desk()
    _connect(desk, provider.give_refresh_token(desk.address))
    desk.put(message(subject="Before"))
    desk.wait_for("Before")
    provider.withdraw()
    dovecot.kill()
    dovecot.start_again()
    desk.put(message(subject="Meanwhile"))
    desk.wait_for_problem("consent_withdrawn")
    assert desk.subjects() == ["Before"]
    _connect(desk, provider.give_refresh_token(desk.address))
    desk.wait_for("Before", "Meanwhile")
    desk.wait_for_problem(None)
