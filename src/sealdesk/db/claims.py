"""Claims rows of all tenants for work in the background: two processes never get the same row."""

from collections.abc import Sequence
from functools import lru_cache

from sealdesk.db.engine import Params, Row, Tx


async def claim(
    tx: Tx, sql: str, params: Params, key: tuple[str, ...] = ("tenant_id", "id")
) -> Sequence[Row]:
    """Lock and return the rows of a plain SELECT with a WHERE and a LIMIT.

    Skips rows that another transaction has locked. key: the primary key, which it selects. Where
    tables are distributed over nodes, rows of several tenants cannot be locked by one statement:
    they are found without locks, and each that still meets the conditions is locked on its node.
    """
    if not tx.is_distributed:
        return await tx.select_for_update(sql, params)
    claimed: list[Row] = []
    # What another look has found at another node is claimed too.
    for row in await tx.fetch_nearby(sql, params) or await tx.fetch_all(sql, params):
        found = {name: row[name] for name in key}
        claimed += await tx.select_for_update(_of_one(sql, key), {**params, **found, "limit": 1})
    return claimed


@lru_cache(maxsize=64)
def _of_one(sql: str, key: tuple[str, ...]) -> str:
    conditions = " AND ".join(f"{name} = :{name}" for name in key)
    return sql.replace("WHERE", f"WHERE {conditions} AND", 1)
