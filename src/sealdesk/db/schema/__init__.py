"""The tables, as SQLAlchemy metadata for migrations and their drift check.

The service itself runs SQL text. In tables of tenants, the primary key, unique indexes and foreign
keys begin with `tenant_id`; tables that are read before the tenant is known are in tables.GLOBAL.
Times are integer microseconds since the epoch, ids are canonical text, JSON is text. JSON that
responses contain unchanged is stored as bytes, which saves decoding and encoding it.

With `sqlite_with_rowid` off, SQLite stores rows in the primary key itself: one tree search less for
small rows. Not where a list has further indexes (customers): SQLite would then scan the primary
key instead of them.
"""

from sealdesk.db.schema import (
    api_keys,
    attachments,
    desk,
    events,
    identity,
    mail,
    search,
    teams,
    tickets,
)
from sealdesk.db.schema.columns import metadata

__all__ = [
    "api_keys",
    "attachments",
    "desk",
    "events",
    "identity",
    "mail",
    "metadata",
    "search",
    "teams",
    "tickets",
]
