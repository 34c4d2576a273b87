"""`sealdesk migrate --distribute` where there is no Citus."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal
from tests.support.databases import Template


@pytest.fixture
def shell(postgres_template: Template, tmp_path: Path) -> Iterator[Terminal]:
    """A shell with an installation on plain PostgreSQL."""
    with postgres_template.copied() as env:
        yield Terminal(tmp_path / "data", **env)


def test_plain_postgresql_is_refused_and_stays_as_it_is(shell: Terminal) -> None:
    line = shell.refused("migrate", "--distribute")
    assert "there is no Citus in this database" in line
    assert "CREATE EXTENSION citus" in line
    assert "nothing was changed" in line
    shell.out("migrate")
    shell.tenant("ada@acme.test")


def test_sqlite_is_refused(empty: Terminal) -> None:
    line = empty.refused("migrate", "--distribute")
    assert "this installation is on SQLite" in line
    assert not empty.data_dir.exists()
