"""`sealdesk attachments`: moves attachments between the data directory and a bucket."""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from sealdesk.cli.command_group import command_group
from sealdesk.cli.output import print_table
from sealdesk.cli.progress import ProgressBars, ProgressLines, show_progress
from sealdesk.crypto.encrypted_file import DamagedFile
from sealdesk.errors import ConfigurationError, ServiceUnavailable
from sealdesk.settings import Settings, from_env

if TYPE_CHECKING:
    from sealdesk.tickets.attachments.storage import Storage
    from sealdesk.tickets.attachments.types import StoredContent

Progress = ProgressBars | ProgressLines
_AT_ONCE = 8  # requests that one tenant may have at a bucket
_PLACES = ("bucket", "directory")
_MAX_SHOWN = 20
EXAMPLES = """\b
Examples:
  sealdesk attachments move --to bucket
  sealdesk attachments move --to directory"""

cli = command_group("Move attachments between the data directory and a bucket.")


@cli.callback()
def group() -> None:
    """Keeps `move` a command of its own."""


@cli.command(epilog=EXAMPLES)
def move(to: Annotated[str, typer.Option(help="The target: bucket or directory.")]) -> None:
    """Copy attachments from the data directory to the bucket of the settings, or back.

    The service may run. What the target has already is left out, so an interrupted move goes on
    when the command runs again. Each file is compared with its SHA-256. Nothing is deleted from the
    source.
    """
    if to not in _PLACES:
        raise typer.BadParameter("--to must be bucket or directory")
    settings = from_env(os.environ, needs_keys=False)
    if settings.attachment_bucket is None:
        raise ConfigurationError("SEALDESK_ATTACHMENT_BUCKET is missing; it names the bucket")
    try:
        with explained(), show_progress("bytes") as progress:
            moved = asyncio.run(_move(settings, to, progress))
    except KeyboardInterrupt:
        print("sealdesk: to continue the move, run the same command again", file=sys.stderr)
        raise
    print_table(
        ("ATTACHMENTS", "COUNT"),
        [("copied", moved.copied), ("there already", moved.present), ("bad", len(moved.damaged))],
    )
    if moved.damaged:
        shown = ", ".join(moved.damaged[:_MAX_SHOWN])
        raise ConfigurationError(
            f"{len(moved.damaged)} files do not have their SHA-256, and were not copied; restore"
            f" them from a backup: {shown}"
        )
    _print_next_steps(to)


class Mover:
    """Copies contents from one storage to another.

    damaged: the paths of those whose bytes do not have their hash.
    """

    def __init__(
        self, settings: Settings, source: "Storage", target: "Storage", progress: Progress
    ) -> None:
        self._settings = settings
        self._source = source
        self._target = target
        self._progress = progress
        self.copied = self.present = 0
        self.damaged: list[str] = []

    async def run(self) -> None:
        """Copy everything. Raises ServiceUnavailable."""
        batch = []
        async for stored in self._source.list_all():
            batch.append(stored)
            if len(batch) == _AT_ONCE:
                await asyncio.gather(*map(self._copy, batch))
                batch = []
        await asyncio.gather(*map(self._copy, batch))

    async def _copy(self, stored: "StoredContent") -> None:
        # As in `_move`: 60 ms.
        from sealdesk.tickets.attachments import packing, rules

        try:
            is_copied = await packing.copy(stored, self._source, self._target, self._settings)
        except DamagedFile:
            self.damaged.append(rules.path_of(stored.content))
        else:
            self.copied += is_copied
            self.present += not is_copied
        self._progress.advance(stored.size_bytes)


async def _move(settings: Settings, to: str, progress: Progress) -> Mover:
    # The room of tickets takes 60 ms to import, which no other command needs.
    from sealdesk.tickets.attachments import packing
    from sealdesk.tickets.attachments.storage import storage_of

    bucket = storage_of(settings)
    directory = storage_of(msgspec.structs.replace(settings, attachment_bucket=None))
    source, target = (directory, bucket) if to == "bucket" else (bucket, directory)
    total = await packing.measure(source)
    progress.begin("copy", "attachments", 0, total.size_bytes)
    mover = Mover(settings, source, target, progress)
    await mover.run()
    return mover


@contextmanager
def explained() -> Iterator[None]:
    """Says why attachments cannot be stored or read. Raises ConfigurationError."""
    try:
        yield
    except ServiceUnavailable as error:
        reason = error.__cause__ or error
        raise ConfigurationError(f"attachments cannot be stored or read: {reason}") from error


def _print_next_steps(to: str) -> None:
    if to == "bucket":
        print("\nRestart `sealdesk serve` and `sealdesk worker` with SEALDESK_ATTACHMENT_BUCKET,")
        print("then run this command again: it copies what was uploaded meanwhile.")
        print("Keep the files of the data directory until you have a backup.")
    else:
        print(
            "\nRestart `sealdesk serve` and `sealdesk worker` without SEALDESK_ATTACHMENT_BUCKET."
        )
        print("Then run this command once more, with it: it copies what was uploaded meanwhile.")
