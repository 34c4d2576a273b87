"""The `Tx` interface on Citus: PostgreSQL whose tables are distributed over nodes.

A transaction of a tenant begins with BEGIN, because its tenant reaches the nodes only by SET LOCAL.
A statement that names one tenant is sent to the node of the tenant.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

from asyncpg import Connection, UndefinedTableError

from sealdesk.db.engine import Counter, Params, Row
from sealdesk.db.postgres import statements
from sealdesk.db.postgres.statements import Change
from sealdesk.db.postgres.transaction import BeginOptions, PostgresTx, lock_number
from sealdesk_citus.groups import distribution_of
from sealdesk_citus.local_shards import LocalShards
from sealdesk_citus.statements import ARRAYS, CHANGED_EACH, NEARBY, REPLACED

# What SET LOCAL sets from now on, Citus sets on each node that the transaction uses.
_PROPAGATE = "SET LOCAL citus.propagate_set_commands = 'local'; "
# An advisory lock holds on the node that takes it, so it is taken where a row is: of a table with
# one row for each tenant, or of a table with one shard. Either role reads both, and count(*) has a
# result without the row, and whatever row level security hides.
_ON_NODE_OF_TENANT = """
SELECT {function}($1) FROM (SELECT count(*) FROM feed_positions WHERE tenant_id = $2) node
"""
_ON_ONE_NODE = "SELECT {function}($1) FROM (SELECT count(*) FROM log_positions) node"


class DistributedTx(PostgresTx):
    """The transaction of one piece of work on one connection."""

    __slots__ = ("_shards",)

    def __init__(
        self,
        connection: Connection,
        tenant_id: str | None,
        options: BeginOptions,
        shards: LocalShards,
    ) -> None:
        super().__init__(connection, tenant_id, options)
        self._shards = shards

    def _begins_first(self) -> bool:
        return self.tenant_id is not None or super()._begins_first()

    async def fetch_all(self, sql: str, params: Params) -> Sequence[Row]:
        sql = REPLACED.get(sql, sql)
        return await (self._fetch_nearby if sql in NEARBY else super().fetch_all)(sql, params)

    async def _fetch_nearby(self, sql: str, params: Params) -> Sequence[Row]:
        """The rows on the node of this connection; every few seconds those of all nodes."""
        try:
            narrowed = await self._shards.narrow(self._connection, sql)
            return await super().fetch_all(narrowed, params)
        except UndefinedTableError:  # the shard was moved to another node
            self._shards.forget()
            return await super().fetch_all(sql, params)

    async def select_for_update(self, sql: str, params: Params) -> Sequence[Row]:
        if "tenant_id" in params:
            return await super().select_for_update(sql, params)
        # Rows of several tenants cannot be locked by one statement: they are found without locks,
        # and each that still meets the conditions is locked on its node.
        claimed: list[Row] = []
        # What another look has found at another node is claimed too.
        for row in await self._fetch_nearby(sql, params) or await self.fetch_all(sql, params):
            found = {"tenant_id": row["tenant_id"], "id": row["id"]}
            claimed += await super().select_for_update(
                _of_one(sql), {**params, **found, "limit": 1}
            )
        return claimed

    async def enqueue(self, sql: str, params: Params) -> None:
        if sql not in CHANGED_EACH:
            return await super().enqueue(sql, params)
        rows = zip(*(params[name] for name in ARRAYS.values()), strict=True)
        await self.execute_many(
            CHANGED_EACH[sql], [dict(zip(ARRAYS, row, strict=True)) for row in rows]
        )

    async def find_across_tenants(self, directory: str, sql: str, params: Params) -> Row | None:
        found = await self.fetch_one(directory, params)
        if found is None:
            return None
        await self.set_tenant(found["tenant_id"])
        return await self.fetch_one(sql, dict(found))

    async def fetch_for_each(self, sql: str, many: Sequence[Params]) -> Sequence[Sequence[Row]]:
        # The node must be the same for all: that of the tenant, as a parameter.
        return [await self.fetch_all(sql, params) for params in many]

    async def increment_and_fetch(
        self, counter: Counter, key: str, sql: str, params: Params
    ) -> tuple[int, Row | None]:
        # The counter may be on another node. It is increased with the transaction: increased
        # alone, without waiting for the disk, it gave a number twice while its shard moved.
        value = await self.increment(counter, key)
        return value, await self.fetch_one(sql, params)

    async def commit(self) -> None:
        if self._changes:
            await self.open()
        await super().commit()

    async def _lock(self, function: str, name: str, tenant_id: str) -> object:
        await self.open()
        sql = _ON_NODE_OF_TENANT if tenant_id else _ON_ONE_NODE
        values = [lock_number(name, tenant_id), *([tenant_id] if tenant_id else [])]
        ((result,),) = await self._fetch(sql.format(function=function), values)
        return result

    async def _send(self, changes: list[Change]) -> None:
        # One statement changes rows on one node.
        for is_of_tenant, group in groupby(changes, key=_is_of_tenant):
            for sent in [[*group]] if is_of_tenant else [[change] for change in group]:
                await super()._send(sent)


@lru_cache(maxsize=64)
def _of_one(sql: str) -> str:
    return sql.replace("WHERE", "WHERE tenant_id = :tenant_id AND id = :id AND", 1)


def _is_of_tenant(change: Change) -> bool:
    return distribution_of(statements.changed_table(change.sql)).kind == "by_tenant"


def begin_options(*, always: bool, settings: str = "") -> BeginOptions:
    """How transactions begin that also have these settings, on the node of the connection."""
    return BeginOptions(always=always, settings=f"{settings}{_PROPAGATE}")
