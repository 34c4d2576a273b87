"""`sealdesk upgrade`: checks, a backup, the migrations, and what to restart."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from sealdesk.cli.backup import backup as backups
from sealdesk.cli.backup import rotation
from sealdesk.cli.backup.options import PassphraseFile, read_passphrase
from sealdesk.cli.doctor import command as doctor
from sealdesk.cli.progress import show_progress
from sealdesk.cli.upgrade import target as targets
from sealdesk.cli.upgrade.target import Target
from sealdesk.clock import Clock
from sealdesk.db.factory import opened_database
from sealdesk.db.migrations import schema_version
from sealdesk.db.migrations.schema_version import KNOWN_VERSIONS, Unusable
from sealdesk.errors import ConfigurationError, ServiceUnavailable
from sealdesk.installation import processes
from sealdesk.installation.store import notes
from sealdesk.installation.types import ProcessNote
from sealdesk.settings import Settings, from_env, make_private_dir

EXAMPLES = """\b
Examples:
  sealdesk upgrade
  sealdesk upgrade --yes --backup-into /var/backups/sealdesk-daily
  sealdesk upgrade --yes --no-backup"""
# Of the findings, those with which an upgrade could fail or do harm. The others are shown.
_IN_THE_WAY = frozenset(
    {
        *("settings", "data", "files", "disk", "database", "secrets", "bucket"),
        *("data_directory_unwritable", "data_directory_foreign", "data_directory_other"),
    }
)
_IN_ORDER = ("serve", "worker", "mail")


def upgrade(
    yes: Annotated[
        bool, typer.Option("--yes", help="Ask nothing: make the backup, and migrate.")
    ] = False,
    no_backup: Annotated[bool, typer.Option("--no-backup", help="Make no backup.")] = False,
    backup_into: Annotated[
        Path | None,
        typer.Option(help="The directory of the backup; `backups` in the data directory if none."),
    ] = None,
    passphrase_file: PassphraseFile = None,
) -> None:
    """Bring the installation to this version: check it, make a backup, migrate.

    Says first what the way back is. The service may run: it goes on with its old version, and the
    worker and the process for e-mail pause while a migration runs. Each migration is one
    transaction; one that finds a table in use waits a second at most, and tries again. A killed
    upgrade is continued by running it again.

    On PostgreSQL it needs SEALDESK_OWNER_DATABASE_URL. At the end it says what to restart.
    """
    if no_backup and (backup_into or passphrase_file):
        raise typer.BadParameter("--no-backup leaves nothing to write or to encrypt")
    settings = from_env(os.environ, needs_keys=False)
    passphrase = read_passphrase(passphrase_file)
    with targets.alone(settings) as target:
        pending = schema_version.pending_after(target.schema)
        if not pending:
            known = KNOWN_VERSIONS[-1]
            print(f"The database has schema {target.schema}, and this version knows {known}.")
            print("Nothing is to be migrated.")
            return
        into = None if no_backup else backup_into or settings.data_dir / "backups"
        _check(settings, target, into)
        _print_way_back(target, into)
        if into is not None:
            if yes or _confirm(f"Make a backup into {into}?"):
                _back_up(settings, into, passphrase, is_default=backup_into is None)
            else:
                print("Without this backup, what the migrations change cannot be taken back.")
        if not (yes or _confirm("Migrate now?")):
            print("Nothing was changed.")
            raise typer.Exit(1)
        _migrate(settings, pending)
    _print_next_steps(settings, target)


def _check(settings: Settings, target: Target, into: Path | None) -> None:
    if into is not None and into.parent != settings.data_dir and not into.is_dir():
        raise ConfigurationError(f"{into} is not a directory; create it for the backups")
    in_the_way = []
    for finding in doctor.find_before_upgrade():
        # That the schema is older is no news here.
        if finding.state == "bad" or (finding.state == "note" and finding.about != "database"):
            print(f"{finding.about}: {finding.text}")
        if finding.state == "bad" and finding.about in _IN_THE_WAY:
            in_the_way.append(finding.about)
    if in_the_way:
        raise Unusable(
            f"the check found {', '.join(in_the_way)}, and nothing was changed; repair it as it"
            " says, then run this again"
        )
    targets.ensure_room(settings, target, into)


def _print_way_back(target: Target, into: Path | None) -> None:
    count = len(schema_version.pending_after(target.schema))
    print(f"The database has schema {target.schema}; {count} migrations lead to", end=" ")
    print(f"{KNOWN_VERSIONS[-1]}.")
    print("What runs now goes on with its old version until you restart it.")
    oldest = schema_version.oldest_reader_of(KNOWN_VERSIONS[-1])
    if oldest <= target.schema:
        print(f"The way back: versions that know schema {oldest} start on the new schema too, so")
        print("set the old version up again and restart. Nothing is lost.")
        return
    print(f"A version that knows schema {target.schema} at most will not start on the new schema.")
    if into is None:
        print("There is NO way back without a backup.")
    else:
        print("The way back is the backup, restored with the old version: what is written after it")
        print("is lost then.")


def _confirm(question: str) -> bool:
    if not sys.stdin.isatty():
        raise ConfigurationError("there is no terminal to ask on; give --yes")
    return typer.confirm(question, default=True)


def _back_up(settings: Settings, into: Path, passphrase: bytes | None, *, is_default: bool) -> None:
    if is_default:
        make_private_dir(into)
    file = rotation.new_file(into, Clock().now_us()).absolute()
    is_in_bucket = settings.attachment_bucket is not None
    written = backups.write(settings, file, passphrase, leave_in_bucket=is_in_bucket)
    backups.show(file, written, is_check=False)
    if written.report is None or written.report.lacking_count:
        raise Unusable(
            "the backup is incomplete, and nothing was migrated; put the files back, or give"
            " --no-backup to migrate with the backup as it is"
        )


def _migrate(settings: Settings, pending: tuple[str, ...]) -> None:
    with show_progress("migrations") as progress:
        progress.begin("migrate", "database", 0, len(pending))

        def report(_schema: str) -> None:
            progress.advance(1)

        if not settings.owner_database_url:
            schema_version.ensure_current(settings.database_path, report)
            return
        schema_version.migrate_postgres(
            settings.owner_database_url,
            runtime_url=settings.database_url,
            worker_url=settings.worker_database_url,
            report=report,
        )


def _print_next_steps(settings: Settings, target: Target) -> None:
    print(
        f"The database has schema {KNOWN_VERSIONS[-1]}. What runs goes on with the version that it"
    )
    print("was started with. Restart every `sealdesk serve`, one after the other", end="")
    print(", then `sealdesk worker` and `sealdesk mail`." if target.is_postgres else ".")
    for process in _list_processes(settings) if target.is_postgres else ():
        print(f"  sealdesk {process.kind} on {process.host}, process {process.pid}")


def _list_processes(settings: Settings) -> list[ProcessNote]:
    """Those that have given a sign of life, in the order in which to restart them."""
    try:
        living = asyncio.run(_list_living(settings))
    except (ServiceUnavailable, msgspec.ValidationError):
        return []  # an older version notes otherwise; the general advice remains
    told = [each for each in living if each.kind in _IN_ORDER]
    return sorted(told, key=lambda each: (_IN_ORDER.index(each.kind), each.host, each.pid))


async def _list_living(settings: Settings) -> list[ProcessNote]:
    url = settings.owner_database_url
    async with opened_database(settings, name="sealdesk upgrade", url=url) as database:
        return processes.living(await database.read(notes.list_processes), Clock().now_us())
