"""`sealdesk restore`: puts a backup into an empty database, and begins a new epoch."""

import asyncio
import base64
import os
import secrets
import tempfile
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from sealdesk import clock
from sealdesk.cli.attachments import explained
from sealdesk.cli.backup import drill as restore_drill
from sealdesk.cli.backup.missing_files import print_lacking
from sealdesk.cli.backup.options import PassphraseFile, read_passphrase
from sealdesk.cli.output import make_console
from sealdesk.cli.progress import show_progress
from sealdesk.clock import Clock
from sealdesk.crypto.sealing import KEY_BYTES, KeyRing, UnsealError
from sealdesk.db import data_owner, epochs
from sealdesk.db.backup import archive, scratch, sqlite
from sealdesk.db.backup.archive import Archive, Checked, Manifest
from sealdesk.db.engine import Tx, Work
from sealdesk.db.factory import opened_database
from sealdesk.db.migrations import schema_version
from sealdesk.db.migrations.schema_version import KNOWN_VERSIONS, Unusable, describe_unknown
from sealdesk.db.sqlite import first_start
from sealdesk.errors import ConfigurationError
from sealdesk.settings import Settings, from_env, make_private_dir

T = TypeVar("T")
_WHY_OWNER = "only the owner of the tables can restore them"

EXAMPLES = """\b
Examples:
  sealdesk restore /backups/2027-01-31.tar
  sealdesk restore /backups/2027-01-31.sealed --passphrase-file /etc/sealdesk/backup.passphrase
  sealdesk restore --drill /backups/2027-01-31.tar     beside the running service
  sealdesk restore --epoch-only     after PostgreSQL's own point-in-time recovery"""


def restore(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="The backup; it is not changed.")
    ] = None,
    passphrase_file: PassphraseFile = None,
    drill: Annotated[
        bool,
        typer.Option(
            "--drill", help="Only try it: restore into a scratch place, compare, and delete it."
        ),
    ] = False,
    epoch_only: Annotated[
        bool,
        typer.Option(
            "--epoch-only", help="Only begin a new epoch in a database that was restored otherwise."
        ),
    ] = False,
) -> None:
    """Restore a backup into an empty database. The service must not run.

    Checks the backup and the master key first, and replaces nothing: on SQLite there must be no
    database yet, on PostgreSQL the database must be empty. An older schema is migrated. An
    interrupted restore leaves nothing that can be served.

    Begins a new epoch: everybody has to log in again, cursors are refused with 410, ticket numbers
    skip those that may have been given out after the backup, and API keys are refused until
    `sealdesk keys confirm` or an administrator confirms them.

    With --drill the service may run and nothing of it is touched: the backup is restored into a
    temporary directory, on PostgreSQL into a database of its own, and rows and files are counted.
    """
    if (file is None) != epoch_only or (drill and epoch_only):
        raise typer.BadParameter("name the backup, or give --epoch-only alone, without one")
    settings = from_env(os.environ, needs_keys=False)
    if drill and file is not None:
        _drill(settings, file, read_passphrase(passphrase_file))
        return
    if file is None:
        restored_to = _begin_epoch_only(settings)
    else:
        restored_to = _restore(settings, file, read_passphrase(passphrase_file))
    _print_next_steps(restored_to)
    _print_changed_keys(settings, clock.iso(restored_to))


def _drill(settings: Settings, file: Path, passphrase: bytes | None) -> None:
    def restore_to(target: Settings) -> Checked:
        backup = _check(settings, file, passphrase)
        _fill(target, file, passphrase, backup)
        return backup

    if not restore_drill.run(settings, restore_to):
        raise typer.Exit(1)


def _restore(settings: Settings, file: Path, passphrase: bytes | None) -> int:
    return _fill(settings, file, passphrase, _check(settings, file, passphrase))


def _check(settings: Settings, file: Path, passphrase: bytes | None) -> Checked:
    """Read all of a backup, and see that the settings are right for it. Raises Unusable."""
    _check_keys_exist(settings)
    with show_progress("bytes") as progress:
        progress.begin("check", "backup", 0, file.stat().st_size)
        backup = archive.check(file, passphrase, progress.advance)
    _check_manifest(settings, file, backup.manifest)
    return backup


def _fill(settings: Settings, file: Path, passphrase: bytes | None, backup: Checked) -> int:
    """Restore into the empty place that the settings name; the time at which its data ends."""
    manifest, report = backup
    restored_to = clock.parse_instant(manifest.created_at) or 0
    if manifest.dump.database == "postgresql":
        asyncio.run(_restore_postgres(settings, file, passphrase, restored_to))
    else:
        _restore_sqlite(settings, file, passphrase, restored_to)
    if not manifest.are_attachments_copied:
        print(f"{manifest.attachments:,} attachments are not in the backup but in its bucket.")
    print_lacking(report)
    return restored_to


def _check_keys_exist(settings: Settings) -> None:
    """Raises ConfigurationError rather than let the settings generate a new master key."""
    if not os.environ.get("SEALDESK_MASTER_KEY") and not _master_key_file(settings).exists():
        raise ConfigurationError(
            f"there is no master key: put the one of the backup into {_master_key_file(settings)},"
            " or set SEALDESK_MASTER_KEY"
        )


def _master_key_file(settings: Settings) -> Path:
    return settings.data_dir / "master.key"


def _check_manifest(settings: Settings, file: Path, manifest: Manifest) -> None:
    wanted = "postgresql" if settings.is_on_postgres else "sqlite"
    if manifest.dump.database != wanted:
        raise Unusable(
            f"{file} is a backup of {manifest.dump.database}, and the settings name {wanted};"
            " restore it to its own kind of database, then use `sealdesk move`"
        )
    schema = manifest.dump.schema
    if schema not in KNOWN_VERSIONS:
        raise Unusable(f"{file} {describe_unknown(schema, 'restore')}; nothing was changed")
    # Without a JWT secret in the environment one would be created, before the backup is accepted.
    unused = {"SEALDESK_JWT_SECRET": base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()}
    key_ring = KeyRing(from_env(unused | os.environ).master_keys)
    missing = sorted(set(manifest.master_keys) - key_ring.fingerprints)
    if missing:
        raise Unusable(
            f"the secrets in {file} are sealed with the master key {', '.join(missing)}, and"
            f" SEALDESK_MASTER_KEY has {', '.join(sorted(key_ring.fingerprints))}; set the key of"
            " the backup"
        )
    if manifest.sample is not None:
        try:
            key_ring.open(manifest.sample.sealed, manifest.sample.about)
        except UnsealError as error:
            raise Unusable(f"SEALDESK_MASTER_KEY does not open a secret of {file}") from error


def _restore_sqlite(
    settings: Settings, file: Path, passphrase: bytes | None, restored_to: int
) -> None:
    # The server takes 200 ms to import, which no other command needs.
    from sealdesk.server import serve

    path = settings.database_path
    make_private_dir(settings.data_dir)
    with serve.lock(path), scratch.directory(path.parent) as directory:
        sqlite.check_target(path)
        part = directory / path.name
        with archive.opened(file, passphrase) as backup, show_progress("bytes") as progress:
            progress.begin("restore", "database", 0, backup.manifest.dump.bytes)
            sqlite.unpack(backup.blocks(), part, progress.advance)
            asyncio.run(_restore_attachments(settings, backup))
        sqlite.prepare(part, _begin_epoch(restored_to))
        scratch.publish(part, path)
    first_start.finish(settings.data_dir)


async def _restore_attachments(settings: Settings, backup: Archive) -> None:
    # The room of tickets takes 60 ms to import, which no other command needs.
    from sealdesk.tickets.attachments import packing

    with explained():
        await packing.unpack(backup.files(), settings)


async def _restore_postgres(
    settings: Settings, file: Path, passphrase: bytes | None, restored_to: int
) -> None:
    # asyncpg takes 22 ms to import, which SQLite does not need.
    from sealdesk.db.backup import postgres

    owner_url = settings.get_owner_url(_WHY_OWNER)
    await postgres.check_target(owner_url)
    # pg_restore reads the dump twice, so it is unpacked to a file first.
    with scratch.directory(Path(tempfile.gettempdir())) as directory:
        dump = directory / "dump"
        with archive.opened(file, passphrase) as backup:
            tables = len(backup.manifest.dump.rows)
            with dump.open("wb") as target:
                target.writelines(backup.blocks())
            make_private_dir(settings.data_dir)
            await _restore_attachments(settings, backup)
        with show_progress("tables") as progress:
            progress.begin("restore", "database", 0, tables)
            await postgres.restore(owner_url, dump, directory, lambda: progress.advance(1))
    schema_version.migrate_postgres(
        owner_url, runtime_url=settings.database_url, worker_url=settings.worker_database_url
    )
    begin = _begin_epoch(restored_to)

    async def finish(tx: Tx) -> None:
        await begin(tx)
        await postgres.finish(tx)

    await _write_as_owner(settings, owner_url, finish)


def _begin_epoch_only(settings: Settings) -> int:
    """Begin an epoch in the current database; the time at which its data ends."""
    if not settings.is_on_postgres:
        return _begin_sqlite_epoch(settings.database_path)
    # As above: asyncpg, 22 ms.
    from sealdesk.db.backup import postgres

    owner_url = settings.get_owner_url(_WHY_OWNER)
    asyncio.run(postgres.check_unused(owner_url))
    return asyncio.run(_write_as_owner(settings, owner_url, _begin_epoch_after_newest))


def _begin_sqlite_epoch(path: Path) -> int:
    # As above: 200 ms.
    from sealdesk.server import serve

    schema_version.get_schema_version(path)
    with serve.lock(path):
        schema_version.ensure_current(path)
        return sqlite.write(path, _begin_epoch_after_newest)


async def _begin_epoch_after_newest(tx: Tx) -> int:
    restored_to = await epochs.newest_change(tx)
    await _begin_epoch(restored_to)(tx)
    return restored_to


def _begin_epoch(restored_to: int) -> Work[int]:
    now_us = Clock().now_us()
    return lambda tx: epochs.begin(tx, restored_to=restored_to, now_us=now_us)


async def _write_as_owner(settings: Settings, owner_url: str, work: Work[T]) -> T:
    async with opened_database(settings, name="sealdesk restore", url=owner_url) as database:
        return await database.write(work)


def _print_next_steps(restored_to: int) -> None:
    print(f"The data is that of {clock.iso(restored_to)}. A new epoch has begun:")
    print("  Everybody has to log in again. Links to set a password have ended.")
    print("  Cursors of the API are refused with 410.")
    print("  API keys are off. Look at them, then: sealdesk keys confirm KEY_ID, or --all")
    print("Check with `sealdesk doctor`, then run `sealdesk serve`. See docs/backup.md.")


def _print_changed_keys(settings: Settings, since: str) -> None:
    # With the HTTP client 30 ms to import, which no other command needs.
    from sealdesk.api_keys import journal

    changes = journal.read_since(settings.data_dir, since)
    path = settings.data_dir / journal.FILE
    if changes is None:
        print(f"Nothing tells which keys changed after the backup: there is no {path}.")
        return
    if path in data_owner.find_foreign(settings.data_dir):
        owner = data_owner.name_of(settings.data_dir.stat().st_uid)
        text = (
            f"{path} is not {owner}'s, so the service could not write it: keys that were revoked"
            " after the backup may be missing below. Revoke them before you confirm any."
        )
        make_console().print(text, style="red", markup=False)
    print(f"Keys that changed after the backup, as far as {path} knows: {len(changes)}")
    for change in changes:
        print(f"  {change.type} at {change.at}: {change.key_id} {change.name}".rstrip())
