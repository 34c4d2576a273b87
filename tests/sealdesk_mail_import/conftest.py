"""A service that may send webhooks to loopback, with a receiver of e-mail."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.mail.support import Desk, Receiver, receiving
from tests.support.databases import Begin
from tests.support.receiver import LOOPBACK
from tests.support.service import Service


@pytest.fixture(scope="session")
def shared_service(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    started: AbstractContextManager[Service] = begin(
        Path(tmp_path_factory.mktemp("importing")), **LOOPBACK
    )
    with started as service:
        yield service


@pytest.fixture(scope="session")
def receiver(shared_service: Service) -> Iterator[Receiver]:
    with receiving(shared_service) as receiver:
        yield receiver


@pytest.fixture
def desk(receiver: Receiver) -> Desk:
    return Desk(receiver)
