"""Deletes the rows of tables that declare how long they are kept."""

from sealdesk.db.engine import Tx
from sealdesk.db.schema.definitions import TABLES, Table


def kept_us(table: str) -> int:
    """How long a row of a table is kept after the time in its column. Raises LookupError."""
    expiry = TABLES[table].expiry
    if expiry is None:
        raise LookupError(f"the rows of {table} do not expire")
    return expiry.after_us


async def delete_expired(tx: Tx, now_us: int, limit: int) -> int:
    """Delete expired rows of all tenants, up to `limit` of each table; returns how many."""
    total = 0
    for sql, after_us in _STATEMENTS:
        total += await tx.execute(sql, {"before": now_us - after_us, "limit": limit})
    return total


def _delete(table: Table, column: str) -> str:
    key = ", ".join(each.name for each in table.columns if each.is_key)
    return (
        f"DELETE FROM {table.name} WHERE ({key}) IN"
        f" (SELECT {key} FROM {table.name} WHERE {column} < :before LIMIT :limit)"
    )


_STATEMENTS = [
    (_delete(table, table.expiry.column), table.expiry.after_us)
    for table in TABLES.values()
    if table.expiry is not None
]
