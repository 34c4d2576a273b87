"""`sealdesk mailboxes`."""

from uuid import uuid4

from tests.cli.terminal import Terminal
from tests.support.databases import SQLITE_FIRST

_SECRET = "hunter2-mailbox"


@SQLITE_FIRST
def test_a_mailbox_is_added_listed_paused_and_deleted(terminal: Terminal, acme: str) -> None:
    address = f"{uuid4().hex[:20]}@acme.test"
    servers = ("--imap-host", "imap.acme.test", "--smtp-host", "smtp.acme.test")
    options = ("--tenant", acme, *servers, "--username", "desk", "--starttls")
    added = terminal.out("mailboxes", "add", address, *options, stdin=f"{_SECRET}\n{_SECRET}\n")
    assert address in added and _SECRET not in added
    (shown,) = terminal.json("mailboxes", "list", "--tenant", acme)
    assert (shown["imap_port"], shown["smtp_port"], shown["is_paused"]) == (143, 587, False)
    assert shown["has_imap_password"] and shown["has_smtp_password"]
    assert _SECRET not in str(shown)
    terminal.out("mailboxes", "pause", address)
    assert "paused" in terminal.out("mailboxes", "list", "--tenant", acme)
    terminal.out("mailboxes", "resume", address.upper())
    assert "paused" not in terminal.out("mailboxes", "list", "--tenant", acme)
    terminal.out("mailboxes", "delete", address, "--yes")
    assert terminal.json("mailboxes", "list", "--tenant", acme) == []
    assert "no such mailbox" in terminal.refused("mailboxes", "pause", address)
    waits = terminal.refused("mailboxes", "verify", address, "--tenant", acme)
    assert "waits until" in waits


@SQLITE_FIRST
def test_a_test_names_the_step_that_fails(terminal: Terminal, acme: str) -> None:
    address = f"{uuid4().hex[:20]}@acme.test"
    terminal.out("mailboxes", "add", address, "--tenant", acme, "--smtp-host", "smtp.invalid")
    tested = terminal.run("mailboxes", "test", address)
    assert tested.returncode == 1
    for words in ("SMTP", "FAILED", "smtp.invalid has no address", "Check the name of the server"):
        assert words in tested.stdout
    terminal.out("mailboxes", "delete", address, "--yes")


def test_a_mailbox_that_a_mail_server_hands_messages_to_is_added(
    terminal: Terminal, acme: str
) -> None:
    address = f"{uuid4().hex[:20]}@acme.test"
    add = ("mailboxes", "add", address, "--tenant", acme)
    terminal.out(*add, "--receives", "smtp")
    found = terminal.json("mailboxes", "list", "--tenant", acme)
    (shown,) = (each for each in found if each["address"] == address)
    assert (shown["receives"], shown["imap_host"], shown["smtp_host"]) == ("smtp", None, None)
    terminal.out("mailboxes", "delete", address, "--yes")
    assert "needs --imap-host" in terminal.refused(*add, "--receives", "imap")
    refusal = terminal.refused(*add, "--receives", "smtp", "--imap-host", "imap.acme.test")
    assert "--imap-host is not for a mailbox with --receives smtp" in refusal
