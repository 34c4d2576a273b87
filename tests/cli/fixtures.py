"""One installation with the demo and a running server for all tests of commands.

Starting a server takes most of a second, so the tests share it.
"""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.terminal import Served, Terminal, serving
from tests.servers import free_port
from tests.support.databases import Kind, Template


class Home(NamedTuple):
    """A served installation. demo_output: the output of `sealdesk demo`."""

    terminal: Terminal
    demo_output: str
    served: Served


# For tests of what only an SQLite installation has.
on_a_file = pytest.mark.parametrize("kind", ["sqlite"], indirect=True, scope="session")


@pytest.fixture(scope="session")
def home(
    kind: Kind, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Home]:
    """A served installation with the demo, on each database."""
    port = free_port()
    bare = Terminal(tmp_path_factory.mktemp("home") / "data")
    with ExitStack() as stack:
        if kind == "postgresql":
            template: Template = request.getfixturevalue("postgres_template")
            bare = bare.with_env(**stack.enter_context(template.copied()))
        demo_output = bare.out("demo", "--port", str(port))
        terminal = bare.with_env(SEALDESK_API_URL=f"http://127.0.0.1:{port}")
        served = stack.enter_context(serving(terminal, port=port))
        yield Home(terminal, demo_output, served)


@pytest.fixture
def terminal(home: Home) -> Terminal:
    """A shell with the installation of the running server, which tests share."""
    return home.terminal


@pytest.fixture(scope="session")
def acme(home: Home) -> str:
    """The id of a shared tenant; its administrator is ada@acme.test."""
    return home.terminal.tenant("ada@acme.test")


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of a new installation, to copy: creating one takes two seconds."""
    path = tmp_path_factory.mktemp("migrated") / "data"
    Terminal(path).out("migrate")
    return path


@pytest.fixture
def installed(migrated: Path, empty: Terminal) -> Terminal:
    """A shell with a separate new installation."""
    shutil.copytree(migrated, empty.data_dir)
    return empty


@pytest.fixture
def empty(tmp_path: Path) -> Terminal:
    """A shell without an installation yet."""
    return Terminal(tmp_path / "data")
