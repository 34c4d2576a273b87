"""`sealdesk mail import`: old messages of a mailbox become tickets and replies."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sealdesk.cli.command_group import command_group
from sealdesk.cli.output import print_table
from sealdesk.errors import ConfigurationError, ServiceUnavailable
from sealdesk.settings import Settings

if TYPE_CHECKING:
    from sealdesk.mail.mailboxes.types import Mailbox
    from sealdesk.state import AppState
    from sealdesk_mail_import.order import Order
    from sealdesk_mail_import.types import Failure, Source, Totals

    OpenSources = Callable[[AppState, Mailbox], Sequence[Source]]

_MAX_SHOWN = 1000  # of the messages that could not be imported
_OUTCOMES = (
    ("ticket", "tickets"),
    ("reply", "replies"),
    ("note", "internal notes"),
    ("spam", "waiting as spam"),
    ("blocked", "waiting, of a blocked sender"),
    ("ignored", "left out: reports, and the desk's automatic messages"),
)
Status = Literal["resolved", "open"]
Paths = Annotated[list[Path], typer.Argument(metavar="PATH", show_default=False)]
MailboxOption = Annotated[
    str, typer.Option("--mailbox", metavar="ADDRESS", help="The mailbox that gets the messages.")
]
StatusOption = Annotated[Status, typer.Option(help="The status of the tickets.")]

cli = command_group("Import the old messages of a mailbox: tickets and replies with their times.")


@cli.command(epilog="Example: sealdesk mail import mbox inbox.mbox sent.mbox --mailbox ADDRESS")
def mbox(paths: Paths, mailbox: MailboxOption, status: StatusOption = "resolved") -> None:
    """Import mbox files, as Gmail, Thunderbird and most other programs write them.

    Name all files of a mailbox together, with that of sent messages: replies are put in order
    within one run. Nothing is sent to anybody. Run the command again to continue after an
    interruption: each message is imported once. The service may run.
    """
    # With the rooms 150 ms to import, which no other command needs.
    from sealdesk_mail_import.local import LocalSource
    from sealdesk_mail_import.mbox import Mbox

    _import(lambda *_: [LocalSource(Mbox(path)) for path in paths], mailbox, status)


@cli.command(epilog="Example: sealdesk mail import maildir Maildir Maildir/.Sent --mailbox ADDRESS")
def maildir(paths: Paths, mailbox: MailboxOption, status: StatusOption = "resolved") -> None:
    """Import Maildir folders, as Dovecot and Courier keep them.

    Drafts and messages in the bin are left out, and so are folders within a folder: name each.
    Otherwise as `mbox`.
    """
    from sealdesk_mail_import.local import LocalSource
    from sealdesk_mail_import.maildir import Maildir

    _import(lambda *_: [LocalSource(Maildir(path)) for path in paths], mailbox, status)


@cli.command(
    "imap-folder", epilog="Example: sealdesk mail import imap-folder INBOX Sent --mailbox ADDRESS"
)
def imap_folder(
    folders: Annotated[list[str], typer.Argument(metavar="FOLDER", show_default=False)],
    mailbox: MailboxOption,
    status: StatusOption = "resolved",
) -> None:
    """Import folders of the mailbox's own IMAP server, with its stored password.

    Nothing is changed on the server. Otherwise as `mbox`.
    """
    from sealdesk_mail_import.imap_folder import ImapFolder

    _import(
        lambda state, found: [ImapFolder(state, found, each) for each in folders], mailbox, status
    )


def _import(open_sources: "OpenSources", address: str, status: Status) -> None:
    # As above: 150 ms.
    from sealdesk.cli import installation
    from sealdesk.mail.mailboxes import problems
    from sealdesk.mail.servers import MailFailed
    from sealdesk_mail_import.types import NotAMailbox

    settings = installation.prepare_settings()
    try:
        failures, totals, left_out = asyncio.run(_run(settings, open_sources, address, status))
    except (NotAMailbox, OSError) as error:
        raise ConfigurationError(str(error)) from error
    except MailFailed as error:
        raise ConfigurationError(
            f"{problems.MESSAGES[error.code]} {error.detail} {problems.REMEDIES[error.code]}"
            " To continue, run the same command again"
        ) from error
    except KeyboardInterrupt:
        print("sealdesk: to continue the import, run the same command again", file=sys.stderr)
        raise
    except ServiceUnavailable as error:
        reason = error.__cause__ or error
        raise ConfigurationError(
            f"the import stopped: {reason}. To continue it, run the same command again"
        ) from error
    _print(totals, failures, left_out)
    if totals.failed:
        raise typer.Exit(1)


async def _run(
    settings: Settings, open_sources: "OpenSources", address: str, status: Status
) -> "tuple[list[Failure], Totals, int]":
    """Also how many messages were left out."""
    from sealdesk.cli.installation import opened_state
    from sealdesk.cli.progress import show_progress
    from sealdesk_mail_import import running

    failures: list[Failure] = []
    sources: Sequence[Source] = ()

    def note(failure: "Failure") -> None:
        if len(failures) < _MAX_SHOWN:
            failures.append(failure)

    async with opened_state(settings) as state:
        try:
            mailbox = await _get_mailbox(state, address)
            sources = open_sources(state, mailbox)
            order = await _read(sources, state.clock.now_us() // 1_000_000)
            with show_progress("messages") as progress:
                progress.begin("import", "messages", 0, len(order))
                run = running.Import(
                    state, running.Wanted(mailbox, status), running.Progress(progress.advance, note)
                )
                totals = await run.run(order)
            return failures, totals, sum(source.left_out for source in sources)
        finally:
            for source in sources:
                source.close()


async def _read(sources: "Sequence[Source]", now_s: int) -> "Order":
    from sealdesk.cli.progress import show_progress
    from sealdesk_mail_import import running

    with show_progress("bytes") as progress:
        progress.begin("read", "messages", 0, sum(source.size_bytes for source in sources))
        return await running.read_sources(sources, now_s, progress.advance)


async def _get_mailbox(state: "AppState", address: str) -> "Mailbox":
    """Raises ConfigurationError."""
    from sealdesk.mail.mailboxes.store import directory, mailboxes
    from sealdesk.mail.mailboxes.types import address_identity

    identity = address_identity(address)
    place = await state.database.read(lambda tx: directory.find(tx, identity))
    if place is not None:
        tenant_id, mailbox_id = place
        found = await state.database.read(
            lambda tx: mailboxes.find(tx, tenant_id, mailbox_id), tenant_id
        )
        if found is not None:
            return found
    raise ConfigurationError(
        f"there is no mailbox {address}; `sealdesk mailboxes add` makes one, which need not receive"
    )


def _print(totals: "Totals", failures: "Sequence[Failure]", left_out: int) -> None:
    rows = [(name, totals.outcomes[outcome]) for outcome, name in _OUTCOMES]
    rows += [
        ("left out: drafts, and messages in the bin", left_out),
        ("imported before", totals.known),
        ("not imported", totals.failed),
    ]
    print_table(("MESSAGES", "COUNT"), [(name, f"{n:,}") for name, n in rows if n])
    if totals.unclear:
        print(
            f"\n{totals.unclear:,} could not be understood in all parts: they are attached whole."
        )
    for each in failures:
        print(f"sealdesk: {each.place}: {each.reason}", file=sys.stderr)
    if totals.failed > len(failures):
        print(f"sealdesk: and {totals.failed - len(failures):,} more", file=sys.stderr)
