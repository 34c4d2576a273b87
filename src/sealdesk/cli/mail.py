"""`sealdesk mail`: receives e-mail, and repairs texts from the messages that are kept."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Coroutine
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sealdesk.cli import held_messages
from sealdesk.errors import ConfigurationError, ServiceUnavailable
from sealdesk.settings import Settings
from sealdesk_mail_import import command as mail_import

if TYPE_CHECKING:
    from sealdesk.identity.store import Tenant
    from sealdesk.mail.receiving.types import ReceivedMessage
    from sealdesk.state import AppState

_TENANTS_AT_ONCE = 100

cli = typer.Typer(
    rich_markup_mode=None, help="Receive e-mail, import old messages, and repair texts."
)
cli.add_typer(mail_import.cli, name="import")
cli.command(epilog="Example: sealdesk mail held --tenant ID")(held_messages.held)
cli.command(epilog="Example: sealdesk mail release MESSAGE_ID --tenant ID")(held_messages.release)


@cli.callback(invoke_without_command=True)
def receive(context: typer.Context) -> None:
    """Receive e-mail for an installation on PostgreSQL, until SIGTERM or Ctrl-C.

    Reads the IMAP folders of mailboxes, and listens at SEALDESK_MAIL_LISTEN, if it is set, for a
    mail server such as Postfix, which hands messages over. Several processes share the folders.
    On SQLite, `serve` does all this itself. Logs are JSON lines on stderr.
    """
    if context.invoked_subcommand is not None:
        return
    # With the rooms and aiosmtpd 150 ms to import, which no other command needs.
    from sealdesk.cli import installation
    from sealdesk.installation.watch import Watch
    from sealdesk.mail import process
    from sealdesk.mail.receiving import listening
    from sealdesk.telemetry import descriptors, logs

    def watch(state: "AppState") -> Coroutine[Any, Any, None]:
        return Watch(state, "mail").run()

    settings = installation.postgres_settings("mail", "receives e-mail")
    installation.check_postgres(settings, settings.database_url)
    logs.configure(settings.log_level)
    descriptors.raise_limit()
    if not settings.mail.host:
        return process.serve(settings, None, _announce, watch)
    with listening.bind(settings.mail) as sock:
        process.serve(settings, sock, _announce, watch)


@cli.command(
    epilog="""\b
Examples:
  sealdesk mail reparse
  sealdesk mail reparse --since 2026-11-01"""
)
def reparse(
    since: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Only messages since this day.")
    ] = None,
) -> None:
    """Repair the texts of tickets and replies from the messages that are kept.

    For an update that corrects how messages are read. Messages are kept for 30 days. Descriptions
    that a user has changed stay as they are. The service may run.
    """
    from sealdesk.cli import installation

    settings = installation.prepare_settings()
    since_us = int(since.timestamp() * 1_000_000) if since else 0
    counts = asyncio.run(_reparse(settings, since_us))
    print(f"Read {counts[0]} messages again, and repaired the texts of {counts[1]}.")
    if counts[2]:
        raise ConfigurationError(f"{counts[2]} messages are missing in the storage")


async def _reparse(settings: Settings, since_us: int) -> tuple[int, int, int]:
    """How many messages were read, how many repaired, how many are missing."""
    from sealdesk.cli import installation
    from sealdesk.mail.receiving import reparsing

    read = repaired = missing = 0
    async with installation.opened_state(settings) as state:
        async for message in _messages(state, since_us):
            try:
                repaired += await reparsing.repair(state, message)
            except ServiceUnavailable:
                missing += 1
            read += 1
    return read, repaired, missing


async def _messages(state: "AppState", since_us: int) -> AsyncIterator["ReceivedMessage"]:
    from sealdesk import ids
    from sealdesk.mail.receiving import reparsing

    async for tenant in _tenants(state):
        after = ids.lowest(since_us)
        while page := await reparsing.list_kept(state, tenant.id, after):
            for message in page:
                yield message
            after = page[-1].id


async def _tenants(state: "AppState") -> AsyncIterator["Tenant"]:
    from sealdesk.db.engine import Work
    from sealdesk.identity import store

    def page_after(after: str) -> "Work[list[Tenant]]":
        return lambda tx: store.list_tenants(tx, after, _TENANTS_AT_ONCE)

    after = ""
    while page := await state.database.read(page_after(after)):
        for tenant in page:
            yield tenant
        after = page[-1].id


def _announce() -> None:
    if sys.stdout.isatty():
        print("Sealdesk is receiving e-mail · Ctrl-C stops it")
    else:
        logging.getLogger("sealdesk.serve").info("receiving")
