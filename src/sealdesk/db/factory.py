"""Opens the database that the settings name."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sealdesk.db.engine import Database
from sealdesk.db.sqlite.database import SqliteDatabase
from sealdesk.settings import Settings


def open_database(
    settings: Settings, *, name: str, url: str = "", has_time: bool = False
) -> Database:
    """Open the database, which must have the current schema. Raises sqlite3.Error.

    name: of the process, as PostgreSQL shows it. url: of another role than the one that serves.
    has_time: no request waits, so statements have no timeout.
    """
    url = url or settings.database_url
    if not url:
        return SqliteDatabase(settings.database_path)
    # Imported here because it takes 23 ms, mostly asyncpg (2026-11), which SQLite does not need.
    from sealdesk_citus.database import CitusDatabase

    return CitusDatabase(
        url,
        settings.database_connections,
        name=name,
        is_pooled=settings.database_pooler == "transaction",
        has_time=has_time,
    )


@asynccontextmanager
async def opened_database(
    settings: Settings, *, name: str, url: str = ""
) -> AsyncIterator[Database]:
    """The database for a command, which has time; closed at the end."""
    database = open_database(settings, name=name, url=url, has_time=True)
    try:
        yield database
    finally:
        await database.close()
