"""The `Database` interface on a PostgreSQL server that may be a node of Citus."""

from functools import partial

from asyncpg import Connection

from sealdesk.db.postgres.database import SETTINGS, SLOW_READ_SETTINGS, PostgresDatabase, set_local
from sealdesk.db.postgres.pool import Pool
from sealdesk_citus.groups import HAS_CITUS
from sealdesk_citus.local_shards import LocalShards
from sealdesk_citus.tenant_nodes import TenantNodes, find_node

# Citus finds no generic plan for some joins with parameters.
_PLAN_CACHE_MODE = "auto"
_IS_DISTRIBUTED = """
SELECT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass('tickets'))
"""


class CitusDatabase(PostgresDatabase):
    """The connections of one process to the nodes of a database.

    Whether its tables are distributed is known once there was a connection. Until then, and where
    they are not, this is a PostgresDatabase.
    """

    def __init__(
        self, url: str, connections: int, *, name: str, is_pooled: bool, has_time: bool = False
    ) -> None:
        super().__init__(url, connections, name=name, is_pooled=is_pooled, has_time=has_time)
        self._nodes = TenantNodes(url, connections, self._connect, self._find_node)
        self._has_nodes = False
        self._shards = LocalShards()

    async def close(self) -> None:
        await self._nodes.close()

    async def _acquire(self, tenant_id: str | None) -> tuple[Pool, Connection]:
        return await self._nodes.acquire(tenant_id, at_node=self._has_nodes)

    async def _open(self, url: str) -> Connection:
        connection = await super()._open(url)
        try:
            if await connection.fetchval(HAS_CITUS) and await connection.fetchval(_IS_DISTRIBUTED):
                await self._use_nodes(connection)
        except BaseException:
            connection.terminate()
            raise
        return connection

    async def _use_nodes(self, connection: Connection) -> None:
        # Imports the stores of rooms, which commands on one server do not need.
        from sealdesk_citus.transaction import DistributedTx, begin_options

        if self._is_pooled:
            settings = set_local(SETTINGS | {"plan_cache_mode": _PLAN_CACHE_MODE})
            self._options = begin_options(always=True, settings=settings)
        else:
            await connection.execute(f"SET plan_cache_mode = '{_PLAN_CACHE_MODE}'")
            self._options = begin_options(always=False)
        self._slow_read_options = begin_options(always=True, settings=SLOW_READ_SETTINGS)
        self._tx = partial(DistributedTx, shards=self._shards)
        # A pooler is in front of one node.
        self._has_nodes = not self._is_pooled

    async def _find_node(self, tenant_id: str) -> str:
        return await self.read(lambda tx: find_node(tx, tenant_id))
