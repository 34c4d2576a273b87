"""The connection pools of one process: one for its URL, and on Citus one for each other node.

What concerns a tenant is sent to the node of its rows, which then asks no other node.
"""

import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

from asyncpg import Connection

from sealdesk.db.engine import Tx
from sealdesk.db.postgres.pool import Pool
from sealdesk.errors import ServiceUnavailable

# Any node answers for any tenant, so that a place may be out of date: the tenant was moved.
_KNOWN_S = 60.0
_MAX_KNOWN = 100_000
_WITHOUT_S = 10.0
# Empty where the rows are on the node of the connection.
_FIND = """
SELECT n.nodename || ':' || n.nodeport AS address FROM pg_dist_placement p
JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'
WHERE p.shardid = get_shard_id_for_distribution_column('tickets', CAST(:tenant_id AS text))
    AND p.groupid NOT IN (SELECT groupid FROM pg_dist_local_group) LIMIT 1
"""
Connect = Callable[[str], Awaitable[Connection]]
FindNode = Callable[[str], Awaitable[str]]


class _Place(NamedTuple):
    """The node of a tenant as host:port, "" for that of the URL. found_at: monotonic."""

    node: str
    found_at: float


class TenantNodes:
    """Borrows connections to the node of a tenant, or to that of the URL.

    connect: opens a connection to a URL. find_node: looks up the node of a tenant.
    """

    def __init__(self, url: str, size: int, connect: Connect, find_node: FindNode) -> None:
        self._url = url
        self._size = size
        self._connect = connect
        self._find_node = find_node
        self._home = self._open("")
        self._others: dict[str, Pool] = {}
        self._places: dict[str, _Place] = {}
        self._without: dict[str, float] = {}

    async def acquire(self, tenant_id: str | None, *, at_node: bool) -> tuple[Pool, Connection]:
        """A connection for the caller alone, and its pool, to which it is released.

        at_node: to the node of the tenant, if that can be reached. Raises ServiceUnavailable.
        """
        node = await self._node_of(tenant_id) if at_node and tenant_id is not None else ""
        if node:
            if node not in self._others:
                self._others[node] = self._open(node)
            pool = self._others[node]
            try:
                return pool, await pool.acquire(tenant_id)
            except NodeUnreachable:
                self._without[node] = time.monotonic() + _WITHOUT_S
        return self._home, await self._home.acquire(tenant_id)

    async def close(self) -> None:
        for pool in (self._home, *self._others.values()):
            await pool.close()

    async def _node_of(self, tenant_id: str) -> str:
        now = time.monotonic()
        place = self._places.get(tenant_id)
        if place is None or now - place.found_at > _KNOWN_S:
            if len(self._places) >= _MAX_KNOWN:
                self._places.clear()
            place = self._places[tenant_id] = _Place(await self._find_node(tenant_id), now)
        return "" if self._without.get(place.node, 0.0) > now else place.node

    def _open(self, node: str) -> Pool:
        async def connect() -> Connection:
            if not node:
                return await self._connect(self._url)
            try:
                return await self._connect(_url_of(self._url, node))
            except ServiceUnavailable as error:
                raise NodeUnreachable from error

        return Pool(connect, self._size)


class NodeUnreachable(ServiceUnavailable):
    """The node of a tenant cannot be reached from here."""


async def find_node(tx: Tx, tenant_id: str) -> str:
    """The node with the rows of a tenant as host:port; "" for the node of the connection."""
    row = await tx.fetch_one(_FIND, {"tenant_id": tenant_id})
    return "" if row is None else str(row["address"])


def _url_of(url: str, node: str) -> str:
    """The URL with another host and port."""
    parts = urlsplit(url)
    user = parts.netloc.rpartition("@")[0]
    return urlunsplit(parts._replace(netloc=f"{user}@{node}" if user else node))
