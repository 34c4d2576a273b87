"""Asks all nodes of a distributed database."""

from asyncpg import Connection, Record

from sealdesk.db.migrations.schema_version import Unusable
from sealdesk_citus.groups import HAS_CITUS

_TENANT_TABLES = """
SELECT c.relname AS name FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
WHERE p.partmethod = 'h' AND column_to_column_name(p.logicalrelid, p.partkey) = 'tenant_id'
ORDER BY 1 LIMIT 1000
"""
_IS_COORDINATOR = "SELECT citus_is_coordinator()"
_ON_ALL_NODES = """
SELECT n.nodename || ':' || n.nodeport AS node, r.success AS is_done, r.result
FROM run_command_on_all_nodes($1) r JOIN pg_dist_node n ON n.nodeid = r.nodeid
ORDER BY n.groupid LIMIT 1000
"""
_PREPARED = "SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database()"


async def has_citus(connection: Connection) -> bool:
    return bool(await connection.fetchval(HAS_CITUS))


async def list_tenant_tables(connection: Connection) -> frozenset[str]:
    """The tables that are distributed by tenant; none where tables are not distributed."""
    if not await has_citus(connection):
        return frozenset()
    return frozenset(row["name"] for row in await connection.fetch(_TENANT_TABLES))


async def ask_all(connection: Connection, sql: str) -> list[Record]:
    """What each node responds to a statement, as (node, is_done, result)."""
    return list(await connection.fetch(_ON_ALL_NODES, sql))


async def run_on_all(connection: Connection, sql: str) -> list[str]:
    """The result of a statement on each node: its only value, as text. Raises Unusable."""
    rows = await ask_all(connection, sql)
    for row in rows:
        if not row["is_done"]:
            raise Unusable(f"{row['node']} failed: {' '.join(str(row['result']).split())}")
    return [row["result"] for row in rows]


async def check_coordinator(connection: Connection, where: str) -> None:
    """Raises Unusable unless this node is the coordinator."""
    if not await connection.fetchval(_IS_COORDINATOR):
        raise Unusable(f"{where} is not the coordinator of Citus; name that")


async def check_settled(connection: Connection, where: str) -> None:
    """Raises Unusable while transactions are committed on some nodes and not yet on others."""
    waiting = sum(map(int, await run_on_all(connection, _PREPARED)))
    if waiting:
        raise Unusable(
            f"{where}: {waiting} prepared transactions wait for the end that Citus gives them"
            " within minutes; run the command again. `sealdesk nodes doctor` shows them"
        )
