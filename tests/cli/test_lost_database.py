"""A start with keys but without their database, or with a database but without its keys."""

import shutil

import pytest

from tests.cli.fixtures import Home, on_a_file
from tests.cli.terminal import Terminal, serving
from tests.support.service import random_key


def _lose_database(terminal: Terminal) -> None:
    for path in terminal.data_dir.glob("sealdesk.db*"):
        path.unlink()


@pytest.mark.parametrize("command", [("serve", "--port", "0"), ("migrate",), ("tenants", "list")])
def test_no_empty_database_is_made_beside_the_keys_of_a_lost_one(
    installed: Terminal, command: tuple[str, ...]
) -> None:
    _lose_database(installed)
    refusal = installed.refused(*command)
    assert "master.key shows that there was a database" in refusal
    assert "sealdesk restore" in refusal
    assert not list(installed.data_dir.glob("sealdesk.db"))


def test_doctor_reports_a_lost_database(installed: Terminal) -> None:
    _lose_database(installed)
    failed = installed.run("doctor")
    assert (failed.returncode, "shows that there was a database" in failed.stdout) == (1, True)


def test_no_database_is_made_in_the_place_of_an_empty_file(installed: Terminal) -> None:
    _lose_database(installed)
    (installed.data_dir / "sealdesk.db").touch()
    assert "missing or empty" in installed.refused("migrate")


def test_served_database_that_is_gone_is_not_made_anew_with_keys_of_the_environment(
    installed: Terminal,
) -> None:
    with_keys = installed.with_env(
        SEALDESK_DATABASE_URL=f"sqlite:///{installed.data_dir}/other.db",
        SEALDESK_MASTER_KEY=random_key(),
        SEALDESK_JWT_SECRET=random_key(),
    )
    for path in installed.data_dir.glob("*.key"):
        path.unlink()
    with_keys.out("migrate")
    with serving(with_keys):
        (installed.data_dir / "other.db").unlink()
    assert "other.db.serve-lock shows" in with_keys.refused("migrate")


def test_first_start_that_was_interrupted_after_the_keys_continues(empty: Terminal) -> None:
    empty.run("doctor")
    empty.data_dir.mkdir()
    assert empty.run("doctor").returncode == 1
    assert (empty.data_dir / "master.key").exists()
    empty.out("migrate")
    assert not (empty.data_dir / "first-start").exists()
    _lose_database(empty)
    assert "shows that there was a database" in empty.refused("migrate")


@on_a_file
def test_server_does_not_start_with_the_master_key_of_another_database(
    home: Home, installed: Terminal
) -> None:
    shutil.copy(home.terminal.data_dir / "sealdesk.db", installed.data_dir)
    refusal = installed.refused("serve", "--port", "0")
    assert "cannot be opened" in refusal
    assert "is the key of this database" in refusal


def test_server_does_not_start_with_another_master_key(terminal: Terminal) -> None:
    other = terminal.with_env(
        SEALDESK_MASTER_KEY=random_key(), SEALDESK_PER_PROCESS_LIMITS="accept"
    )
    refusal = other.refused("serve", "--port", "0")
    assert "Check that SEALDESK_MASTER_KEY" in refusal
