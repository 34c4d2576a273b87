"""The tables. Every tenant's table has a primary key, unique indexes and foreign keys that begin
with `tenant_id`; what must be found before the tenant is known stands in tables.GLOBAL.

Only migrations and their drift check import this; the service itself runs SQL text.
Times are integer microseconds since the epoch, ids canonical text, JSON is text; JSON that goes
out as it is stands ready in bytes, which spares decoding and encoding it. With `sqlite_with_rowid`
off, SQLite keeps the rows in the primary key itself: one descent fewer for small rows. Not where a
list has further indexes (customers): SQLite would then walk the primary key instead of them.
"""

from sealdesk.db.schema import api_keys, events, identity, tickets
from sealdesk.db.schema.columns import metadata

__all__ = ["api_keys", "events", "identity", "metadata", "tickets"]
