import base64
import os
from contextlib import closing
from typing import Any

import pytest

from sealdesk.caller import SYSTEM, Caller
from sealdesk.cli.installation import SqliteAccess
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db.engine import Tx
from sealdesk.db.sqlite.connection import connect
from sealdesk.webhooks import actions as webhooks
from sealdesk.webhooks.types import NewWebhook
from tests.cli.terminal import Terminal
from tests.support.service import settings_in

TICKETS = "/api/v1/external/tickets"


def create(terminal: Terminal, tenant_id: str, *options: str) -> dict[str, Any]:
    created = terminal.json("keys", "create", "--tenant", tenant_id, "--name", "Shop", *options)
    return dict(created)


def with_key(terminal: Terminal, key: dict[str, Any]) -> Terminal:
    """Return a shell with the variables of this key."""
    return terminal.with_env(SEALDESK_API_KEY=key["api_key"], SEALDESK_API_SECRET=key["api_secret"])


def test_a_new_key_signs_requests_at_once(terminal: Terminal, acme: str) -> None:
    key = create(terminal, acme)
    assert with_key(terminal, key).run("call", "GET", TICKETS).returncode == 0


def test_a_test_key_is_made_beside_the_live_ones_and_listed(terminal: Terminal, acme: str) -> None:
    key = create(terminal, acme, "--test")
    assert key["api_key"].startswith("tk_test_")
    assert with_key(terminal, key).run("call", "GET", TICKETS).returncode == 0
    listed = terminal.json("keys", "list", "--tenant", acme)
    assert [one["mode"] for one in listed if one["id"] == key["id"]] == ["test"]
    terminal.out("keys", "revoke", key["id"])
    assert with_key(terminal, key).run("call", "GET", TICKETS).returncode != 0


def test_a_key_has_the_given_permissions_limit_and_expiry(terminal: Terminal, acme: str) -> None:
    permissions = ("--permission", "customers:read", "--permission", "tickets:read")
    limits = ("--rate-limit", "7", "--expires-at", "2099-01-31T00:00:00Z")
    key = create(terminal, acme, *permissions, *limits)
    assert key["permissions"] == ["tickets:read", "customers:read"]
    assert (key["rate_limit"], key["expires_at"]) == (7, "2099-01-31T00:00:00.000000Z")


def test_every_invalid_field_of_a_new_key_is_named(terminal: Terminal, acme: str) -> None:
    options = ("--name", " ", "--permission", "tickets:burn", "--rate-limit", "0")
    refusal = terminal.refused("keys", "create", "--tenant", acme, *options)
    for part in ("name: ", "'tickets:burn' is not a permission", "rate_limit: "):
        assert part in refusal


def test_a_revoked_key_is_refused_and_still_listed(terminal: Terminal) -> None:
    tenant_id = terminal.tenant("admin@revoking.test")
    key = create(terminal, tenant_id)
    terminal.out("keys", "revoke", key["id"])
    called = with_key(terminal, key).run("call", "GET", TICKETS)
    assert (called.returncode, called.stderr) == (1, "401 Unauthorized\n")
    assert "api_key_revoked" in called.stdout
    (listed,) = terminal.json("keys", "list", "--tenant", tenant_id)
    assert (listed["id"], listed["is_active"]) == (key["id"], False)
    assert not {"api_key", "api_secret"} & listed.keys()


def test_a_rotated_key_works_with_its_new_secret_only(terminal: Terminal, acme: str) -> None:
    key = create(terminal, acme)
    rotated = terminal.json("keys", "rotate", key["id"])
    new_key = {**key, "api_secret": rotated["api_secret"]}
    assert with_key(terminal, new_key).run("call", "GET", TICKETS).returncode == 0
    assert "invalid_signature" in with_key(terminal, key).run("call", "GET", TICKETS).stdout


def test_a_key_that_the_server_knows_has_ended_when_a_command_has(
    terminal: Terminal, acme: str
) -> None:
    key, other = create(terminal, acme), create(terminal, acme)
    for each in (key, other):
        assert with_key(terminal, each).run("call", "GET", TICKETS).returncode == 0
    terminal.out("keys", "revoke", key["id"])
    assert "api_key_revoked" in with_key(terminal, key).run("call", "GET", TICKETS).stdout
    terminal.json("keys", "rotate", other["id"])
    assert "invalid_signature" in with_key(terminal, other).run("call", "GET", TICKETS).stdout


def test_a_revoked_key_cannot_be_rotated(terminal: Terminal, acme: str) -> None:
    key = create(terminal, acme)
    terminal.out("keys", "revoke", key["id"])
    assert "revoked for good" in terminal.refused("keys", "rotate", key["id"])


@pytest.mark.parametrize("key_id", ["00000000-0000-7000-8000-000000000000", "not a uuid"])
def test_an_unknown_key_is_refused(terminal: Terminal, key_id: str) -> None:
    assert "no such key" in terminal.refused("keys", "revoke", key_id)


def test_resealed_secrets_do_not_need_the_old_master_key(installed: Terminal) -> None:
    tenant_id = installed.tenant("ada@acme.test")
    create(installed, tenant_id)
    _add_webhook(installed, tenant_id)
    old = (installed.data_dir / "master.key").read_text().strip()
    new = base64.b64encode(os.urandom(32)).decode()
    both = installed.with_env(SEALDESK_MASTER_KEY=f"{new},{old}")
    assert "Resealed 2 of 2 secrets" in both.out("keys", "reseal")
    assert "Resealed 0 of 2" in installed.with_env(SEALDESK_MASTER_KEY=new).out("keys", "reseal")
    assert "cannot be opened" in installed.refused("keys", "reseal")


def test_webhook_secrets_that_cannot_be_opened_are_named(installed: Terminal) -> None:
    webhook_id = _add_webhook(installed, installed.tenant("ada@acme.test"))
    other = installed.with_env(SEALDESK_MASTER_KEY=base64.b64encode(os.urandom(32)).decode())
    assert f"the secret of webhook {webhook_id}" in other.refused("keys", "reseal")


def _add_webhook(installed: Terminal, tenant_id: str) -> str:
    """Create an endpoint with two secrets without connecting to its URL; return its id."""
    caller = Caller(tenant_id, SYSTEM, frozenset(), "")
    new = NewWebhook("https://example.test/", ["ticket.created"])
    settings = settings_in(installed.data_dir)
    key_ring = KeyRing(settings.master_keys)

    async def work(tx: Tx) -> str:
        created = await webhooks.create_webhook(tx, caller, new, key_ring=key_ring, now_us=1)
        await webhooks.rotate_secret(tx, caller, created.id, key_ring=key_ring, now_us=1)
        return created.id

    with closing(connect(settings.database_path)) as connection:
        return SqliteAccess(connection).write(work)
