"""Reports have what a plain count over all rows has, however they were counted."""

import asyncio
from collections.abc import Iterator

import pytest

from sealdesk.db.engine import Tx
from sealdesk.event_log import consumers, events
from sealdesk.reports.steps import actions, store
from sealdesk.reports.steps.counting import ReportCounter
from sealdesk.state import AppState
from sealdesk.worker import stepper
from tests.reports.histories import History, is_counted
from tests.support.databases import ONE_LOG, Begin
from tests.support.service import Service, wait_until
from tests.teams.desks import TeamDesk

pytestmark = ONE_LOG


@pytest.fixture(scope="module")
def counting(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for all histories here: each has its desk, and moves the clock on."""
    with begin(tmp_path_factory.mktemp("counting")) as service:
        yield service


def history_of(service: Service, seed: int) -> History:
    desk = TeamDesk(service.tenant())
    teams = [desk.team(name, assignment="by_hand") for name in ("Orders", "Returns")]
    return History(desk.tenant, seed, teams, [desk.member(teams[0], name=name) for name in "AB"])


def rebuild(service: Service, tenant_id: str) -> None:
    service.write(lambda tx: store.begin_rebuild(tx, tenant_id))

    async def take_steps(state: AppState) -> None:
        while await stepper.REPORTS.step(state):
            pass

    service.in_background(take_steps)


def check(service: Service, seed: int, count: int) -> None:
    history = history_of(service, seed)
    history.act(count)
    wait_until(lambda: is_counted(history.tenant))
    plain = history.plain_count()
    assert history.recorded() == plain
    of_desk = [sums for place, sums in plain.items() if place[:2] == ("desk", 1)]
    assert sum(sums.get("reopened", 0) for sums in of_desk) > count / 200
    rebuild(service, history.tenant.id)
    assert history.recorded() == plain


def test_counting_events_and_counting_anew_give_a_plain_count(counting: Service) -> None:
    check(counting, 32, 400)


@pytest.mark.prove
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(3))
def test_the_same_for_long_histories(counting: Service, seed: int) -> None:
    check(counting, seed, 20_000)


def test_an_event_about_no_ticket_holds_nothing_up(counting: Service) -> None:
    history = history_of(counting, 5)

    async def record(tx: Tx) -> None:
        await events.record(tx, history.tenant.id, "ticket.created", b"{}", events.NO_CHANGES, 1)

    counting.write(record)
    history.act(20)
    wait_until(lambda: is_counted(history.tenant))
    assert history.recorded() == history.plain_count()


def test_two_workers_and_a_rebuild_at_once_give_the_same(counting: Service) -> None:
    history = history_of(counting, 7)
    history.act(120)
    tenant_id = history.tenant.id

    async def work(state: AppState) -> None:
        now_us = state.clock.now_us()

        async def consume() -> None:
            counter = ReportCounter()
            for turn in range(20):
                if turn % 3:
                    await counter.count_ahead(state.database)
                await state.database.write(lambda tx: consumers.run_step(tx, counter, now_us))

        async def count_anew() -> None:
            await state.database.write(lambda tx: store.begin_rebuild(tx, tenant_id))
            while await state.database.write(lambda tx: actions.run_step(tx, tenant_id, now_us)):
                pass

        await asyncio.gather(consume(), count_anew(), consume(), count_anew())

    counting.in_background(work)
    wait_until(lambda: is_counted(history.tenant))
    assert history.recorded() == history.plain_count()


def test_steps_that_are_stopped_are_taken_again(counting: Service) -> None:
    history = history_of(counting, 9)
    history.act(80)
    tenant_id = history.tenant.id

    async def work(state: AppState) -> None:
        await state.database.write(lambda tx: store.begin_rebuild(tx, tenant_id))
        for turns in range(30):
            step = asyncio.ensure_future(stepper.REPORTS.step(state))
            for _ in range(turns):
                await asyncio.sleep(0)
            step.cancel()
            await asyncio.wait([step])

    counting.in_background(work)
    wait_until(lambda: is_counted(history.tenant))
    assert history.recorded() == history.plain_count()
