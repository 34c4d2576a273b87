"""Notes a backup in the database, so that the installation tells when the last one is old."""

import asyncio
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import msgspec

from sealdesk.clock import Clock
from sealdesk.db import schema_version
from sealdesk.db.backup.archive import Report
from sealdesk.db.engine import Tx, Work
from sealdesk.db.factory import opened_database
from sealdesk.db.sqlite.connection import connect, run_now
from sealdesk.errors import ServiceUnavailable
from sealdesk.installation.store import notes
from sealdesk.installation.types import BackupNote
from sealdesk.settings import Settings


def note(settings: Settings, file: Path, report: Report, schema: str) -> None:
    """Note a backup that is written; what prevents it is only told. schema: of the database."""
    if schema != schema_version.KNOWN_VERSIONS[-1]:
        return  # before an upgrade: the note has no place yet, or another one
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
