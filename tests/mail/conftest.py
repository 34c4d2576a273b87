"""Fixtures: one receiver for a whole run, a tenant with a mailbox for each test."""

from collections.abc import Iterator

import pytest

from sealdesk.mail.connections import tls_context
from tests.http_client.receivers import Authority
from tests.mail.support import Desk, Receiver, receiving
from tests.support.service import Service


@pytest.fixture(scope="session")
def receiver(shared_service: Service) -> Iterator[Receiver]:
    with receiving(shared_service) as receiver:
        yield receiver


@pytest.fixture
def desk(receiver: Receiver) -> Desk:
    return Desk(receiver)


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Authority]:
    """An authority that services in this process trust."""
    made = Authority(tmp_path_factory.mktemp("certificates"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(made.file))
        tls_context.cache_clear()
        tls_context()
    yield made
    tls_context.cache_clear()
