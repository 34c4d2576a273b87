"""Measures the same requests on plain PostgreSQL and on 1, 2 and 3 nodes of Citus."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import NamedTuple

from asyncpg import Connection

from bench.nodes import load, places
from bench.nodes.load import Desk, Round
from bench.nodes.places import Server
from bench.servers.quota import change_limit, limit_cpu
from sealdesk.db.postgres.database import PostgresDatabase
from sealdesk_citus import nodes

COUNTS = (1, 2, 3)
PLAIN, CITUS = "plain PostgreSQL", "Citus"
_SAMPLES = 150
_WARM_UP_S = 2.0
_ONE_CORE = 1.0
_Way = tuple[str, PostgresDatabase, Sequence[Desk]]


class Plan(NamedTuple):
    """quota: of a core, for each server. tenants: in each shard. counts: of nodes, in order."""

    quota: float
    tenants: int
    rounds: int
    seconds: float
    counts: Sequence[int]


class TooFewNodes(Exception):
    """The cluster has fewer nodes than are measured; the message says how many."""


class Cell(NamedTuple):
    """What is measured. way: PLAIN or CITUS."""

    way: str
    name: str
    node_count: int


class Results(NamedTuple):
    """latencies: in milliseconds, by (way, name)."""

    rounds: dict[Cell, list[Round]]
    latencies: dict[tuple[str, str], list[float]]


class _Servers(NamedTuple):
    """plain, the coordinator, and the nodes."""

    plain: Server
    coordinator: Server
    nodes: list[Server]

    def all(self) -> list[Server]:
        return [self.plain, self.coordinator, *self.nodes]


async def measure(
    plan: Plan,
    env: dict[str, str],
    servers: tuple[str, tuple[str, str]],
    log: Callable[[str], None],
) -> Results:
    """servers: the superuser's URL of the coordinator; those of plain PostgreSQL, and to serve."""
    owner_url, (superuser_url, (plain, plain_url)) = env["SEALDESK_OWNER_DATABASE_URL"], servers
    async with nodes.opened(owner_url) as connection:
        coordinator = await places.find_server(superuser_url)
        addresses = (await places.list_addresses(connection))[: COUNTS[-1]]
        if len(addresses) < COUNTS[-1]:
            raise TooFewNodes(f"{COUNTS[-1]} nodes are needed beside the coordinator: {addresses}")
        urls = [
            superuser_url.replace(f"@{coordinator.address}/", f"@{each}/") for each in addresses
        ]
        found = _Servers(
            await places.find_server(plain),
            coordinator,
            [await places.find_server(url) for url in urls],
        )
        work = _Measurement(plan, connection, found, (env["SEALDESK_DATABASE_URL"], plain_url))
        log(f"filling {plan.tenants} tenants in each shard")
        await work.fill()
        await work.measure_latencies()
        for count in plan.counts:
            moved = await places.use_nodes(connection, owner_url, addresses[:count])
            log(f"{moved} shards were moved; measuring nodes: {count}")
            await work.measure_rates(count)
        return work.results


class _Measurement:
    """urls: of the coordinator, and of plain PostgreSQL, for the role that serves."""

    def __init__(
        self, plan: Plan, connection: Connection, servers: _Servers, urls: tuple[str, str]
    ) -> None:
        self.results = Results({}, {})
        self._plan = plan
        self._connection = connection
        self._servers = servers
        self._url, self._plain_url = urls
        self._desks: list[Desk] = []
        self._plain_desks: list[Desk] = []

    async def fill(self) -> None:
        chosen = await places.choose_tenants(self._connection, self._plan.tenants)
        async with load.opened(self._url) as database:
            self._desks = await load.fill(database, chosen)
        async with load.opened(self._plain_url) as database:
            self._plain_desks = await load.fill(database, chosen)

    async def measure_latencies(self) -> None:
        """One request at a time, without a quota that matters."""
        with limit_cpu([server.pid for server in self._servers.all()], _ONE_CORE):
            async with AsyncExitStack() as stack:
                ways = await self._open_all(stack)
                databases = [database for _, database, _ in ways]
                desks = [desks for _, _, desks in ways]
                for name, work in load.WORKS.items():
                    await load.measure_latencies(work, databases, desks, _SAMPLES // 3)
                    found = await load.measure_latencies(work, databases, desks, _SAMPLES)
                    for (way, _, _), each in zip(ways, found, strict=True):
                        self.results.latencies[way, name] = each

    async def measure_rates(self, count: int) -> None:
        """All servers have their quotas; plain PostgreSQL is measured beside one node."""
        pids = [server.pid for server in self._servers.all()]
        with limit_cpu(pids, _ONE_CORE):
            async with AsyncExitStack() as stack:
                ways = await self._open_all(stack)
                if count > 1:
                    ways = [each for each in ways if each[0] != PLAIN]
                # Each connection loads what it caches of each shard, which takes long.
                await self._measure_round(ways, _WARM_UP_S)
                change_limit(pids, self._plan.quota)
                for _ in range(self._plan.rounds):
                    for cell, done in await self._measure_round(ways, self._plan.seconds):
                        counted = cell._replace(node_count=count)
                        self.results.rounds.setdefault(counted, []).append(done)

    async def _measure_round(
        self, ways: Sequence[_Way], seconds: float
    ) -> list[tuple[Cell, Round]]:
        servers = self._servers.all()
        return [
            (Cell(way, name, 0), await load.measure_rate(work, database, desks, servers, seconds))
            for name, work in load.WORKS.items()
            for way, database, desks in ways
        ]

    async def _open_all(self, stack: AsyncExitStack) -> list[_Way]:
        plain = await stack.enter_async_context(load.opened(self._plain_url))
        citus = await stack.enter_async_context(load.opened(self._url))
        return [(PLAIN, plain, self._plain_desks), (CITUS, citus, self._desks)]
