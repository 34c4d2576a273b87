"""The process is killed again and again: each warning and each breach is told once."""

import asyncio
import multiprocessing
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from sealdesk.caller import SYSTEM, Caller
from sealdesk.clock import Clock
from sealdesk.db.engine import Tx
from sealdesk.db.factory import open_database
from sealdesk.settings import from_env
from sealdesk.state import make_state
from sealdesk.tickets import actions
from sealdesk.tickets.types import NewTicket, TicketCustomer
from sealdesk.worker import loop
from tests.support.databases import SQLITE_ONLY
from tests.support.service import Service, wait_until
from tests.tickets.promises.test_promises import made

_BATCH = 500
_UNTOLD = "SELECT count(*) FROM tickets WHERE alert_at IS NOT NULL"
_EVENTS = "SELECT type, changes, object FROM events WHERE type LIKE 'ticket.sla_%'"


def work(data_dir: Path) -> None:
    """The background loop of `sealdesk serve`."""
    settings = from_env({"SEALDESK_DATA_DIR": str(data_dir)})
    database = open_database(settings, name="killed")
    asyncio.run(loop.run(make_state(settings, database, Clock())))


def open_late_tickets(service: Service, count: int) -> None:
    """Tickets of three hours ago: the service's clock, by which nothing is over, is late."""
    service.clock.correct(-3 * 3600)
    tenant = service.tenant()
    made(tenant.admin(), first_response_minutes=60, resolution_minutes=90, warning_minutes=5)
    caller = Caller(tenant.id, SYSTEM, frozenset(), "")
    new = NewTicket("Help", "Please", TicketCustomer("a@b.test"))

    async def open_some(tx: Tx) -> None:
        for _ in range(_BATCH):
            now_us = service.clock.now_us()
            await actions.open_ticket(tx, caller, new, source="api", now_us=now_us)

    for _ in range(count // _BATCH):
        service.write(open_some)


def count_untold(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute(_UNTOLD).fetchone()[0])


def read_told(path: Path) -> Counter[tuple[str, str, str]]:
    """How often each (type, ticket, target) was told."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(_EVENTS).fetchall()
    decode = msgspec.json.decode
    return Counter((kind, decode(seen)["id"], *decode(changes)) for kind, changes, seen in rows)


def check(service: Service, count: int, between_kills: int) -> int:
    """How many processes were killed."""
    open_late_tickets(service, count)
    service.drop()
    path, kills = service.settings.database_path, 0
    while left := count_untold(path):
        process = multiprocessing.get_context("spawn").Process(target=work, args=(path.parent,))
        process.start()
        aim = max(0, left - between_kills)
        wait_until(lambda: count_untold(path) <= aim)  # noqa: B023
        process.kill()
        process.join()
        kills += 1
    told = read_told(path)
    assert len(told) == 4 * count
    assert {*told.values()} == {1}
    return kills


@SQLITE_ONLY
@pytest.mark.timeout(300)
@pytest.mark.prove
def test_2000_due_times_are_told_once_though_processes_are_killed(own_service: Service) -> None:
    assert check(own_service, 1_000, 300) > 2
