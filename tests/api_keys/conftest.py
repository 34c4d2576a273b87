"""A service for each file: over 300 failures a minute from one address lose their diagnosis."""

from collections.abc import Iterator

import pytest

from tests.support.databases import Begin
from tests.support.service import Service


@pytest.fixture(scope="module")
def service(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that the tests of a file share; they must not change its clock."""
    with begin(tmp_path_factory.mktemp("data")) as own:
        yield own
