"""Workers are killed again and again: each warning and each breach is told once."""

import asyncio
import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.context import SpawnProcess
from typing import Any

import msgspec
import pytest

from sealdesk.caller import SYSTEM, Caller
from sealdesk.db.engine import Database, Tx
from sealdesk.db.factory import open_database
from sealdesk.settings import Settings
from sealdesk.tickets import actions
from sealdesk.tickets.ticket.types import NewTicket, TicketCustomer
from tests.support.databases import ONE_LOG, POSTGRESQL_ONLY, SQLITE_FIRST
from tests.support.service import Service, wait_until
from tests.tickets.promises.killed_worker import work
from tests.tickets.promises.test_promises import made

_BATCH = 500
_UNTOLD = "SELECT count(*) AS count FROM tickets WHERE alert_at IS NOT NULL"
_UNSEQUENCED = "SELECT count(*) AS count FROM event_outbox"  # of PostgreSQL
_EVENTS = "SELECT type, changes, object FROM events WHERE type LIKE 'ticket.sla_%'"
_TOLD_OF_EACH = 4  # a warning and a breach of two promises


def open_late_tickets(service: Service, count: int) -> None:
    """Tickets of three hours ago: the service's clock, by which nothing is over, is late."""
    service.clock.correct(-3 * 3600)
    tenant = service.tenant()
    made(tenant.admin(), first_response_minutes=60, resolution_minutes=90, warning_minutes=5)
    caller = Caller(tenant.id, SYSTEM, frozenset(), "", has_policies=True)
    new = NewTicket("Help", "Please", TicketCustomer("a@b.test"))

    async def open_some(tx: Tx) -> None:
        for _ in range(min(_BATCH, count)):
            now_us = service.clock.now_us()
            await actions.open_ticket(tx, caller, new, source="api", now_us=now_us)

    for _ in range(0, count, _BATCH):
        service.write(open_some)


Query = Callable[[str], Sequence[Any]]


@contextmanager
def queries(settings: Settings) -> Iterator[Query]:
    """Gives the rows of the database of a service that has ended."""
    with asyncio.Runner() as runner:
        url = settings.owner_database_url

        async def opened() -> Database:
            return open_database(settings, name="test", url=url, has_time=True)

        async def read(sql: str) -> Sequence[Any]:
            return await database.read(lambda tx: tx.fetch_all(sql, {}))

        database = runner.run(opened())
        yield lambda sql: runner.run(read(sql))
        runner.run(database.close())


def read_told(query: Query) -> Counter[tuple[str, str, str]]:
    """How often each (type, ticket, target) was told."""
    decode = msgspec.json.decode
    return Counter(
        (row["type"], decode(row["object"])["id"], *decode(row["changes"]))
        for row in query(_EVENTS)
    )


def started(settings: Settings) -> SpawnProcess:
    process = multiprocessing.get_context("spawn").Process(target=work, args=(settings,))
    process.start()
    return process


@dataclass
class Plan:
    """How many workers run at once, and when one is killed after the next tickets were told."""

    workers: int = 1
    killed_after_s: float = 2
    most_kills: int = 1_000_000


def check(service: Service, count: int, plan: Plan) -> int:
    """How many processes were killed."""
    open_late_tickets(service, count)
    service.drop()
    with queries(service.settings) as query:
        kills = kill_again_and_again(service.settings, query, plan)
        told = read_told(query)
    assert len(told) == _TOLD_OF_EACH * count
    assert {*told.values()} == {1}
    return kills


def kill_again_and_again(settings: Settings, query: Query, plan: Plan) -> int:
    statements = (_UNTOLD, _UNSEQUENCED) if settings.database_url else (_UNTOLD,)

    def untold() -> int:
        return sum(int(query(each)[0]["count"]) for each in statements)

    running, kills = list[SpawnProcess](), 0
    try:
        while left := untold():
            running += [started(settings) for _ in range(plan.workers - len(running))]
            aim = left if kills < plan.most_kills else 1
            wait_until(lambda: untold() < aim)  # noqa: B023
            running[0].join(plan.killed_after_s)
            end(running.pop(0))
            kills += 1
    finally:
        for each in running:
            end(each)
    return kills


def end(process: SpawnProcess) -> None:
    process.kill()
    process.join()


@SQLITE_FIRST
def test_due_times_are_told_once_though_the_worker_is_killed(own_service: Service) -> None:
    check(own_service, 150, Plan(killed_after_s=0, most_kills=1))


@ONE_LOG
@pytest.mark.timeout(3600)
@pytest.mark.prove
def test_50000_due_times_are_told_once_though_the_worker_is_killed_every_two_seconds(
    own_service: Service,
) -> None:
    assert check(own_service, 12_500, Plan()) > 2


@POSTGRESQL_ONLY
@pytest.mark.timeout(3600)
@pytest.mark.prove
def test_50000_due_times_are_told_once_by_two_workers_of_which_one_is_killed_every_two_seconds(
    own_service: Service,
) -> None:
    assert check(own_service, 12_500, Plan(workers=2)) > 2
