"""Services that may send to loopback, and a desk that is full of one customer."""

from collections.abc import Callable, Iterator

import pytest

from tests.support.receiver import LOOPBACK, Receiver, receiving
from tests.support.service import Service
from tests.tickets.erasing.filled import Desk


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def desk(start: Callable[..., Service], receiver: Receiver) -> Desk:
    return Desk(start(**LOOPBACK), receiver)
