"""Which indexes a database has."""

from sealdesk.db.engine import Tx
from sealdesk.db.schema import TABLES

_ON_SQLITE = "SELECT name FROM sqlite_master WHERE type = 'index' LIMIT 9999"
_ON_POSTGRESQL = """
SELECT indexname AS name FROM pg_indexes WHERE schemaname = current_schema() LIMIT 9999
"""
EXPECTED = frozenset(index.name for table in TABLES.values() for index in table.indexes)


async def list_missing_indexes(tx: Tx) -> list[str]:
    """Indexes of the schema that the database lacks, in order."""
    sql = _ON_SQLITE if tx.dialect == "sqlite" else _ON_POSTGRESQL
    return sorted(EXPECTED - {row["name"] for row in await tx.fetch_all(sql, {})})
