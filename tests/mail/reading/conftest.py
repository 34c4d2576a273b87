"""A Dovecot for a whole run, and a service beside which folders are read."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.http_client.receivers import Authority
from tests.mail.reading.support import Folders, Reading, reading
from tests.servers import Dovecot, server_directory
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
    with begin(tmp_path_factory.mktemp("reading")) as service:
        yield service


@pytest.fixture(scope="session")
def dovecot(authority: Authority) -> Iterator[Dovecot]:
    with server_directory() as directory:
        server = Dovecot.start(directory / "dovecot", authority.certificate("localhost"))
        yield server
        server.kill()


@pytest.fixture
def reader(shared_service: Service) -> Iterator[Reading]:
    """Reads the folders of all mailboxes meanwhile."""
    with reading(shared_service) as running:
        yield running


@pytest.fixture
def folders(shared_service: Service, dovecot: Dovecot) -> Iterator[Folders]:
    made = Folders(shared_service, dovecot)
    yield made
    made.pause()
