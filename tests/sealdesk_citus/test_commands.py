"""`sealdesk nodes` where there is no Citus."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sealdesk_citus.checks import check_node, check_versions
from tests.cli.terminal import Terminal
from tests.support.databases import Template

_COMMANDS = [
    ("list",),
    ("isolate", "0190f3a0-0000-7000-8000-000000000000"),
    ("move", "0190f3a0-0000-7000-8000-000000000000", "host:5432"),
    ("rebalance",),
    ("doctor",),
]
_STATE = {
    "version": "15.20",
    "citus": "13.2-1",
    "wal_level": "logical",
    "max_prepared_transactions": 200,
    "max_connections": 300,
    "output_plugins": None,
    "prepared": 0,
    "roles": ["desk"],
}


@pytest.fixture
def shell(postgres_template: Template, tmp_path: Path) -> Iterator[Terminal]:
    """A shell with an installation on plain PostgreSQL."""
    with postgres_template.copied() as env:
        yield Terminal(tmp_path / "data", **env)


@pytest.mark.parametrize("command", _COMMANDS, ids=[command[0] for command in _COMMANDS])
def test_plain_postgresql_has_no_nodes(shell: Terminal, command: tuple[str, ...]) -> None:
    assert "one PostgreSQL server without Citus" in shell.refused("nodes", *command)


def test_sqlite_has_no_nodes(empty: Terminal) -> None:
    assert "SEALDESK_OWNER_DATABASE_URL is missing" in empty.refused("nodes", "list")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"wal_level": "replica"}, "wal_level = replica"),
        ({"max_prepared_transactions": 0}, "max_prepared_transactions = 0"),
        ({"output_plugins": "pgoutput, test_decoding"}, "output_plugin_libraries"),
        ({"roles": []}, "desk does not exist there"),
        ({"prepared": 2}, "2 prepared transactions"),
    ],
)
def test_a_fault_of_a_node_is_reported(fault: dict[str, object], words: str) -> None:
    assert check_node("one:5432", _STATE, ("desk",)).state == "good"
    finding = check_node("one:5432", {**_STATE, **fault}, ("desk",))
    assert finding.state == "bad"
    assert words in finding.text


def test_a_node_that_does_not_respond_and_other_versions_are_reported() -> None:
    assert check_node("one:5432", "failed to connect", ()).state == "bad"
    assert check_versions([_STATE, {**_STATE, "version": "16.1"}]).state == "note"
