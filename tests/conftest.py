"""Fixtures: one service for a whole run, a tenant of its own for each test."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from sealdesk.db import version
from tests.support.client import Key, Person
from tests.support.service import Service, Tenant, running

pytest_plugins = ["tests.servers.plugin"]


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database with the current schema, to copy."""
    path = tmp_path_factory.mktemp("template") / "sealdesk.db"
    version.ensure_current(path)
    return path


@pytest.fixture(scope="session")
def shared_service(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("data"), template) as service:
        yield service


@pytest.fixture
def service(shared_service: Service) -> Service:
    """The service of the run; tests share it and must leave its clock alone."""
    return shared_service


@pytest.fixture
def start(template: Path, tmp_path: Path) -> Iterator[Callable[..., Service]]:
    """Starts services of a test's own: start(SEALDESK_MAX_SKEW_S="30"); their clocks may be set."""
    with ExitStack() as stack:

        def begin(**env: str) -> Service:
            return stack.enter_context(running(tmp_path / "data", template, **env))

        yield begin


@pytest.fixture
def own_service(start: Callable[..., Service]) -> Service:
    """A service of the test's own, whose clock may be set."""
    return start()


@pytest.fixture
def tenant(service: Service) -> Tenant:
    return service.tenant()


@pytest.fixture
def key(tenant: Tenant) -> Key:
    """A key of the test's tenant that may everything."""
    return tenant.key()


@pytest.fixture
def admin(tenant: Tenant) -> Person:
    """The administrator of the test's tenant, logged in."""
    return tenant.admin()
