"""Fixtures of the tests of teams."""

import pytest

from tests.support.service import Tenant
from tests.teams.desks import TeamDesk


@pytest.fixture
def desk(tenant: Tenant) -> TeamDesk:
    return TeamDesk(tenant)
