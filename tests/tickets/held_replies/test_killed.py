"""Workers are killed again and again: each held reply leaves once, and each author's in order."""

from functools import partial
from itertools import groupby
from multiprocessing.context import SpawnProcess

import pytest

from sealdesk.caller import SYSTEM, Actor, Caller, without_rights
from sealdesk.db.engine import Tx
from sealdesk.tickets import actions as tickets
from sealdesk.tickets.held_replies import actions
from sealdesk.tickets.ticket.types import NewTicket, TicketCustomer
from sealdesk.web.form import Form
from tests.support.databases import POSTGRESQL_ONLY, SQLITE_FIRST
from tests.support.service import Service, wait_until
from tests.tickets.promises.test_killed import end, queries, started

_OF_TICKET = 5
_HELD = "SELECT count(*) AS count FROM held_replies"
_SENT = "SELECT ticket_id, body FROM replies ORDER BY ticket_id, id"


def hold_replies(service: Service, ticket_count: int) -> None:
    """Some on each ticket; the clock of the service, by which none is due, stands still."""
    service.clock.correct(-3600)
    service.clock.stop()
    tenant, now_us = service.tenant(), service.clock.now_us()
    desk = Caller(tenant.id, SYSTEM, frozenset(), "")

    async def hold_on_one(tx: Tx) -> None:
        author = without_rights(tenant.id, Actor("user", users.pop(), "Ada"))
        new = NewTicket("Help", "Please", TicketCustomer("a@b.test"))
        opened = await tickets.open_ticket(tx, desk, new, source="api", now_us=now_us)
        for number in range(_OF_TICKET):
            form = Form([("body", f"Part {number}"), ("seen", "")])
            at_us = now_us + number
            await actions.hold(tx, author, opened.id, form, now_us=at_us, real_now_us=at_us)

    for _ in range(ticket_count):
        users = [tenant.user()] * 9  # work may run again
        service.write(hold_on_one)


def check(service: Service, ticket_count: int, *, workers: int, kills: int) -> None:
    """Kill a worker after the next replies so often, and let the last ones send the rest."""
    hold_replies(service, ticket_count)
    service.drop()
    with queries(service.settings) as query:

        def has_fewer_than(count: int) -> bool:
            return int(query(_HELD)[0]["count"]) < count

        running: list[SpawnProcess] = []
        try:
            for _ in range(kills):
                running += [started(service.settings) for _ in range(workers - len(running))]
                left = int(query(_HELD)[0]["count"])
                wait_until(partial(has_fewer_than, left))
                end(running.pop(0))
            assert not has_fewer_than(1)
            running.append(started(service.settings))
            wait_until(partial(has_fewer_than, 1))
        finally:
            for each in running:
                end(each)
        sent = [(row["ticket_id"], row["body"]) for row in query(_SENT)]
    parts = [[body for _, body in of_one] for _, of_one in groupby(sent, key=lambda row: row[0])]
    assert parts == [[f"Part {number}" for number in range(_OF_TICKET)]] * ticket_count


@SQLITE_FIRST
def test_each_reply_leaves_once_though_the_worker_is_killed(own_service: Service) -> None:
    check(own_service, 20, workers=1, kills=1)


@POSTGRESQL_ONLY
@pytest.mark.timeout(3600)
@pytest.mark.prove
def test_each_reply_leaves_once_by_two_workers_of_which_one_is_killed(
    own_service: Service,
) -> None:
    check(own_service, 400, workers=2, kills=5)
