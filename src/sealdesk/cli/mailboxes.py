"""`sealdesk mailboxes`: adds, lists, tests, verifies, pauses and deletes mailboxes."""

import asyncio
import getpass
import sys
import time
from typing import Annotated

import typer

from sealdesk.cli.command_group import command_group
from sealdesk.cli.installation import Installation, open_installation
from sealdesk.cli.output import JsonOption, print_json, print_table
from sealdesk.cli.passwords import read_password_line
from sealdesk.crypto.sealing import KeyRing
from sealdesk.errors import ConfigurationError, NotFound
from sealdesk.errors.general import NOT_FOUND
from sealdesk.http_client import HttpClient
from sealdesk.http_client.resolver import Resolver
from sealdesk.mail.mailboxes import actions, domain_check, log_ins, problems, rules
from sealdesk.mail.mailboxes.connection_test import LogIns, run_test
from sealdesk.mail.mailboxes.store import directory, mailboxes
from sealdesk.mail.mailboxes.types import (
    Mailbox,
    MailboxChange,
    NewMailbox,
    Receives,
    StepResult,
    address_identity,
)
from sealdesk.mail.servers import MailFailed
from sealdesk.oauth.tokens import AccessTokens
from sealdesk.settings import Settings

_NO_SUCH_MAILBOX = NOT_FOUND.variant(
    "There is no such mailbox; sealdesk mailboxes list --tenant ID shows them."
)
_MARKS = {"done": "ok", "failed": "FAILED", "skipped": "-"}

cli = command_group("Add, list, test, pause, resume and delete mailboxes.")
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
        found = installation.fetch(tenant, mailboxes.list_all)
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
        installation.act(tenant, actions.create_mailbox, new, key_ring=key_ring, now_us=now_us)
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
        key_ring, settings = installation.key_ring, installation.settings
    steps = asyncio.run(_run(mailbox, key_ring, settings))
    if json:
        print_json(steps)
    else:
        _print_steps(mailbox, steps)
        for fault in asyncio.run(domain_check.check_domain(mailbox.address, domain_check.look_up)):
            print(f"\n{domain_check.MESSAGES[fault]}")
    if any(step.outcome == "failed" for step in steps):
        raise typer.Exit(1)


@cli.command(epilog="Example: sealdesk mailboxes verify support@acme.test --tenant ID")
def verify(address: Address, tenant: TenantId) -> None:
    """Say that an address is a tenant's, which a mailbox waits for."""
    identity = address_identity(address)
    with open_installation() as installation:
        waiting = installation.fetch(tenant, mailboxes.list_all)
        found = next((each for each in waiting if identity in each.unverified), None)
        if found is None:
            raise ConfigurationError(f"no mailbox of {tenant} waits until {address} is verified")
        now_us = installation.clock.now_us()
        installation.act(tenant, actions.verify_address, found.id, identity, now_us=now_us)
    print(f"{address} is an address of {tenant}.")


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
        now_us = installation.clock.now_us()
        installation.act(mailbox.tenant_id, actions.delete_mailbox, mailbox.id, now_us=now_us)
    print(f"{address} is deleted.")


def _change(address: str, change: MailboxChange) -> None:
    with open_installation() as installation:
        mailbox = _get_mailbox(installation, address)
        installation.act(
            mailbox.tenant_id,
            actions.change_mailbox,
            mailbox.id,
            change,
            key_ring=installation.key_ring,
            if_match=None,
            now_us=installation.clock.now_us(),
        )


def _get_mailbox(installation: Installation, address: str) -> Mailbox:
    """Raises NotFound."""
    identity = address_identity(address)
    place = installation.read(lambda tx: directory.find(tx, identity))
    if place is None:
        raise NotFound(_NO_SUCH_MAILBOX)
    return installation.fetch(place.tenant_id, actions.get_mailbox, place.mailbox_id)


async def _run(mailbox: Mailbox, key_ring: KeyRing, settings: Settings) -> list[StepResult]:
    resolver = Resolver(settings.mail_allowed_cidrs)
    http_client = HttpClient(settings.webhook_allowed_cidrs, allow_http=settings.webhook_allow_http)
    access_tokens = AccessTokens(http_client, settings.mail.oauth_clients, time.monotonic)
    try:
        imap, _ = await log_ins.get_log_in(key_ring, access_tokens, mailbox, "imap")
        smtp, _ = await log_ins.get_log_in(key_ring, access_tokens, mailbox, "smtp")
        return await run_test(mailbox, LogIns(imap, smtp), resolver)
    except MailFailed as error:
        return [StepResult("smtp", "log_in", "failed", error.code, error.detail)]
    finally:
        await http_client.close()
        resolver.close()


def _print_steps(mailbox: Mailbox, steps: list[StepResult]) -> None:
    rows = [(s.protocol.upper(), s.step, _MARKS[s.outcome], s.detail) for s in steps]
    print_table(("SERVER", "STEP", "RESULT", "DETAIL"), rows)
    for step in steps:
        if step.code is not None:
            remedy = problems.remedy(step.code, rules.host_of(mailbox, step.protocol))
            print(f"\n{problems.MESSAGES[step.code]} {remedy}")
    if not steps:
        print("There is nothing to test: the mailbox has no server.")


def _state(mailbox: Mailbox) -> str:
    found = mailbox.problems
    codes = [each.code for each in (found.receiving, found.sending) if each is not None]
    waits = [f"{each} is not yet verified" for each in mailbox.unverified]
    is_paused = mailbox.is_paused and not mailbox.is_unverified
    return ", ".join([*(["paused"] if is_paused else []), *waits, *codes]) or "ok"


def _ask_password(server: str) -> str:
    if sys.stdin.isatty():
        return getpass.getpass(f"Password of {server}: ")
    return read_password_line()
