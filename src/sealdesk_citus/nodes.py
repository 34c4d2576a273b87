"""Reads and moves the shards of a distributed database; connects as the owner of the tables."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
from asyncpg import Connection, Record

from sealdesk.db.migrations.schema_version import Unusable
from sealdesk.db.postgres import preflight
from sealdesk_citus.all_nodes import ask_all
from sealdesk_citus.groups import COLOCATED_WITH

_NAME = "sealdesk nodes"
_PROGRESS_EVERY_S = 0.5
# Citus finds no generic plan for some joins with parameters, and copying a shard takes its time.
_SETTINGS = """
SET plan_cache_mode = 'auto'; SET statement_timeout = 0; SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0
"""
_DISTRIBUTED = """
SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS has_citus,
    to_regclass('tickets') IS NOT NULL AS has_tables
"""
_IS_DISTRIBUTED = f"""
SELECT citus_is_coordinator() AS is_coordinator, EXISTS (
    SELECT 1 FROM pg_dist_partition WHERE logicalrelid = '{COLOCATED_WITH}'::regclass
) AS is_distributed
"""
_NODES = """
SELECT n.nodename || ':' || n.nodeport AS node, n.shouldhaveshards AS has_shards,
    n.groupid = 0 AS is_coordinator, coalesce(s.bytes, 0)::bigint AS bytes
FROM pg_dist_node n LEFT JOIN (
    SELECT nodename, nodeport, sum(shard_size) AS bytes FROM citus_shards GROUP BY 1, 2
) s ON s.nodename = n.nodename AND s.nodeport = n.nodeport
WHERE n.noderole = 'primary' ORDER BY n.groupid LIMIT 1000
"""
# A shard of users and all that move with it. tickets: of its tenants, by their last numbers.
_SHARDS = f"""
SELECT u.shardid AS shard, max(s.nodename || ':' || s.nodeport) AS node,
    sum(s.shard_size)::bigint AS bytes
FROM pg_dist_shard u
JOIN pg_dist_partition p ON p.logicalrelid = '{COLOCATED_WITH}'::regclass
JOIN pg_dist_partition q ON q.colocationid = p.colocationid
JOIN pg_dist_shard c ON c.logicalrelid = q.logicalrelid AND c.shardminvalue = u.shardminvalue
JOIN citus_shards s ON s.shardid = c.shardid
WHERE u.logicalrelid = p.logicalrelid GROUP BY u.shardid ORDER BY bytes DESC, shard LIMIT 10000
"""
_LARGEST = f"""
SELECT n.tenant_id, n.last_number AS tickets,
    get_shard_id_for_distribution_column('{COLOCATED_WITH}', n.tenant_id) AS shard
FROM (SELECT tenant_id, last_number FROM ticket_numbers
    ORDER BY last_number DESC, tenant_id LIMIT $1) n
"""
_LOAD = """
SELECT json_build_object('transactions', xact_commit, 'connections', numbackends)
FROM pg_stat_database WHERE datname = current_database()
"""
_STATE = """
SELECT json_build_object('version', current_setting('server_version'),
    'citus', (SELECT extversion FROM pg_extension WHERE extname = 'citus'),
    'wal_level', current_setting('wal_level'),
    'max_prepared_transactions', current_setting('max_prepared_transactions')::int,
    'max_connections', current_setting('max_connections')::int,
    'output_plugins', (SELECT setting FROM pg_settings WHERE name = 'output_plugin_libraries'),
    'prepared', (SELECT count(*) FROM pg_prepared_xacts
        WHERE database = current_database() AND prepared < now() - interval '5 minutes'),
    'roles', (SELECT coalesce(json_agg(rolname), '[]') FROM pg_roles
        WHERE rolname IN (%s) AND NOT rolsuper AND NOT rolbypassrls))
"""
_CONNECTIONS = """
SELECT from_nodename || ':' || from_nodeport AS source, to_nodename || ':' || to_nodeport AS target
FROM citus_check_cluster_node_health() WHERE result IS NOT TRUE LIMIT 1000
"""
_ISOLATE = f"SELECT isolate_tenant_to_new_shard('{COLOCATED_WITH}', $1::text, 'CASCADE')"
_PLACE = """
SELECT s.nodename, s.nodeport FROM citus_shards s WHERE s.shardid = $1 LIMIT 1
"""
_SHARD_OF = f"SELECT get_shard_id_for_distribution_column('{COLOCATED_WITH}', $1::text)"
_MOVE = "SELECT citus_move_shard_placement($1, $2, $3, $4, $5, 'auto')"
_REBALANCE = "SELECT rebalance_table_shards(shard_transfer_mode := 'auto')"
_PROGRESS = """
SELECT coalesce(sum(least(target_shard_size, source_shard_size)), 0)::bigint AS done,
    coalesce(sum(source_shard_size), 0)::bigint AS total
FROM get_rebalance_progress()
"""
Report = Callable[[int, int], None]  # bytes that are copied, and of how many


class Node(NamedTuple):
    """A node: its address, the bytes of its shards, and its load during a second."""

    node: str
    is_coordinator: bool
    bytes: int
    connections: int
    transactions_per_s: float


@asynccontextmanager
async def opened(owner_url: str) -> AsyncIterator[Connection]:
    """A connection to the coordinator of a distributed database. Raises Unusable."""
    async with preflight.opened(owner_url, name=_NAME, close_s=5) as connection:
        await connection.execute(_SETTINGS)
        await _check(connection, preflight.redacted(owner_url))
        yield connection


async def _check(connection: Connection, where: str) -> None:
    (found,) = await connection.fetch(_DISTRIBUTED)
    if not found["has_citus"]:
        raise Unusable(
            f"{where} has no nodes: it is one PostgreSQL server without Citus; docs/citus.md says"
            " when to use many"
        )
    if not found["has_tables"]:
        raise Unusable(f"{where} has no tables yet; run `sealdesk migrate --distribute`")
    (state,) = await connection.fetch(_IS_DISTRIBUTED)
    if not state["is_coordinator"]:
        raise Unusable(
            f"{where} is not the coordinator of Citus; name it in SEALDESK_OWNER_DATABASE_URL"
        )
    if not state["is_distributed"]:
        raise Unusable(f"{where} is not distributed; run `sealdesk migrate --distribute`")


async def list_nodes(connection: Connection, interval_s: float) -> list[Node]:
    """All nodes, and their transactions during an interval."""
    rows = await connection.fetch(_NODES)
    before = await _load(connection)
    await asyncio.sleep(interval_s)
    after = await _load(connection)
    return [
        Node(
            row["node"],
            row["is_coordinator"],
            row["bytes"],
            after[row["node"]]["connections"],
            (after[row["node"]]["transactions"] - before[row["node"]]["transactions"]) / interval_s,
        )
        for row in rows
    ]


async def _load(connection: Connection) -> dict[str, dict[str, int]]:
    rows = await ask_all(connection, _LOAD)
    none = {"transactions": 0, "connections": 0}
    return {row["node"]: json.loads(row["result"]) if row["is_done"] else none for row in rows}


async def list_shards(connection: Connection) -> list[Record]:
    """All shards of tenants, the largest first, as (shard, node, bytes)."""
    return list(await connection.fetch(_SHARDS))


async def list_largest_tenants(connection: Connection, limit: int) -> list[Record]:
    """The tenants with the most tickets ever, as (tenant_id, tickets, shard)."""
    return list(await connection.fetch(_LARGEST, limit))


async def read_states(
    connection: Connection, roles: tuple[str, ...]
) -> list[tuple[str, dict[str, Any] | str]]:
    """Of each node its settings and versions, or why it gives none.

    output_plugins: None where there is no such setting, or the role may not see it. prepared: how
    many transactions wait for their outcome for more than 5 minutes. roles: which of these exist
    there and do not bypass row level security.
    """
    quoted = ", ".join("'" + name.replace("'", "''") + "'" for name in roles) or "''"
    rows = await ask_all(connection, _STATE % quoted)
    return [
        (row["node"], json.loads(row["result"]) if row["is_done"] else row["result"])
        for row in rows
    ]


async def find_broken_connections(url: str) -> list[tuple[str, str]]:
    """The pairs of nodes (from, to) that cannot connect as the role of this URL."""
    async with preflight.opened(url, name=_NAME) as connection:
        try:
            rows = await connection.fetch(_CONNECTIONS)
        except asyncpg.PostgresError as error:
            raise Unusable(f"{preflight.redacted(url)} cannot be checked: {error}") from error
    return [(row["source"], row["target"]) for row in rows]


async def find_shard(connection: Connection, name: str) -> int:
    """The shard of a number, or of the tenant with an ID. Raises Unusable."""
    if name.isdecimal():
        return int(name)
    try:
        tenant_id = str(UUID(name))
    except ValueError as error:
        raise Unusable("give the ID of a tenant, or the number of a shard") from error
    return int(await connection.fetchval(_SHARD_OF, tenant_id))


async def isolate(connection: Connection, tenant_id: str) -> int:
    """Give a tenant a shard of its own; returns its number. Raises Unusable."""
    shard = await find_shard(connection, tenant_id)
    try:
        await connection.execute("SET citus.multi_shard_modify_mode = 'sequential'")
        return int(await connection.fetchval(_ISOLATE, tenant_id, timeout=None))
    except asyncpg.PostgresError as error:
        raise Unusable(f"shard {shard} could not be split: {error}") from error


async def move(
    connection: Connection, owner_url: str, shard: int, node: str, report: Report
) -> bool:
    """Move a shard, with all that is colocated, to a node while it is written.

    False when it is there already. report: gets the progress. Raises Unusable.
    """
    host, _, port = node.rpartition(":")
    if not host or not port.isdecimal():
        raise Unusable("name the node as HOST:PORT, as `sealdesk nodes list` shows it")
    found = await connection.fetchrow(_PLACE, shard)
    if found is None:
        raise Unusable(f"there is no shard {shard}; `sealdesk nodes list` shows them")
    if (found["nodename"], found["nodeport"]) == (host, int(port)):
        return False
    values = (shard, found["nodename"], found["nodeport"], host, int(port))
    await _run(connection, owner_url, report, _MOVE, *values)
    return True


async def rebalance(connection: Connection, owner_url: str, report: Report) -> None:
    """Move shards until the nodes hold about as many bytes each. Raises Unusable."""
    await _run(connection, owner_url, report, _REBALANCE)


async def _run(
    connection: Connection, owner_url: str, report: Report, sql: str, *values: object
) -> None:
    async with preflight.opened(owner_url, name=_NAME) as watching:
        work = asyncio.ensure_future(connection.execute(sql, *values, timeout=None))
        try:
            while not (await asyncio.wait({work}, timeout=_PROGRESS_EVERY_S))[0]:
                (row,) = await watching.fetch(_PROGRESS)
                report(row["done"], row["total"])
            await work
        except asyncpg.PostgresError as error:
            raise Unusable(
                f"the move failed, and its shard is where it was: {error}; run the same command"
                " again"
            ) from error
        finally:
            work.cancel()
