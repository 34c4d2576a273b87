"""The clock of the database's server."""

from sealdesk.db.engine import Tx

_ON_POSTGRESQL = (
    "SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint AS now_us LIMIT 1"
)


async def read(tx: Tx) -> int | None:
    """Its time in microseconds; None on SQLite, which has no server."""
    if tx.dialect == "sqlite":
        return None
    row = await tx.fetch_one(_ON_POSTGRESQL, {})
    return None if row is None else int(row["now_us"])
