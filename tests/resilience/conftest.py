"""The installation that the short scenarios share."""

from collections.abc import Iterator

import pytest

from tests.resilience.nodes import Installation, new_installation


@pytest.fixture(scope="session")
def installation() -> Iterator[Installation]:
    """Nodes on a PostgreSQL cluster that syncs to disk."""
    with new_installation() as one:
        yield one
