"""Fixtures: one service for a whole run, a tenant of its own for each test."""

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import pytest

from sealdesk.db import migrate
from tests import sample
from tests.support.citus import on_nodes
from tests.support.client import Key, Person
from tests.support.databases import (
    KINDS,
    Begin,
    Kind,
    Template,
    migrated_template,
    new_on_citus,
    on_citus,
    on_postgresql,
    on_sqlite,
)
from tests.support.memory_disk import use_memory_disk
from tests.support.pages import Visitor, logged_in
from tests.support.service import Service, Tenant, running

# examples: registers a profile of hypothesis, which pytest asks for after this is imported.
pytest_plugins = ["tests.servers.plugin", "tests.support.examples", "tests.cli.fixtures"]

# A shell may forbid to store compiled code. Each of the many processes of the tests would compile
# everything anew, which takes more than twice as long as the start of a command.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

use_memory_disk()

# A shell starts background jobs with SIGINT ignored, and so would be every command of the tests.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_OF_SERVICES = {"begin", "kind", "template", "postgres_template"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`make prove` alone runs what says little new (tests/sample).

    Mutation testing runs what starts no service.
    """
    for item in items:
        if not _OF_SERVICES.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("service")
        if sample.is_left_out(item):
            item.add_marker("prove")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for garbage: what collecting makes stays, half a million objects."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()  # nor do the tests look through it again and again
        gc.enable()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Build the documentation that the service serves, when its sources have changed."""
    root = Path(__file__).parents[1]
    is_worker = hasattr(session.config, "workerinput")
    # The copies of mutants have what was built before.
    if (root / "docs_builder").exists() and not (is_worker or session.config.option.collectonly):
        # tests/docs_builder names its faults.
        build = [sys.executable, "-m", "docs_builder", "--if-changed"]
        subprocess.run(build, cwd=root, check=False)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database with the current schema, to copy."""
    path = tmp_path_factory.mktemp("template") / "sealdesk.db"
    migrate.migrate(path)
    return path


@pytest.fixture(scope="session")
def postgres_template() -> Iterator[Template]:
    """An empty PostgreSQL database with the current schema, to copy."""
    with migrated_template() as template:
        yield template


@pytest.fixture(scope="session", params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    """The kind of database; every test that uses it runs on each."""
    return cast(Kind, request.param)


@pytest.fixture(scope="session")
def begin(kind: Kind, template: Path, request: pytest.FixtureRequest) -> Begin:
    """Starts services: begin(data_dir, SEALDESK_MAX_SKEW_S="30")."""
    if kind == "sqlite":
        return on_sqlite(template)
    if kind == "citus":
        return on_citus
    return on_postgresql(request.getfixturevalue("postgres_template"))


@pytest.fixture(scope="session")
def shared_service(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with begin(tmp_path_factory.mktemp("data")) as service:
        yield service


@pytest.fixture
def service(shared_service: Service) -> Service:
    """The service of the run; tests share it and must leave its clock alone."""
    return shared_service


@pytest.fixture
def start(begin: Begin, tmp_path: Path) -> Iterator[Callable[..., Service]]:
    """Starts services of a test's own: start(SEALDESK_MAX_SKEW_S="30"); their clocks may be set."""
    with ExitStack() as stack:

        def begin_one(**env: str) -> Service:
            return stack.enter_context(begin(tmp_path / "data", **env))

        yield begin_one


@pytest.fixture
def start_nodes(
    kind: Kind, begin: Begin, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Callable[..., list[Service]]]:
    """Starts services on one new database: one on SQLite, two otherwise, on Citus beside nodes."""
    with ExitStack() as stack:

        def begin_all(**env: str) -> list[Service]:
            if kind == "sqlite":
                return [stack.enter_context(begin(tmp_path / "data", **env))]
            if kind == "citus":
                envs = on_nodes(stack.enter_context(new_on_citus()))
                return [
                    stack.enter_context(running(tmp_path / name, **{**one, **env}))
                    for name, one in zip("ab", envs, strict=True)
                ]
            template: Template = request.getfixturevalue("postgres_template")
            env |= stack.enter_context(template.copied())
            return [stack.enter_context(running(tmp_path / name, **env)) for name in "ab"]

        yield begin_all


@pytest.fixture
def own_service(start: Callable[..., Service]) -> Service:
    """A service of the test's own, whose clock may be set."""
    return start()


@pytest.fixture
def tenant(service: Service) -> Tenant:
    return service.tenant()


@pytest.fixture
def key(tenant: Tenant) -> Key:
    """A key of the test's tenant with all permissions."""
    return tenant.key()


@pytest.fixture
def admin(tenant: Tenant) -> Person:
    """The administrator of the test's tenant, logged in."""
    return tenant.admin()


@pytest.fixture
def visitor(tenant: Tenant) -> Visitor:
    """A browser with the log-in of the administrator."""
    return logged_in(tenant)
