import httpx
import pytest

from tests.cli.fixtures import Home
from tests.cli.terminal import PASSWORD, Terminal, log_in
from tests.support.databases import SQLITE_FIRST


def create(terminal: Terminal, tenant_id: str, email: str, role: str = "agent") -> None:
    options = ("--tenant", tenant_id, "--email", email, "--role", role, "--password-stdin")
    made = terminal.json("users", "create", *options, stdin=PASSWORD)
    assert made.keys() == {"user_id", "tenant_id"}
    assert made["tenant_id"] == tenant_id


def test_a_new_user_can_log_in(home: Home, acme: str) -> None:
    create(home.terminal, acme, "bo@acme.test", "super_admin")
    assert log_in(home.served.url, "bo@acme.test") == 200


def test_a_tenants_users_are_listed(terminal: Terminal) -> None:
    tenant_id = terminal.tenant("admin@users.test")
    create(terminal, tenant_id, "agent@users.test")
    listed = terminal.json("users", "list", "--tenant", tenant_id)
    roles = {user["email"]: user["role"] for user in listed}
    assert roles == {"admin@users.test": "tenant_admin", "agent@users.test": "agent"}


@pytest.mark.parametrize("tenant_id", ["00000000-0000-7000-8000-000000000000", "not a uuid"])
def test_listing_users_of_an_unknown_tenant_fails(terminal: Terminal, tenant_id: str) -> None:
    assert "no such tenant" in terminal.refused("users", "list", "--tenant", tenant_id)


def test_an_unknown_role_is_refused_and_the_roles_are_listed(terminal: Terminal, acme: str) -> None:
    options = ("--tenant", acme, "--email", "boss@acme.test", "--role", "boss")
    assert "'tenant_admin'" in terminal.refused("users", "create", *options, code=2)


def test_an_invalid_address_is_refused(terminal: Terminal, acme: str) -> None:
    options = ("--tenant", acme, "--email", "nobody", "--role", "agent", "--password-stdin")
    assert "e-mail" in terminal.refused("users", "create", *options, stdin=PASSWORD)


def test_a_new_password_replaces_the_old_one(home: Home, acme: str) -> None:
    create(home.terminal, acme, "cy@acme.test")
    new = "a wholly different passphrase"
    home.terminal.out("users", "set-password", "cy@acme.test", "--password-stdin", stdin=new)
    assert log_in(home.served.url, "cy@acme.test", new) == 200
    assert log_in(home.served.url, "cy@acme.test") == 401


@SQLITE_FIRST
def test_commands_refuse_the_users_own_name_as_password(home: Home, acme: str) -> None:
    create(home.terminal, acme, "ludmila@acme.test")
    near = ("users", "set-password", "ludmila@acme.test", "--password-stdin")
    assert "little else" in home.terminal.refused(*near, stdin="Ludmila.acme!")
    options = ("--tenant", acme, "--email", "vaclav@acme.test", "--role", "agent")
    refusal = home.terminal.refused(
        "users", "create", *options, "--password-stdin", stdin="vaclav-12345"
    )
    assert "little else" in refusal
    assert log_in(home.served.url, "ludmila@acme.test") == 200


def test_a_reset_link_sets_a_password_once(home: Home, acme: str) -> None:
    create(home.terminal, acme, "di@acme.test")
    made = home.terminal.json("users", "reset-link", "di@acme.test")
    assert made["url"].endswith(f"/reset#{made['token']}")
    reset = {"token": made["token"], "new": "a password of her own"}
    statuses = [
        httpx.post(f"{home.served.url}/api/v1/auth/reset", json=reset, timeout=60).status_code
        for _ in range(2)
    ]
    assert statuses == [204, 401]
    assert log_in(home.served.url, "di@acme.test", "a password of her own") == 200


def test_a_reset_link_for_an_unknown_address_is_refused(terminal: Terminal) -> None:
    assert "no user" in terminal.refused("users", "reset-link", "nobody@acme.test")


def test_a_released_address_can_be_taken_by_another_tenant(home: Home, acme: str) -> None:
    create(home.terminal, acme, "ceo@globex.test")
    globex = home.terminal.tenant("admin@globex.test", "Globex")
    options = ("--tenant", globex, "--email", "ceo@globex.test", "--role", "agent")
    create_again = ("users", "create", *options, "--password-stdin")
    assert "another user" in home.terminal.refused(*create_again, stdin=PASSWORD)
    done = home.terminal.run("users", "release", "ceo@globex.test", stdin="n\n")
    assert (done.returncode, "agent of Acme" in done.stdout + done.stderr) == (1, True)
    assert log_in(home.served.url, "ceo@globex.test") == 200
    assert "is free" in home.terminal.out("users", "release", "CEO@globex.test", stdin="y\n")
    assert log_in(home.served.url, "ceo@globex.test") == 401
    home.terminal.out(*create_again, stdin=PASSWORD)
    assert log_in(home.served.url, "ceo@globex.test") == 200
    listed = home.terminal.json("users", "list", "--tenant", acme)
    assert "ceo@globex.test" in {user["email"] for user in listed}, "an invited user again"


def test_releasing_an_address_that_nobody_has_fails(terminal: Terminal) -> None:
    assert "no user" in terminal.refused("users", "release", "nobody@acme.test", "--yes")
