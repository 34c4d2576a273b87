"""The worker on a distributed database: each event gets its positions once, each row one worker."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from uuid import uuid4

import pytest

from sealdesk.db.engine import Tx
from sealdesk.event_log import consumers, events, positions
from sealdesk.event_log.consumers import Consumer
from sealdesk.mail.ratings.asking import list_questions
from sealdesk.mail.sending import store as sending
from sealdesk.mail.sending.queueing import MailQueue
from sealdesk.search.indexing import BESIDE_REQUESTS, INDEXES, Indexer
from sealdesk.tickets.erasing.steps import store as erasing
from sealdesk.tickets.tags.steps import store as renaming
from sealdesk.webhooks.delivery.fan_out import FanOut
from sealdesk.webhooks.store import deliveries, fan_out
from sealdesk_citus import store
from sealdesk_citus.database import CitusDatabase
from tests.support.tenant_rows import FilledDatabase, run

Env = dict[str, str]
_NOW_US = 1_800_000_000_000_000
_ADD_TENANT = "INSERT INTO tenants (id, name, created_at) VALUES (:id, 'x', 1)"
_KEPT = "SELECT position, log_position FROM events WHERE tenant_id = :tenant_id LIMIT 1000"
_BATCH = 20


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[CitusDatabase]:
    database = CitusDatabase(url, 4, name="test", is_pooled=False)
    try:
        yield database
    finally:
        await database.close()


def test_two_workers_at_once_keep_every_position_that_they_give(env: Env) -> None:
    async def work() -> list[tuple[int, list[int], set[int | None]]]:
        tenants = [str(uuid4()) for _ in range(4)]
        async with (
            _opened(env["SEALDESK_OWNER_DATABASE_URL"]) as owner,
            _opened(env["SEALDESK_DATABASE_URL"]) as serving,
            _opened(env["SEALDESK_WORKER_DATABASE_URL"]) as first,
            _opened(env["SEALDESK_WORKER_DATABASE_URL"]) as second,
        ):
            for tenant_id in tenants:
                await owner.write(partial(_add_tenant, tenant_id=tenant_id))
            recording = asyncio.gather(*(_record(serving, each) for each in tenants))
            both = [_place(each, tenants, recording) for each in (first, second)]
            await asyncio.gather(*both)
            return [await owner.read(partial(_feed, tenant_id=each)) for each in tenants]

    for last, feed, log_positions in run(work()):
        assert (last, feed) == (60, list(range(1, 61)))
        assert log_positions == {None}


async def _add_tenant(tx: Tx, tenant_id: str) -> None:
    await tx.execute(_ADD_TENANT, {"id": tenant_id})


async def _record(database: CitusDatabase, tenant_id: str) -> None:
    async def work(tx: Tx) -> None:
        for _ in range(3):
            await events.record(tx, tenant_id, "ticket.created", b"{}", {}, _NOW_US)

    for _ in range(20):
        await database.write(work, tenant_id)


async def _place(
    worker: CitusDatabase, tenants: list[str], recording: asyncio.Future[list[None]]
) -> None:
    """Give positions until all events are recorded and have theirs."""
    is_last = False
    while not is_last:
        is_last = recording.done()
        pending = await worker.read(_list_pending)
        for tenant_id in {*pending} & {*tenants}:
            await worker.write(partial(_place_of, tenant_id=tenant_id))
            is_last = False


async def _list_pending(tx: Tx) -> list[str]:
    return await store.list_pending_tenants(tx, "", 100)


async def _feed(tx: Tx, tenant_id: str) -> tuple[int, list[int], set[int | None]]:
    stored = await positions.list_positions(tx, tenant_id)
    rows = await tx.fetch_all(_KEPT, {"tenant_id": tenant_id})
    kept = sorted(row["position"] for row in rows)
    return stored[positions.END], kept, {row["log_position"] for row in rows}


_CLAIMS: list[Callable[[Tx], Awaitable[object]]] = [
    lambda tx: tx.select_for_update(deliveries._CLAIM_HEALTHY, {"now": _NOW_US, "limit": 9}),
    lambda tx: tx.select_for_update(deliveries._CLAIM_FAILING, {"now": _NOW_US, "limit": 9}),
    lambda tx: erasing.list_due_tenants(tx, _NOW_US, 9),
    lambda tx: erasing.claim_erasure(tx, str(uuid4()), _NOW_US),
    lambda tx: fan_out.claim_replays(tx, 9),
    lambda tx: renaming.list_due_tenants(tx, _NOW_US, 9),
    lambda tx: renaming.claim_renaming(tx, str(uuid4())),
    lambda tx: sending.list_due_mailboxes(tx, _NOW_US, 9),
    lambda tx: deliveries.find_backlog(tx, _NOW_US),
    lambda tx: store.list_behind(tx, "", 4, 9),
    store.find_oldest_pending,
]


@pytest.mark.parametrize("number", range(len(_CLAIMS)))
def test_work_of_all_tenants_is_found_and_claimed(
    env: Env, filled: FilledDatabase, number: int
) -> None:
    async def work() -> object:
        async with _opened(env["SEALDESK_WORKER_DATABASE_URL"]) as database:
            return await database.write(_CLAIMS[number])

    run(work())


def test_consumers_read_the_feed_of_a_tenant_to_its_end(env: Env) -> None:
    tenant_id = str(uuid4())
    each: list[Consumer] = [FanOut(tenant_id), MailQueue(list_questions, tenant_id)]
    each += [Indexer(index, BESIDE_REQUESTS, tenant_id) for index in INDEXES]

    async def work() -> tuple[list[str], dict[str, int], list[str]]:
        async with (
            _opened(env["SEALDESK_OWNER_DATABASE_URL"]) as owner,
            _opened(env["SEALDESK_DATABASE_URL"]) as serving,
            _opened(env["SEALDESK_WORKER_DATABASE_URL"]) as worker,
        ):
            await owner.write(partial(_add_tenant, tenant_id=tenant_id))
            await _record(serving, tenant_id)
            while await worker.write(partial(_place_of, tenant_id=tenant_id)):
                pass
            before = await worker.read(_list_behind)
            for consumer in each:
                await _run_to_end(worker, consumer)
            stored = await worker.read(partial(positions.list_positions, tenant_id=tenant_id))
            return before, stored, await worker.read(_list_behind)

    before, stored, after = run(work())
    assert stored == dict.fromkeys([positions.END, *(one.name for one in each)], 60)
    assert tenant_id in before
    assert tenant_id not in after


async def _place_of(tx: Tx, tenant_id: str) -> int:
    return await store.place_pending_of(tx, tenant_id, _BATCH)


async def _list_behind(tx: Tx) -> list[str]:
    return await store.list_behind(tx, "", 4, 100)


async def _run_to_end(worker: CitusDatabase, consumer: Consumer) -> None:
    while (await worker.write(lambda tx: consumers.run_step(tx, consumer, _NOW_US))).has_more:
        pass
