"""The nodes of the measurement, the shards on them, and the tenants in the shards."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

import asyncpg
from asyncpg import Connection

from bench.servers.processes import list_child_pids, read_cpu_s
from sealdesk import ids
from sealdesk.clock import Clock
from sealdesk_citus import nodes


class Server(NamedTuple):
    """A PostgreSQL server on this machine. address: host:port. pid: of its postmaster."""

    address: str
    pid: int

    def cpu_s(self) -> float:
        """The CPU time of its processes, including those that have ended."""
        children = sum(map(read_cpu_s, list_child_pids(self.pid)))
        return read_cpu_s(self.pid, with_ended=True) + children


class Place(NamedTuple):
    """The ID of a tenant, and the shard that has it."""

    tenant_id: str
    shard: int


async def find_server(superuser_url: str) -> Server:
    """The server of a URL. Raises asyncpg's errors."""
    connection = await asyncpg.connect(superuser_url)
    text = await connection.fetchval("SELECT pg_read_file('postmaster.pid')")
    await connection.close()
    return Server(urlsplit(superuser_url).netloc.rpartition("@")[2], int(text.split()[0]))


async def list_addresses(connection: Connection) -> list[str]:
    """The nodes that may have shards, as host:port; the coordinator is none."""
    listed = await nodes.list_nodes(connection, 0.1)
    return [each.node for each in listed if not each.is_coordinator]


async def find_places(connection: Connection) -> dict[int, str]:
    """The node of each shard."""
    found = await nodes.list_shards(connection)
    return {each["shard"]: each["node"] for each in sorted(found, key=lambda row: row["shard"])}


async def choose_tenants(connection: Connection, each: int) -> list[Place]:
    """New IDs of tenants, so many for each shard, the shards in turn."""
    chosen: dict[int, list[Place]] = {shard: [] for shard in await find_places(connection)}
    while any(len(places) < each for places in chosen.values()):
        tenant_id = ids.mint(Clock().now_us())
        shard = await nodes.find_shard(connection, tenant_id)
        if len(chosen[shard]) < each:
            chosen[shard].append(Place(tenant_id, shard))
    return [places[number] for number in range(each) for places in chosen.values()]


def plan_moves(placed: dict[int, str], targets: Sequence[str]) -> list[tuple[int, str]]:
    """The fewest moves (shard, node) after which each target has as many shards."""
    most = -(-len(placed) // len(targets))
    kept: dict[str, int] = dict.fromkeys(targets, 0)
    moved = []
    for shard, node in placed.items():
        if kept.get(node, most) < most:
            kept[node] += 1
        else:
            moved.append(shard)
    moves = []
    for shard in moved:
        node = min(targets, key=kept.__getitem__)
        kept[node] += 1
        moves.append((shard, node))
    return moves


async def use_nodes(connection: Connection, owner_url: str, targets: Sequence[str]) -> int:
    """Move all shards to these nodes, as many to each; returns how many were moved."""
    moves = plan_moves(await find_places(connection), targets)
    for shard, node in moves:
        await nodes.move(connection, owner_url, shard, node, lambda done, total: None)
    return len(moves)
