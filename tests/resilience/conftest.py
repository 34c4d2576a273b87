"""What the short forms of the proofs share."""

from collections.abc import Iterator

import pytest

from tests.resilience.nodes import Installation, installed


@pytest.fixture(scope="session")
def installation() -> Iterator[Installation]:
    """A cluster that waits for its disk, and nodes; for one test after the other."""
    with installed() as one:
        yield one
