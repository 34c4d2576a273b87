"""`sealdesk domains`."""

import json
from uuid import uuid4

from tests.cli.terminal import Terminal
from tests.support.databases import SQLITE_FIRST


@SQLITE_FIRST
def test_an_assigned_domain_is_one_desks_until_it_is_released(
    terminal: Terminal, acme: str
) -> None:
    domain = f"d{uuid4().hex[:20]}.test"
    other = terminal.tenant(f"eve@{domain}")
    old, new = f"old@{domain}", f"new@{domain}"
    terminal.out("mailboxes", "add", old, "--tenant", other)
    assigned = terminal.out("domains", "assign", domain.upper(), "--tenant", acme)
    assert f"{old} stays a mailbox of {other}" in assigned
    assert "is assigned to another desk" in terminal.refused(
        "mailboxes", "add", new, "--tenant", other
    )
    terminal.out("mailboxes", "add", new, "--tenant", acme)
    (listed,) = (each for each in terminal.json("domains", "list") if each["domain"] == domain)
    assert (listed["tenant_id"], listed["contested"]) == (acme, [old])
    # Its exit status is of all checks, and nobody serves this database here.
    found = json.loads(terminal.run("doctor", "--json").stdout)
    assert [each["state"] for each in found if old in each["text"]] == ["note"]
    terminal.out("domains", "assign", domain, "--tenant", acme)
    assert acme in terminal.refused("domains", "assign", domain, "--tenant", other)
    terminal.out("domains", "release", domain)
    terminal.out("mailboxes", "add", f"more@{domain}", "--tenant", other)
    assert "is not assigned" in terminal.refused("domains", "release", domain)
    terminal.out("domains", "share", domain)
    assert "every tenant" in terminal.refused("domains", "assign", domain, "--tenant", acme)
    (listed,) = (each for each in terminal.json("domains", "list") if each["domain"] == domain)
    assert (listed["tenant_id"], listed["contested"]) == (None, [])
    terminal.out("domains", "release", domain)
    for address in (old, new, f"more@{domain}"):
        terminal.out("mailboxes", "delete", address, "--yes")


def test_what_is_no_domain_is_refused(terminal: Terminal, acme: str) -> None:
    for name in ("acme", "a b.test", "127.0.0.1", "ada@acme.test"):
        assert "is no domain" in terminal.refused("domains", "assign", name, "--tenant", acme)
