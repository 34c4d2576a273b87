"""Which database the settings name, opened."""

from sealdesk.db.engine import Database
from sealdesk.db.sqlite.database import SqliteDatabase
from sealdesk.settings import Settings


def open_database(
    settings: Settings, *, name: str, url: str = "", has_time: bool = False
) -> Database:
    """The doors to the database. It must have the current schema. Raises sqlite3.Error.

    name: of the process, as the database shows it. url: of another role than the one that serves.
    has_time: nobody waits for an answer, so a piece of work may take long.
    """
    url = url or settings.database_url
    if not url:
        return SqliteDatabase(settings.database_path)
    # Only here: who keeps an SQLite file need not load what speaks to PostgreSQL.
    from sealdesk.db.postgres.database import PostgresDatabase

    return PostgresDatabase(
        url,
        settings.database_connections,
        name=name,
        is_pooled=settings.database_pooler == "transaction",
        has_time=has_time,
    )
