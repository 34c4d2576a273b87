"""A service that may send to loopback, a mail server, and a desk that sends to it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.mail.support import Desk as ReceivingDesk
from tests.mail.support import Receiver, receiving
from tests.support.databases import Begin
from tests.support.mail_desk import Desk
from tests.support.mail_server import MailServer, mail_server
from tests.support.service import Service, Tenant


@pytest.fixture(scope="session")
def shared_service(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    started: AbstractContextManager[Service] = begin(
        Path(tmp_path_factory.mktemp("sending")), SEALDESK_MAIL_ALLOWED_CIDRS="127.0.0.0/8,::1"
    )
    with started as service:
        yield service


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server


@pytest.fixture
def desk(tenant: Tenant, server: MailServer) -> Desk:
    return Desk(tenant, server)


@pytest.fixture(scope="session")
def receiver(shared_service: Service) -> Iterator[Receiver]:
    with receiving(shared_service) as receiver:
        yield receiver


@pytest.fixture
def own(receiver: Receiver, server: MailServer) -> ReceivingDesk:
    """A desk that receives, and sends to the server."""
    smtp = {"smtp_host": "127.0.0.1", "smtp_port": server.port, "smtp_security": "none"}
    return ReceivingDesk(receiver, **smtp)
