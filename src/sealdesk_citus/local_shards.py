"""Looks for work of all tenants on one node of Citus: on its shards, without the other nodes."""

import re
import time
from collections import defaultdict
from typing import NamedTuple

from asyncpg import Connection

from sealdesk_citus.groups import distribution_of

# Between two looks at all nodes, for those without a worker of their own.
EVERYWHERE_EVERY_S = 5.0
_LIST = """
SELECT s.logicalrelid::regclass::text AS name, shard_name(s.logicalrelid, s.shardid) AS shard
FROM pg_dist_local_group g JOIN pg_dist_placement p ON p.groupid = g.groupid
JOIN pg_dist_shard s ON s.shardid = p.shardid
WHERE s.logicalrelid = ANY ($1::text[]::regclass[]) ORDER BY 1, 2 LIMIT 10000
"""
_TABLE = re.compile(r"\b(?:FROM|JOIN) (\w+)")


class _Look(NamedTuple):
    """The statement for this node, and when the last look was at all nodes (monotonic)."""

    sql: str
    everywhere_at: float


class LocalShards:
    """Narrows statements to the shards on the node of the connection."""

    def __init__(self) -> None:
        self._looks: dict[str, _Look] = {}

    async def narrow(self, connection: Connection, sql: str) -> str:
        """The statement for the rows on this node; once in 5 s unchanged, for those of all."""
        now = time.monotonic()
        look = self._looks.get(sql)
        if look is not None and now - look.everywhere_at < EVERYWHERE_EVERY_S:
            return look.sql
        # Shards may have been moved meanwhile.
        self._looks[sql] = _Look(await _narrow(connection, sql), now)
        return sql

    def forget(self) -> None:
        """Let the next looks be at all nodes."""
        self._looks.clear()


async def _narrow(connection: Connection, sql: str) -> str:
    """The statement with the shards of this node in the place of each tenant table."""
    tables = [name for name in _TABLE.findall(sql) if distribution_of(name).kind == "by_tenant"]
    shards = defaultdict[str, list[str]](list)
    for row in await connection.fetch(_LIST, tables):
        shards[row["name"]].append(f"SELECT * FROM {row['shard']}")
    if not shards:
        return sql
    parts = [
        f"{name} AS NOT MATERIALIZED ({' UNION ALL '.join(found)})"
        for name, found in shards.items()
    ]
    return f"WITH {', '.join(parts)} {sql}"
