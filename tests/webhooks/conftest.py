"""Services that may send to loopback, and receivers there."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.support.databases import Begin
from tests.support.receiver import LOOPBACK, Receiver, receiving
from tests.support.service import Service


@pytest.fixture(scope="session")
def begin(begin: Begin) -> Begin:
    """Starts services that may send to loopback."""

    def begin_one(data_dir: Path, **env: str) -> AbstractContextManager[Service]:
        return begin(data_dir, **{**LOOPBACK, **env})

    return begin_one


@pytest.fixture(scope="session")
def shared_service(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with begin(tmp_path_factory.mktemp("webhooks")) as service:
        yield service


@pytest.fixture(scope="session")
def timed_service(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose clock the tests advance, each with its own tenant."""
    with begin(tmp_path_factory.mktemp("timed")) as service:
        yield service


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """The receiver of webhooks."""
    with receiving() as receiver:
        yield receiver
