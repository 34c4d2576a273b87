"""A service that may connect to mail servers on loopback, and such servers."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from sealdesk.mail.mailboxes.store import directory
from sealdesk.mail.mailboxes.store.directory import EVERYBODY, Domain
from tests.http_client.receivers import Authority
from tests.mail.mailboxes.servers import MailServers
from tests.support.databases import Begin
from tests.support.service import Service

LOOPBACK = {"SEALDESK_MAIL_ALLOWED_CIDRS": "127.0.0.0/8,::1"}


@pytest.fixture(scope="session")
def begin(begin: Begin) -> Begin:
    """Starts services that may connect to mail servers on loopback."""

    def begin_one(data_dir: Path, **env: str) -> AbstractContextManager[Service]:
        return begin(data_dir, **{**LOOPBACK, **env})

    return begin_one


@pytest.fixture(scope="session")
def shared_service(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with begin(tmp_path_factory.mktemp("mailboxes")) as service:
        shared = Domain("@acme.test", EVERYBODY)
        service.write(lambda tx: directory.assign_domain(tx, shared))
        yield service


@pytest.fixture(scope="session")
def running_servers(authority: Authority) -> Iterator[MailServers]:
    """The servers of the run, whose certificates the service trusts."""
    servers = MailServers(
        authority.context("localhost"), authority.context("localhost", days=(-2, -1))
    )
    yield servers
    servers.stop()


@pytest.fixture
def servers(running_servers: MailServers) -> MailServers:
    """The servers without messages and faults."""
    running_servers.inbox.__init__()  # type: ignore[misc] # the same inbox, as if it were new
    return running_servers
