"""What the database says of itself: its indexes, and the time of its server."""

from sealdesk.db.engine import Tx
from sealdesk.db.schema.definitions import TABLES

_INDEXES_ON_SQLITE = "SELECT name FROM sqlite_master WHERE type = 'index' LIMIT 9999"
_INDEXES = "SELECT indexname AS name FROM pg_indexes WHERE schemaname = current_schema() LIMIT 9999"
_EXPECTED = frozenset(index.name for table in TABLES.values() for index in table.indexes)
_TIME = "SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint AS now_us LIMIT 1"


async def list_missing_indexes(tx: Tx) -> list[str]:
    """Indexes of the schema that the database lacks, in order."""
    sql = _INDEXES_ON_SQLITE if tx.dialect == "sqlite" else _INDEXES
    return sorted(_EXPECTED - {row["name"] for row in await tx.fetch_all(sql, {})})


async def find_server_time(tx: Tx) -> int | None:
    """The time of the server in microseconds; None on SQLite, which has none."""
    if tx.dialect == "sqlite":
        return None
    row = await tx.fetch_one(_TIME, {})
    return None if row is None else int(row["now_us"])
