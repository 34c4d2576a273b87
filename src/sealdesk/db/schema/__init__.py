"""The tables, each with who may use it and where its rows are.

Migrations create them; tests compare the result with this. The service itself runs SQL text. In
tables of tenants, the primary key, unique indexes and foreign keys begin with `tenant_id`; a table
that is read before the tenant is known has another place. Times are integer microseconds since
the epoch, ids are canonical text, JSON is text. JSON that responses contain unchanged is stored as
bytes, which saves decoding and encoding it.

With `has_rowid` off, SQLite stores rows in the primary key itself: one tree search less for small
rows. Not where a list has further indexes (customers): SQLite would then scan the primary key
instead of them.
"""

from graphlib import TopologicalSorter

from sealdesk.db.schema import (
    api_keys,
    attachments,
    automation,
    desk,
    events,
    identity,
    installation,
    mail,
    reports,
    search,
    teams,
    tickets,
)
from sealdesk.db.schema.definitions import BY_TENANT, TABLES

__all__ = [
    "TABLES",
    "api_keys",
    "attachments",
    "automation",
    "desk",
    "events",
    "identity",
    "installation",
    "mail",
    "reports",
    "search",
    "teams",
    "tickets",
]

# Without row level security: read before the tenant is known, or not about a tenant.
GLOBAL = frozenset(table.name for table in TABLES.values() if table.place != BY_TENANT)
# Each table follows those that it refers to; rows are deleted in the reverse order.
IN_ORDER = tuple(
    TopologicalSorter(
        {table.name: [key.table for key in table.references] for table in TABLES.values()}
    ).static_order()
)
# A move also skips the stamp of keys, and on SQLite what begins with one of SQLITE_PREFIXES: the
# tables of FTS5, the stamps of tickets, triggers.
REBUILT = tuple(table.name for table in TABLES.values() if table.is_rebuilt)
KEY_STAMP = "key_stamp"
SQLITE_PREFIXES = ("search_index", KEY_STAMP, "ticket_stamps")
# The role that serves searches with these: row level security would disable the indexes.
SEARCH_FUNCTIONS = (
    "search_tickets(text, tsquery, text, integer)",
    "search_customers(text, tsquery, text, integer)",
)
VERSION_TABLE = "alembic_version"
