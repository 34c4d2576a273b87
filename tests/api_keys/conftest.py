"""A service for each file: over 300 failures a minute from one address lose their diagnosis."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.service import Service, running


@pytest.fixture(scope="module")
def service(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The service of one file of tests, which share it and must leave its clock alone."""
    with running(tmp_path_factory.mktemp("data"), template) as own:
        yield own
