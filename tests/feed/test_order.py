"""No event is skipped or repeated, in whatever order transactions commit."""

import asyncio
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import asyncpg
import pytest

from sealdesk import ids
from sealdesk.worker.log_tasks import sequence
from sealdesk_citus import tenant_logs
from tests.support.client import Key
from tests.support.databases import POSTGRESQL_ONLY
from tests.support.feed import EVENTS, Feed, record
from tests.support.service import Service, Tenant

_INSERT = """
INSERT INTO event_outbox (tenant_id, id, type, object, changes, created_at)
VALUES ($1, $2, 'ticket.created', '{}', '{}', $3)
"""


@pytest.fixture
def feed(tenant: Tenant) -> Feed:
    return Feed(tenant)


class LateWriter:
    """Open transactions on PostgreSQL that have recorded events."""

    def __init__(self, service: Service, tenant: Tenant) -> None:
        self._service, self._tenant = service, tenant
        self._runner = asyncio.Runner()
        self._open: list[tuple[Any, Any]] = []

    def begin(self) -> str:
        """Record an event in a transaction that stays open; the event's id."""
        return self._runner.run(self._begin())

    async def _begin(self) -> str:
        connection = await asyncpg.connect(self._service.settings.owner_database_url)
        transaction = connection.transaction()
        await transaction.start()
        now_us = self._service.clock.now_us()
        event_id = ids.mint(now_us)
        await connection.execute(_INSERT, self._tenant.id, event_id, now_us)
        self._open.append((connection, transaction))
        return event_id

    def commit(self) -> None:
        """Commit all open transactions."""
        while self._open:
            self._runner.run(self._commit(*self._open.pop()))

    async def _commit(self, connection: Any, transaction: Any) -> None:
        await transaction.commit()
        await connection.close()

    def close(self) -> None:
        self.commit()
        self._runner.close()


@contextmanager
def late_writer(service: Service, tenant: Tenant) -> Iterator[LateWriter]:
    writer = LateWriter(service, tenant)
    try:
        yield writer
    finally:
        writer.close()


class Reader:
    """A client that reads the feed with cursors."""

    def __init__(self, key: Key, *, is_waiting: bool) -> None:
        self._key = key
        self._wait = "&wait=1" if is_waiting else ""
        self._cursor = ""
        self.seen: list[str] = []

    def look(self, per_page: int) -> bool:
        """Read a page; whether it is the last one."""
        query = f"per_page={per_page}{self._wait}{self._cursor}"
        response = self._key.get(f"{EVENTS}?{query}")
        assert response.status_code == 200, response.text
        page = response.json()
        self.seen += [event["id"] for event in page["data"]]
        self._cursor = f"&cursor={page['meta']['resume_cursor']}"
        return not page["meta"]["has_more"]

    def walk_until(self, is_over: Callable[[], bool]) -> None:
        numbers = random.Random(len(self._wait))
        while True:
            last_round = is_over()
            if self.look(numbers.randint(1, 7)) and last_round:
                return


@POSTGRESQL_ONLY
def test_a_late_commit_is_not_skipped(
    service: Service, tenant: Tenant, key: Key, feed: Feed
) -> None:
    reader = Reader(key, is_waiting=False)
    feed.recorded()
    with late_writer(service, tenant) as writer:
        early = writer.begin()
        (late,) = record(tenant, "ticket.created")
        feed.recorded()
        reader.look(100)
        assert (early < late, reader.seen) == (True, [late])
    feed.recorded()
    reader.look(100)
    assert reader.seen == [late, early]


def test_an_older_event_that_is_committed_late_comes_last(
    service: Service, tenant: Tenant, key: Key, feed: Feed
) -> None:
    reader = Reader(key, is_waiting=False)
    now_us = service.clock.now_us()
    expected = []
    for age_us in (0, 5_000_000, 1_000_000):
        expected += record(tenant, "ticket.created", 2, at_us=now_us - age_us)
        feed.recorded()
        reader.look(100)
    assert reader.seen == expected


def test_events_of_concurrent_writers_are_complete_and_in_order(
    service: Service, tenant: Tenant, key: Key, feed: Feed
) -> None:
    written: list[str] = []
    is_over = threading.Event()
    readers = [Reader(key, is_waiting=is_waiting) for is_waiting in (False, True)]
    with ThreadPoolExecutor(8) as pool, ExitStack() as stack:
        walks = [pool.submit(reader.walk_until, is_over.is_set) for reader in readers]
        sequencers = [pool.submit(_sequence_until, service, tenant, is_over) for _ in range(2)]
        writers = [pool.submit(_write, tenant, n) for n in range(3)]
        if service.settings.database_url:
            late = stack.enter_context(late_writer(service, tenant))
            written += _write_late(late)
        for writer in writers:
            written += writer.result(120)
        rows = [row["id"] for row in feed.recorded() if row["type"] == "ticket.created"]
        is_over.set()
        for done in (*walks, *sequencers):
            done.result(120)
    assert sorted(rows) == sorted(written)
    assert [reader.seen for reader in readers] == [rows, rows]


def _write(tenant: Tenant, seed: int) -> list[str]:
    numbers = random.Random(seed)
    written = []
    for _ in range(12):
        written += record(tenant, "ticket.created", numbers.randint(1, 4))
        time.sleep(numbers.random() * 0.03)
    return written


def _write_late(writer: LateWriter) -> list[str]:
    """Some transactions that each stay open while others begin and end."""
    numbers = random.Random(7)
    written = []
    for _ in range(4):
        written += [writer.begin() for _ in range(numbers.randint(1, 3))]
        time.sleep(numbers.random() * 0.15)
        writer.commit()
    return written


def _sequence_until(service: Service, tenant: Tenant, is_over: threading.Event) -> None:
    """A further sequencer beside the service's own."""
    has_tenant_logs = service.in_background(tenant_logs.has_tenant_logs)
    step = partial(tenant_logs.place_of, tenant_id=tenant.id) if has_tenant_logs else sequence
    while not is_over.is_set():
        service.in_background(step)
        time.sleep(0.002)
