"""Looks for work of all tenants are at the shards of one node, and every few seconds at all."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

import asyncpg
import pytest

from sealdesk.db.engine import Tx
from sealdesk.mail.sending import store as sending
from sealdesk.tickets.snoozing import store as snoozing
from sealdesk.webhooks.store import deliveries
from sealdesk_citus import local_shards, nodes, store
from sealdesk_citus.database import CitusDatabase
from sealdesk_citus.tenant_nodes import find_node
from tests.support.citus import distributed_database, on_nodes
from tests.support.tenant_rows import run

Env = dict[str, str]
_TENANTS = [f"0198f3d0-0000-7000-8000-{number:012}" for number in range(1, 13)]
_TENANT = "INSERT INTO tenants (id, name, created_at) VALUES ($1, 'A', 1)"
_EVENT = """
INSERT INTO event_outbox (tenant_id, id, type, object, changes, created_at)
VALUES ($1, $1, 'ticket.created', '{}', '{}', 1)
"""


@pytest.fixture(scope="module")
def env() -> Iterator[Env]:
    """A database in which each tenant has an event without positions."""
    with distributed_database() as env:
        run(_fill(env))
        yield env


async def _fill(env: Env) -> None:
    connection = await asyncpg.connect(env["SEALDESK_OWNER_DATABASE_URL"])
    for tenant_id in _TENANTS:
        await connection.execute(_TENANT, tenant_id)
        await connection.execute(_EVENT, tenant_id)
    await connection.close()


@pytest.fixture(scope="module")
def urls(env: Env) -> list[str]:
    """Those of a worker beside each node that has shards."""
    return [each["SEALDESK_WORKER_DATABASE_URL"] for each in on_nodes(env)]


@asynccontextmanager
async def _workers(urls: list[str]) -> AsyncIterator[list[CitusDatabase]]:
    """The database as these workers have it."""
    opened = [CitusDatabase(url, 2, name="test", is_pooled=False) for url in urls]
    try:
        yield opened
    finally:
        for database in opened:
            await database.close()


async def _look(database: CitusDatabase) -> list[str]:
    return await database.read(lambda tx: store.list_pending_tenants(tx, "", 100))


def test_a_worker_looks_at_all_nodes_and_then_at_its_own(urls: list[str]) -> None:
    async def look() -> tuple[list[list[str]], list[list[str]]]:
        async with _workers(urls) as workers:
            return [await _look(each) for each in workers], [await _look(each) for each in workers]

    first, second = run(look())
    assert first == [_TENANTS, _TENANTS]
    assert all(second)
    assert sorted(second[0] + second[1]) == _TENANTS


def test_after_a_while_it_looks_at_all_nodes_again(
    urls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look() -> list[str]:
        async with _workers(urls) as (worker, _):
            await _look(worker)
            monkeypatch.setattr(local_shards, "EVERYWHERE_EVERY_S", 0.0)
            return await _look(worker)

    assert run(look()) == _TENANTS


def test_beside_the_coordinator_which_has_no_shards_it_looks_at_all(env: Env) -> None:
    async def look() -> list[str]:
        async with _workers([env["SEALDESK_WORKER_DATABASE_URL"]]) as (worker,):
            await _look(worker)
            return await _look(worker)

    assert run(look()) == _TENANTS


def test_what_concerns_a_tenant_is_sent_to_its_node(urls: list[str]) -> None:
    async def find(worker: CitusDatabase, tenant_id: str) -> tuple[str, str]:
        """The node of the tenant, as seen from the node of the URL and from there."""
        work = partial(find_node, tenant_id=tenant_id)
        return await worker.read(work), await worker.read(work, tenant_id)

    async def look() -> list[tuple[str, str]]:
        async with _workers(urls) as workers:
            return [await find(worker, each) for worker in workers for each in _TENANTS]

    found = run(look())
    assert {there for _, there in found} == {""}
    assert len({here for here, _ in found}) == 3, "on the node of the URL, or on another"


_LOOKS: Sequence[Callable[[Tx], Awaitable[object]]] = [
    lambda tx: deliveries.find_backlog(tx, 1),
    lambda tx: deliveries.lease_endpoints(tx, 1, 2, healthy=1, failing=1),
    lambda tx: sending.list_due_mailboxes(tx, 1, 10),
    lambda tx: snoozing.list_ended(tx, 1, 10),
]


@pytest.mark.parametrize("work", _LOOKS)
def test_each_look_is_possible_at_all_nodes_and_at_one(
    urls: list[str], work: Callable[[Tx], Awaitable[object]]
) -> None:
    async def look() -> None:
        async with _workers(urls) as (worker, _):
            assert await worker.write(work) == await worker.write(work)

    run(look())


def test_a_shard_that_moves_away_breaks_no_look(env: Env, urls: list[str]) -> None:
    owner_url = env["SEALDESK_OWNER_DATABASE_URL"]

    async def look() -> tuple[list[str], list[str]]:
        async with nodes.opened(owner_url) as connection, _workers(urls) as (worker, _):
            await _look(worker)
            own = await _look(worker)
            shard, target = await _find_move(connection, own[0])
            await nodes.move(connection, owner_url, shard, target, lambda done, total: None)
            await connection.execute("CALL citus_cleanup_orphaned_resources()")
            return own, await _look(worker)

    own, after = run(look())
    assert len(own) < len(_TENANTS)
    assert after == _TENANTS


async def _find_move(connection: asyncpg.Connection, tenant_id: str) -> tuple[int, str]:
    """The shard of a tenant, and another node."""
    shard = await nodes.find_shard(connection, tenant_id)
    places = await nodes.list_shards(connection)
    place = next(each["node"] for each in places if each["shard"] == shard)
    return shard, next(each["node"] for each in places if each["node"] != place)
