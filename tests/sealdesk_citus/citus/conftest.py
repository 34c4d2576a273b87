"""A distributed database with rows of tenants, for the tests of one module."""

from collections.abc import Iterator

import pytest

from tests.support.citus import distributed_database
from tests.support.tenant_rows import FilledDatabase

Env = dict[str, str]


@pytest.fixture(scope="module")
def env() -> Iterator[Env]:
    with distributed_database() as env:
        yield env


@pytest.fixture(scope="module")
def filled(env: Env) -> Iterator[FilledDatabase]:
    filled = FilledDatabase(env, 3)
    yield filled
    filled.close()
