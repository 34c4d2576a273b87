"""One tiny SQLite database for all tests of the benchmark."""

import pytest
from bench.databases.sqlite_data import Data, prepare
from bench.plan import TINY


@pytest.fixture(scope="session")
def tiny_data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    """Read-only: tests that measure copy its directory."""
    return prepare(TINY, tmp_path_factory.mktemp("bench"))
