"""The requests of the measurement, without HTTP: what they do on the database."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import cycle, islice
from typing import NamedTuple

import msgspec

from bench.nodes.places import Place, Server
from sealdesk.caller import SYSTEM, Caller
from sealdesk.clock import Clock
from sealdesk.db.engine import Tx
from sealdesk.db.postgres.database import PostgresDatabase
from sealdesk.identity import store
from sealdesk.identity.store import Tenant
from sealdesk.resources.paging import PageRequest
from sealdesk.tickets import actions
from sealdesk.tickets.ticket.store import lists
from sealdesk.tickets.ticket.store.filters import Filter
from sealdesk.tickets.ticket.types import NewTicket

CLIENTS_EACH = 2  # of each shard
_CONNECTIONS = 16
_CLOCK = Clock()
_PAGE = PageRequest(25, None)
_TICKETS_EACH = 30
_FILLING = 8
_NEW = msgspec.convert(
    {
        "subject": "The invoice has the wrong address",
        "description": "Please send it again. " * 20,
        "customer": {"email": "customer@example.test", "name": "A Customer"},
        "tags": ["invoice"],
    },
    NewTicket,
)


class Desk(NamedTuple):
    """A tenant with tickets. place: its shard. ticket_id: of one of them."""

    place: Place
    caller: Caller
    ticket_id: str


Work = Callable[[PostgresDatabase, Desk], Awaitable[object]]


class Round(NamedTuple):
    """What one round did. CPU in milliseconds for each request, of each server."""

    requests_per_s: float
    cpu_ms: tuple[float, ...]


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[PostgresDatabase]:
    """The database as a process has it: on Citus it sends each tenant to the node of its rows."""
    database = PostgresDatabase(url, _CONNECTIONS, name="bench", is_pooled=False, has_time=True)
    try:
        yield database
    finally:
        await database.close()


async def fill(database: PostgresDatabase, places: Sequence[Place]) -> list[Desk]:
    """Create the tenants and their tickets."""
    slots = asyncio.Semaphore(_FILLING)

    async def fill_one(place: Place) -> Desk:
        caller = Caller(place.tenant_id, SYSTEM, frozenset(), "", has_custom_fields=False)

        async def add(tx: Tx) -> None:
            await store.add_tenant(tx, Tenant(place.tenant_id, "Bench", _CLOCK.now_us()))

        async with slots:
            await database.write(add, place.tenant_id)
            for _ in range(_TICKETS_EACH):
                ticket_id = await _open_ticket(database, caller)
        return Desk(place, caller, ticket_id)

    return [*await asyncio.gather(*map(fill_one, places))]


async def get_ticket(database: PostgresDatabase, desk: Desk) -> None:
    tenant_id = desk.caller.tenant_id
    await database.read(lambda tx: actions.get_view(tx, tenant_id, desk.ticket_id), tenant_id)


async def list_tickets(database: PostgresDatabase, desk: Desk) -> None:
    tenant_id = desk.caller.tenant_id
    rows = await database.read(
        lambda tx: lists.list_tickets(tx, tenant_id, Filter(), _PAGE), tenant_id
    )
    assert len(rows) >= _PAGE.per_page


async def create_ticket(database: PostgresDatabase, desk: Desk) -> None:
    await _open_ticket(database, desk.caller)


WORKS: dict[str, Work] = {
    "get a ticket": get_ticket,
    "list 25 tickets": list_tickets,
    "create a ticket": create_ticket,
}


async def measure_rate(
    work: Work,
    database: PostgresDatabase,
    desks: Sequence[Desk],
    servers: Sequence[Server],
    seconds: float,
) -> Round:
    """The rate of clients of which each waits for its response; two for each shard."""
    shards = sorted({desk.place.shard for desk in desks})
    end, done = time.monotonic() + seconds, 0

    async def call(shard: int, first: int) -> None:
        nonlocal done
        own = [desk for desk in desks if desk.place.shard == shard]
        for desk in islice(cycle(own), first, None):
            await work(database, desk)
            if time.monotonic() > end:
                return
            done += 1

    before = [server.cpu_s() for server in servers]
    async with asyncio.TaskGroup() as group:
        for shard in shards:
            for first in range(CLIENTS_EACH):
                group.create_task(call(shard, first))
    cpu_s = [server.cpu_s() - was for server, was in zip(servers, before, strict=True)]
    clients = len(shards) * CLIENTS_EACH
    return Round(done / seconds, tuple(1_000 * each / (done + clients) for each in cpu_s))


async def measure_latencies(
    work: Work,
    databases: Sequence[PostgresDatabase],
    desks: Sequence[Sequence[Desk]],
    samples: int,
) -> list[list[float]]:
    """Milliseconds of one request after the other, the databases in turn; desks: of each."""
    found: list[list[float]] = [[] for _ in databases]
    for number in range(samples):
        for each, database, own in zip(found, databases, desks, strict=True):
            desk = own[number % len(own)]
            began_at = time.perf_counter()
            await work(database, desk)
            each.append(1_000 * (time.perf_counter() - began_at))
    return found


async def _open_ticket(database: PostgresDatabase, caller: Caller) -> str:
    async def work(tx: Tx) -> str:
        opened = await actions.open_ticket(tx, caller, _NEW, source="api", now_us=_CLOCK.now_us())
        return opened.id

    return await database.write(work, caller.tenant_id)
