"""`sealdesk backup`: a consistent copy of the database in one file, while it is in use."""

import asyncio
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from sealdesk import __version__, build, clock
from sealdesk.api_keys import rules
from sealdesk.cli.attachments import explained
from sealdesk.cli.backup import rotation
from sealdesk.cli.backup.missing_files import print_lacking
from sealdesk.cli.backup.options import PassphraseFile, read_passphrase
from sealdesk.cli.output import JsonOption, print_json
from sealdesk.cli.progress import show_progress
from sealdesk.clock import Clock
from sealdesk.db.backup import archive, needed_files, scratch, sqlite
from sealdesk.db.backup.archive import (
    Checked,
    Dump,
    Manifest,
    Payload,
    Report,
    SealedSample,
)
from sealdesk.db.backup.contents import Contents, Reader, SealedSecret, describe, describe_dump
from sealdesk.db.engine import Tx, Work
from sealdesk.db.factory import opened_database
from sealdesk.db.migrations import schema_version
from sealdesk.db.sqlite.connection import connect, run_now
from sealdesk.errors import ConfigurationError, ServiceUnavailable
from sealdesk.installation.store import notes
from sealdesk.installation.types import BackupNote
from sealdesk.settings import Settings, from_env

# With the number and the bytes of the files that its attachments need.
_Described = tuple[Contents, tuple[int, int]]
_KEY_FILES = ("master.key", "jwt.key")
EXAMPLES = """\b
Examples:
  sealdesk backup /backups/2027-01-31.tar
  sealdesk backup /backups/2027-01-31.sealed --passphrase-file /etc/sealdesk/backup.passphrase
  sealdesk backup --into /backups --keep 14
  sealdesk backup --check /backups/2027-01-31.tar

\b
`sealdesk restore FILE` restores it. Keep SEALDESK_MASTER_KEY, or master.key, in another place: it
is not in the backup, and without it no API secret can be opened again."""


def backup(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="The new file of the backup.")
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(help="Instead of FILE: a directory, where the file is named by its time."),
    ] = None,
    keep: Annotated[
        int, typer.Option(min=1, help="With --into: how many of its backups stay there.")
    ] = 14,
    passphrase_file: PassphraseFile = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only check that an existing backup is whole.")
    ] = False,
    leave_in_bucket: Annotated[
        bool,
        typer.Option(
            help="Only look whether the bucket has the attachments, and do not copy them."
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Write a backup of the database and of attachments into one file, while the service runs.

    The copy is consistent: it has everything that was acknowledged before it began. On SQLite its
    pages are checked; on PostgreSQL pg_dump makes it, in the role of SEALDESK_OWNER_DATABASE_URL.
    Each byte of the file is covered by a checksum. The file appears when all of it is written.

    Attachments that the database knows and that are missing or damaged are named. The backup is
    written without them, says that it is incomplete, and the command ends with 1.

    With --into, a backup that is whole deletes the oldest ones beyond --keep; others stay.
    """
    if (file is None) == (into is None) or (check and file is None):
        raise typer.BadParameter("name the FILE of the backup, or a directory with --into")
    target = file or rotation.new_file(into or Path(), Clock().now_us())
    passphrase = read_passphrase(passphrase_file)
    if check:
        backup = _check(target, passphrase)
    else:
        settings = from_env(os.environ, needs_keys=False)
        backup = write(settings, target.absolute(), passphrase, leave_in_bucket=leave_in_bucket)
    if json:
        print_json({**msgspec.to_builtins(backup.manifest), "report": backup.report})
    else:
        show(target, backup, is_check=check)
    if backup.report is None or backup.report.lacking_count:
        raise typer.Exit(1)
    if into is not None:
        rotation.delete_old(into, keep)


def _check(file: Path, passphrase: bytes | None) -> Checked:
    with show_progress("bytes") as progress:
        progress.begin("check", "backup", 0, file.stat().st_size)
        return archive.check(file, passphrase, progress.advance)


def write(
    settings: Settings, file: Path, passphrase: bytes | None, *, leave_in_bucket: bool
) -> Checked:
    """Write a backup into a new file. Raises ConfigurationError, OSError."""
    if leave_in_bucket and settings.attachment_bucket is None:
        raise ConfigurationError(
            "--leave-in-bucket needs SEALDESK_ATTACHMENT_BUCKET: the attachments are in the data"
            " directory"
        )
    if file.exists():
        raise ConfigurationError(f"{file} exists, and nothing was changed; name a new file")
    # The room of tickets takes 60 ms to import, which no other command needs.
    from sealdesk.tickets.attachments import packing
    from sealdesk.tickets.attachments.storage import storage_of

    created_at = clock.iso(Clock().now_us())  # nothing later is in the copy for certain
    with scratch.directory(file.parent) as directory, asyncio.Runner() as runner, explained():
        dump, needed = directory / "dump", directory / "needed"
        database, contents, (count, size_bytes) = _copy(settings, dump, needed)
        copied = describe_dump(dump, database, contents)
        manifest = msgspec.structs.replace(
            _manifest(settings, created_at, copied, contents),
            attachments=count,
            attachment_bytes=size_bytes,
            are_attachments_copied=not leave_in_bucket,
        )
        # After the dump: bytes are there before their row is.
        packer = packing.Packer(runner, storage_of(settings), directory)
        pack = packer.look if leave_in_bucket else packer.pack
        payload = Payload(dump, pack(needed_files.read_list(needed)), packer.lacking)
        _write_archive(directory / "complete", manifest, payload, passphrase)
        scratch.publish(directory / "complete", file)
    report = Report.of(packer.lacking)
    _note(settings, file, report)
    return Checked(manifest, report)


def _write_archive(
    complete: Path, manifest: Manifest, payload: Payload, passphrase: bytes | None
) -> None:
    with complete.open("wb") as target, show_progress("bytes") as progress:
        files = manifest.attachment_bytes if manifest.are_attachments_copied else 0
        progress.begin("write", "backup", 0, manifest.dump.bytes + files)
        archive.write(target, manifest, payload, passphrase, progress.advance)


def _copy(settings: Settings, dump: Path, needed: Path) -> tuple[str, Contents, tuple[int, int]]:
    """Copy the database, and list the attachments that it needs at the same moment."""
    if settings.is_on_postgres:
        owner_url = settings.get_owner_url("only the owner of the tables sees all rows")
        return "postgresql", *asyncio.run(_copy_postgres(owner_url, dump, needed))
    return "sqlite", *_copy_sqlite(settings.database_path, dump, needed)


def _copy_sqlite(path: Path, dump: Path, needed: Path) -> _Described:
    schema_version.get_schema_version(path)
    with show_progress("pages") as progress:
        sqlite.copy(path, dump, progress.follow("copy", "database"))
    with closing(sqlite3.connect(dump)) as connection:
        return asyncio.run(_describe(sqlite.Reader(connection), needed))


async def _describe(reader: Reader, needed: Path) -> _Described:
    return await describe(reader), await needed_files.write_list(reader, needed, Clock().now_us())


async def _copy_postgres(url: str, dump: Path, needed: Path) -> _Described:
    # asyncpg takes 22 ms to import, which a backup of SQLite does not need.
    from sealdesk.db.backup import postgres

    async with postgres.opened_snapshot(url) as reader:
        described = await _describe(reader, needed)
        with show_progress("tables") as progress:
            progress.begin("copy", "database", 0, len(described[0].rows))
            await reader.dump(dump, lambda: progress.advance(1))
        return described


def _manifest(settings: Settings, created_at: str, dump: Dump, contents: Contents) -> Manifest:
    return Manifest(
        format=1,
        sealdesk=__version__,
        commit=build.commit(),
        created_at=created_at,
        dump=dump,
        master_keys=contents.master_keys,
        sample=_sample(contents.sample),
        settings=tuple(sorted(n for n, v in os.environ.items() if n.startswith("SEALDESK_") and v)),
        files=tuple(name for name in _KEY_FILES if (settings.data_dir / name).exists()),
    )


def _sample(secret: SealedSecret | None) -> SealedSample | None:
    if secret is None:
        return None
    about = rules.seal_context_of(secret.tenant_id, secret.key_id, secret.version)
    return SealedSample(secret.sealed, about)


def show(file: Path, backup: Checked, *, is_check: bool) -> None:
    """Print what a backup holds and lacks."""
    manifest, report = backup
    rows = sum(manifest.dump.rows.values())
    files = "attached files" if manifest.are_attachments_copied else "attached files in the bucket"
    state = "whole" if is_check else "written"
    if report is None or report.lacking_count:
        state = "INCOMPLETE" if report else "not known to be whole"
    print(
        f"{file} is {state}: {manifest.dump.database}, schema {manifest.dump.schema}, {rows:,}"
        f" rows, {manifest.attachments:,} {files}, of {manifest.created_at}."
    )
    print_lacking(report)
    if manifest.master_keys:
        where = " (master.key)" if "master.key" in manifest.files else ""
        print("Restoring it needs, from another place:")
        print(
            f"  SEALDESK_MASTER_KEY{where} with the fingerprint {', '.join(manifest.master_keys)}"
        )
    names = [name for name in manifest.settings if name != "SEALDESK_DATA_DIR"]
    if names:
        print(f"It was made with these settings: {', '.join(names)}")


def _note(settings: Settings, file: Path, report: Report) -> None:
    """Note a backup that is written; what prevents it is only told."""
    text = msgspec.json.encode(BackupNote(str(file), report.lacking_count)).decode()
    now_us = Clock().now_us()

    async def work(tx: Tx) -> None:
        await notes.put(tx, "backup", text, now_us=now_us, expires_at=None)

    try:
        if settings.owner_database_url:
            asyncio.run(_write_as_owner(settings, work))
        else:
            with closing(connect(settings.database_path)) as connection:
                run_now(connection, work)
    except (sqlite3.Error, ServiceUnavailable) as error:
        print(
            f"sealdesk: the backup is written, but the database does not know of it: {error}",
            file=sys.stderr,
        )


async def _write_as_owner(settings: Settings, work: Work[None]) -> None:
    url = settings.owner_database_url
    async with opened_database(settings, name="sealdesk backup", url=url) as database:
        await database.write(work)
