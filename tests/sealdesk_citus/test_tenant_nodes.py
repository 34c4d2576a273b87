"""A node that cannot be reached from here is left out: every node answers for every tenant."""

from collections.abc import Awaitable, Callable, Iterator

import pytest
from asyncpg import Connection

from sealdesk.db.postgres.database import connect
from sealdesk.errors import ServiceUnavailable
from sealdesk_citus.tenant_nodes import TenantNodes
from tests.support.databases import Template
from tests.support.tenant_rows import run

_TENANT = "0198f3d0-0000-7000-8000-000000000001"
_UNREACHABLE = "127.0.0.1:1"
_ADDRESS = "SELECT host(inet_server_addr()) || ':' || inet_server_port()"


class _Nodes:
    """The pools of a process, whose tenants are all on one node; and what they tried."""

    def __init__(self, url: str, node: str) -> None:
        self.tried: list[str] = []
        self.pools = TenantNodes(url, 2, self._connect, self._find)
        self._node = node

    async def ask(self, tenant_id: str | None, *, at_node: bool = True) -> str:
        """The address of the node that answers."""
        pool, connection = await self.pools.acquire(tenant_id, at_node=at_node)
        try:
            return str(await connection.fetchval(_ADDRESS))
        finally:
            pool.release(connection, tenant_id)

    async def _connect(self, url: str) -> Connection:
        self.tried.append(_host_of(url))
        try:
            return await connect(url, name="test")
        except OSError as error:
            raise ServiceUnavailable from error

    async def _find(self, tenant_id: str) -> str:
        return self._node


def _use(url: str, node: str, work: Callable[[_Nodes], Awaitable[list[str]]]) -> list[str]:
    async def use() -> list[str]:
        nodes = _Nodes(url, node)
        try:
            return [*await work(nodes), *nodes.tried]
        finally:
            await nodes.pools.close()

    return run(use())


@pytest.fixture
def url(postgres_template: Template) -> Iterator[str]:
    with postgres_template.copied() as env:
        yield env["SEALDESK_DATABASE_URL"]


def test_a_node_that_cannot_be_reached_is_not_tried_again_at_once(url: str) -> None:
    async def work(nodes: _Nodes) -> list[str]:
        return [await nodes.ask(_TENANT), await nodes.ask(_TENANT)]

    home = _host_of(url)
    assert _use(url, _UNREACHABLE, work) == [home, home, _UNREACHABLE, home]


def test_what_concerns_no_tenant_is_asked_of_the_node_of_the_url(url: str) -> None:
    async def work(nodes: _Nodes) -> list[str]:
        return [await nodes.ask(None), await nodes.ask(_TENANT, at_node=False)]

    home = _host_of(url)
    assert _use(url, _UNREACHABLE, work) == [home, home, home]


def _host_of(url: str) -> str:
    return url.rpartition("@")[2].partition("/")[0]
