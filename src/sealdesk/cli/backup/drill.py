"""A restore drill: restores a backup into a scratch place, compares it with the backup, and
deletes it."""

import asyncio
import secrets
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from sealdesk.cli.output import print_table
from sealdesk.db.backup import scratch, sqlite
from sealdesk.db.backup.archive import Checked
from sealdesk.db.backup.contents import describe
from sealdesk.errors import ConfigurationError
from sealdesk.settings import Settings

# A restore changes the other tables: it ends links and log-ins, and migrates.
_COMPARED = (
    *("tenants", "users", "customers", "tickets", "replies", "attachments", "api_keys"),
    *("endpoints", "mailboxes", "events", "audit"),
)


class Compared(NamedTuple):
    """How many there are of something in the backup, and after restoring it."""

    what: str
    in_backup: int
    restored: int


def run(settings: Settings, restore: Callable[[Settings], Checked]) -> bool:
    """Whether everything in the backup was restored. restore: restores into these settings.

    Raises ConfigurationError, Unusable.
    """
    began_s = time.monotonic()
    parent = Path(tempfile.gettempdir())
    with scratch.directory(parent) as place, _scratch_settings(settings, place / "data") as target:
        backup = restore(target)
        compared = [*_compare_rows(target, backup), _compare_files(target, backup)]
    print_table(("WHAT", "BACKUP", "RESTORED"), compared)
    is_whole = all(each.in_backup == each.restored for each in compared)
    took = f"in {time.monotonic() - began_s:.0f} s, and deleted again"
    print(f"The backup was {'restored' if is_whole else 'NOT wholly restored'} {took}.")
    return is_whole


@contextmanager
def _scratch_settings(settings: Settings, directory: Path) -> Iterator[Settings]:
    """Settings of an empty place of the same kind."""
    place = msgspec.structs.replace(
        settings,
        data_dir=directory,
        database_path=directory / settings.database_path.name,
        database_url="",
        owner_database_url="",
        worker_database_url="",
        attachment_bucket=None,
    )
    if not settings.is_on_postgres:
        yield place
        return
    owner_url = settings.get_owner_url("the drill restores in the role of the owner")
    with _scratch_database(owner_url) as url:
        yield msgspec.structs.replace(place, owner_database_url=url)


@contextmanager
def _scratch_database(owner_url: str) -> Iterator[str]:
    """The URL of a new database beside the one of the owner, dropped in the end."""
    name = f"sealdesk_drill_{secrets.token_hex(6)}"
    asyncio.run(_execute(owner_url, f'CREATE DATABASE "{name}"'))
    start, _, end = owner_url.partition("?")
    try:
        yield f"{start.rpartition('/')[0]}/{name}{f'?{end}' if end else ''}"
    finally:
        asyncio.run(_execute(owner_url, f'DROP DATABASE "{name}" WITH (FORCE)'))


async def _execute(url: str, sql: str) -> None:
    # 22 ms to import, which SQLite does not need.
    from asyncpg import InsufficientPrivilegeError

    from sealdesk.db.postgres import preflight

    async with preflight.opened(url, name="sealdesk restore --drill") as connection:
        try:
            await connection.execute(sql)
        except InsufficientPrivilegeError as error:
            raise ConfigurationError(
                "the drill needs a database of its own, and the role of SEALDESK_OWNER_DATABASE_URL"
                " may not create one: let a superuser run ALTER ROLE … CREATEDB, or use another"
                " server"
            ) from error


def _compare_rows(target: Settings, backup: Checked) -> list[Compared]:
    expected = backup.manifest.dump.rows
    found = asyncio.run(_count_rows(target))
    return [Compared(name, expected[name], found[name]) for name in _COMPARED if name in expected]


async def _count_rows(target: Settings) -> dict[str, int]:
    if not target.owner_database_url:
        with closing(sqlite3.connect(target.database_path)) as connection:
            return (await describe(sqlite.Reader(connection))).rows
    # As above: 22 ms.
    from sealdesk.db.backup import postgres

    async with postgres.opened_snapshot(target.owner_database_url) as reader:
        return (await describe(reader)).rows


def _compare_files(target: Settings, backup: Checked) -> Compared:
    manifest = backup.manifest
    wanted = manifest.attachments if manifest.are_attachments_copied else 0
    folder = target.data_dir / "attachments"
    found = sum(1 for path in folder.glob("[0-9a-f][0-9a-f]/*") if path.is_file())
    return Compared("attached files", wanted, found)
