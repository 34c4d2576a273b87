"""Desks of the Python client, each with a key of the test's own tenant."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from sealdesk.client import Desk
from tests.support.client import Key


@pytest.fixture
def make_desk() -> Iterator[Callable[..., Desk]]:
    """Makes desks: make_desk(key, retry=…). Pauses are not waited for."""
    with ExitStack() as stack:

        def make(key: Key, url: str | None = None, **options: Any) -> Desk:
            options = {"sleep": lambda _: None, **options}
            desk = Desk(key.api_key, key.api_secret, url or key.service.url, **options)
            return stack.enter_context(desk)

        yield make


@pytest.fixture
def desk(key: Key, make_desk: Callable[..., Desk]) -> Desk:
    """A desk with all permissions."""
    return make_desk(key)
