from pathlib import Path

import pytest

from tests.cli.fixtures import Home
from tests.cli.terminal import PASSWORD, Terminal, log_in


def test_a_new_tenants_administrator_can_log_in_at_once(home: Home) -> None:
    home.terminal.tenant("first@new.test", "New")
    assert log_in(home.served.url, "first@new.test") == 200


def test_a_new_tenant_is_listed(terminal: Terminal) -> None:
    tenant_id = terminal.tenant("admin@listed.test", "Listed")
    listed = {tenant["id"]: tenant["name"] for tenant in terminal.json("tenants", "list")}
    assert listed[tenant_id] == "Listed"


def test_a_tenant_is_not_created_without_its_administrator(terminal: Terminal, acme: str) -> None:
    before = terminal.json("tenants", "list")
    options = ("--name", "Half", "--admin-email", "ADA@acme.test", "--admin-password-stdin")
    refusal = terminal.refused("tenants", "create", *options, stdin=PASSWORD)
    assert "ADA@acme.test is the address of another user" in refusal
    assert terminal.json("tenants", "list") == before


@pytest.mark.parametrize("password", ["eleven char", "x" * 1025])
def test_a_password_of_a_bad_length_is_refused(terminal: Terminal, password: str) -> None:
    options = ("--name", "Short", "--admin-email", "s@short.test", "--admin-password-stdin")
    refusal = terminal.refused("tenants", "create", *options, stdin=f"{password}\n")
    assert "12 to 1024 characters" in refusal


@pytest.mark.parametrize(
    ("password", "why"),
    [("Password1234", "common passwords"), ("Hillside 2026!", "little else than a name")],
)
def test_a_common_password_is_refused(terminal: Terminal, password: str, why: str) -> None:
    options = ("--name", "Hillside", "--admin-email", "h@hill.test", "--admin-password-stdin")
    refusal = terminal.refused("tenants", "create", *options, stdin=password)
    assert why in refusal
    assert "Nothing was changed" in refusal


def test_without_a_terminal_the_password_option_is_named(terminal: Terminal) -> None:
    options = ("--name", "Mute", "--admin-email", "m@mute.test")
    assert "--admin-password-stdin" in terminal.refused("tenants", "create", *options)


def test_the_next_step_is_that_of_the_readme(terminal: Terminal) -> None:
    options = ("--name", "Next", "--admin-email", "ada@next.test", "--admin-password-stdin")
    said = terminal.out("tenants", "create", *options, stdin=PASSWORD)
    assert "Next, log in as ada@next.test and create a key" in said
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    assert "log in as `ada@acme.test` and create a key" in readme


def test_a_password_file_of_windows_has_the_password_that_was_typed(terminal: Terminal) -> None:
    options = ("--name", "Win", "--admin-email", "w@win.test", "--admin-password-stdin")
    marked = terminal.out("tenants", "create", *options, stdin=f"\ufeff{PASSWORD}\r\n")
    assert "w@win.test" in marked
    # With the mark this would have twelve characters.
    again = ("users", "set-password", "w@win.test", "--password-stdin")
    assert "12 to 1024" in terminal.refused(*again, stdin="\ufeffeleven char")
    utf_16 = PASSWORD.encode("utf-16-le").decode()
    assert "not UTF-8" in terminal.refused(*again, stdin=utf_16)


def test_an_argument_in_another_encoding_is_named(terminal: Terminal) -> None:
    name = b"T\xf6chter".decode("utf-8", "surrogateescape")
    refusal = terminal.refused("tenants", "create", "--name", name, "--admin-email", "a@b.test")
    assert "not UTF-8" in refusal
    assert "bug" not in refusal
