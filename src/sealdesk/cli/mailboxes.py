"""`sealdesk mailboxes`: adds, lists, tests, pauses and deletes mailboxes."""

import asyncio
import getpass
import sys
from typing import Annotated

import typer

from sealdesk.caller import SYSTEM, Caller
from sealdesk.cli.installation import Installation, open_installation
from sealdesk.cli.output import JsonOption, print_json, print_table
from sealdesk.errors import ConfigurationError, NotFound
from sealdesk.errors.general import NOT_FOUND
from sealdesk.http_client.resolver import Resolver
from sealdesk.mail.mailboxes import actions, passwords, problems, rules, store
from sealdesk.mail.mailboxes.connection_test import Passwords, run_test
from sealdesk.mail.mailboxes.directory import store as directory
from sealdesk.mail.mailboxes.types import (
    Mailbox,
    MailboxChange,
    NewMailbox,
    Receives,
    StepResult,
    address_identity,
)

_NO_SUCH_MAILBOX = NOT_FOUND.variant(
    "There is no such mailbox; sealdesk mailboxes list --tenant ID shows them."
)
_MARKS = {"done": "ok", "failed": "FAILED", "skipped": "-"}

cli = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Add, list, test, pause, resume and delete mailboxes.",
)
TenantId = Annotated[str, typer.Option("--tenant", metavar="ID", help="The tenant.")]
ReceivesOption = Annotated[
    Receives | None,
    typer.Option(
        help="How it receives: imap reads a folder, smtp takes from a mail server in front."
        " [default: imap with --imap-host, else no]"
    ),
]
Address = Annotated[str, typer.Argument(metavar="ADDRESS", help="The mailbox's e-mail address.")]


@cli.command("list")
def list_mailboxes(tenant: TenantId, json: JsonOption = False) -> None:
    """List a tenant's mailboxes, newest first, with what is wrong."""
    with open_installation() as installation:
        installation.get_tenant(tenant)
        found = installation.read(lambda tx: store.list_all(tx, tenant), tenant)
    if json:
        return print_json([rules.to_response(mailbox) for mailbox in found])
    columns = ("ADDRESS", "RECEIVES", "SENDS THROUGH", "STATE")
    rows = [(m.address, m.receives, m.smtp_host or "nothing", _state(m)) for m in found]
    print_table(columns, rows)


@cli.command(
    epilog="""\b
The passwords are asked for, or read from stdin: first that of IMAP, then that of SMTP.

\b
Example:
  sealdesk mailboxes add support@acme.test --tenant ID --imap-host imap.acme.test \\
      --smtp-host smtp.acme.test --username support@acme.test
  sealdesk mailboxes add support@acme.test --tenant ID --receives smtp \\
      --smtp-host smtp.acme.test"""
)
def add(
    address: Address,
    tenant: TenantId,
    imap_host: Annotated[str | None, typer.Option(help="The server whose folder is read.")] = None,
    smtp_host: Annotated[str | None, typer.Option(help="The server that sends.")] = None,
    receives: ReceivesOption = None,
    username: Annotated[str | None, typer.Option(help="The log-in on both servers.")] = None,
    folder: Annotated[str | None, typer.Option(help="The folder. [default: INBOX]")] = None,
    display_name: Annotated[str, typer.Option(help="The name beside the address.")] = "",
    starttls: Annotated[
        bool, typer.Option("--starttls", help="STARTTLS instead of TLS from the start.")
    ] = False,
) -> None:
    """Add a mailbox. More settings are on its page, under Settings, E-mail."""
    # 35 ms to import, with the metrics and the HTTP client, which other commands do not need.
    from sealdesk.web import body

    security = "starttls" if starttls else "tls"
    fields = {"address": address, "display_name": display_name}
    fields["receives"] = _choose_receives(receives, imap_host)
    for protocol, host in (("imap", imap_host), ("smtp", smtp_host)):
        if host is not None:
            fields |= {f"{protocol}_host": host, f"{protocol}_security": security}
            if username is not None:
                password = _ask_password(protocol.upper())
                fields |= {f"{protocol}_username": username, f"{protocol}_password": password}
    if imap_host and folder:
        fields["imap_folder"] = folder
    new = body.convert(fields, NewMailbox)
    with open_installation() as installation:
        installation.get_tenant(tenant)
        key_ring, now_us = installation.key_ring, installation.clock.now_us()
        caller = _system_caller(tenant)
        installation.write(
            lambda tx: actions.create_mailbox(tx, caller, new, key_ring=key_ring, now_us=now_us),
            tenant,
        )
    print(f"Added {address}. To test it: sealdesk mailboxes test {address}")


def _choose_receives(receives: Receives | None, imap_host: str | None) -> Receives:
    """Raises ConfigurationError."""
    if receives == "imap" and imap_host is None:
        raise ConfigurationError("--receives imap needs --imap-host")
    if receives in ("smtp", "no") and imap_host is not None:
        raise ConfigurationError(f"--imap-host is not for a mailbox with --receives {receives}")
    return receives or ("imap" if imap_host else "no")


@cli.command(epilog="Example: sealdesk mailboxes test support@acme.test")
def test(address: Address, json: JsonOption = False) -> None:
    """Test a mailbox: connect, log in, send a message to itself and see it arrive."""
    with open_installation() as installation:
        mailbox = _get_mailbox(installation, address)
        key_ring = installation.key_ring
        opened = Passwords(
            passwords.open_password(key_ring, mailbox, "imap"),
            passwords.open_password(key_ring, mailbox, "smtp"),
        )
        resolver = Resolver(installation.settings.mail_allowed_cidrs)
    steps = asyncio.run(_run(mailbox, opened, resolver))
    if json:
        print_json(steps)
    else:
        _print_steps(steps)
    if any(step.outcome == "failed" for step in steps):
        raise typer.Exit(1)


@cli.command(epilog="Example: sealdesk mailboxes pause support@acme.test")
def pause(address: Address) -> None:
    """Stop receiving and sending. Nothing is lost meanwhile."""
    _change(address, MailboxChange(is_paused=True))
    print(f"{address} is paused.")


@cli.command(epilog="Example: sealdesk mailboxes resume support@acme.test")
def resume(address: Address) -> None:
    """Receive and send again."""
    _change(address, MailboxChange(is_paused=False))
    print(f"{address} receives and sends again.")


@cli.command(epilog="Example: sealdesk mailboxes delete support@acme.test --yes")
def delete(
    address: Address,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Delete a mailbox with its passwords. Tickets stay."""
    with open_installation() as installation:
        mailbox = _get_mailbox(installation, address)
        if not yes:
            typer.confirm(f"Delete {mailbox.address}?", abort=True)
        caller, now_us = _system_caller(mailbox.tenant_id), installation.clock.now_us()
        installation.write(
            lambda tx: actions.delete_mailbox(tx, caller, mailbox.id, now_us=now_us),
            mailbox.tenant_id,
        )
    print(f"{address} is deleted.")


def _change(address: str, change: MailboxChange) -> None:
    with open_installation() as installation:
        mailbox = _get_mailbox(installation, address)
        caller, now_us = _system_caller(mailbox.tenant_id), installation.clock.now_us()
        installation.write(
            lambda tx: actions.change_mailbox(
                tx,
                caller,
                mailbox.id,
                change,
                key_ring=installation.key_ring,
                if_match=None,
                now_us=now_us,
            ),
            mailbox.tenant_id,
        )


def _get_mailbox(installation: Installation, address: str) -> Mailbox:
    """Raises NotFound."""
    identity = address_identity(address)
    place = installation.read(lambda tx: directory.find(tx, identity))
    if place is None:
        raise NotFound(_NO_SUCH_MAILBOX)
    return installation.read(
        lambda tx: actions.get_mailbox(tx, place.tenant_id, place.mailbox_id), place.tenant_id
    )


async def _run(mailbox: Mailbox, opened: Passwords, resolver: Resolver) -> list[StepResult]:
    try:
        return await run_test(mailbox, opened, resolver)
    finally:
        resolver.close()


def _print_steps(steps: list[StepResult]) -> None:
    rows = [(s.protocol.upper(), s.step, _MARKS[s.outcome], s.detail) for s in steps]
    print_table(("SERVER", "STEP", "RESULT", "DETAIL"), rows)
    for step in steps:
        if step.code is not None:
            print(f"\n{problems.MESSAGES[step.code]} {problems.REMEDIES[step.code]}")
    if not steps:
        print("There is nothing to test: the mailbox has no server.")


def _state(mailbox: Mailbox) -> str:
    found = mailbox.problems
    codes = [each.code for each in (found.receiving, found.sending) if each is not None]
    return ", ".join([*(["paused"] if mailbox.is_paused else []), *codes]) or "ok"


def _ask_password(server: str) -> str:
    if sys.stdin.isatty():
        return getpass.getpass(f"Password of {server}: ")
    try:
        return sys.stdin.buffer.readline().decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ConfigurationError("the password on stdin is not UTF-8") from error


def _system_caller(tenant_id: str) -> Caller:
    return Caller(tenant_id, SYSTEM, frozenset(), "")
