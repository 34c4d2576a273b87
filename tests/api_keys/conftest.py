"""A service for each file: over 300 failures a minute from one address lose their diagnosis."""

from collections.abc import Iterator

import pytest

from tests.support.databases import Begin
from tests.support.service import Service


@pytest.fixture(scope="module")
def service(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The service of one file of tests, which share it and must leave its clock alone."""
    with begin(tmp_path_factory.mktemp("data")) as own:
        yield own
