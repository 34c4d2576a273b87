"""An export while others write: every ticket from before is there once, none is there twice."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from sealdesk.caller import SYSTEM, Caller
from sealdesk.client import Desk
from sealdesk.client.parameters import NewTicket
from sealdesk.db.engine import Tx
from sealdesk.tickets import actions
from sealdesk.tickets.ticket import types
from tests.support.service import Tenant

TICKET: NewTicket = {
    "subject": "S",
    "description": "D",
    "customer": {"email": "a@example.test"},
}


def _exported_while_others_write(desk: Desk, other: Desk, per_page: int) -> list[str]:
    """The ids of an export, during which another desk opens tickets before each page."""
    ids: list[str] = []
    for page in desk.tickets.list(per_page=per_page).pages():
        ids += [each.id for each in page.data]
        other.tickets.create(**TICKET)
    return ids


def test_tickets_that_are_opened_meanwhile_hide_and_repeat_none(
    tenant: Tenant, make_desk: Callable[..., Desk]
) -> None:
    desk, other = make_desk(tenant.key()), make_desk(tenant.key())
    before = [other.tickets.create(**TICKET).id for _ in range(9)]
    assert _exported_while_others_write(desk, other, per_page=2) == before[::-1]


def _fill(tenant: Tenant, count: int) -> None:
    caller = Caller(tenant.id, SYSTEM, frozenset(), "")
    new = types.NewTicket("S", "D", types.TicketCustomer("a@example.test"))
    now_us = tenant.service.clock.now_us()

    async def work(tx: Tx) -> None:
        for _ in range(500):
            await actions.open_ticket(tx, caller, new, source="api", now_us=now_us)

    for _ in range(count // 500):
        tenant.service.write(work)


@pytest.mark.prove
@pytest.mark.timeout(3600)
def test_100_000_tickets_are_exported_once_while_others_are_opened(
    tenant: Tenant, make_desk: Callable[..., Desk]
) -> None:
    _fill(tenant, 100_000)
    desk, other = make_desk(tenant.key()), make_desk(tenant.key())
    begin = other.tickets.create(**TICKET).number
    ended = threading.Event()

    def write() -> int:
        count = 0
        while not ended.is_set():
            other.tickets.create(**TICKET)
            count += 1
        return count

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        numbers = [each.number for each in desk.tickets.list()]
        ended.set()
        assert writing.result() > 100
    old = [number for number in numbers if number <= begin]
    assert len(numbers) == len(set(numbers))
    assert len(old) == 100_001
