"""Consumers of the event log handle every event once, in order, each at its own pace."""

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.event_log import consumers, events, positions
from sealdesk.event_log.consumers import NOTHING, LogEvent, Step
from sealdesk.search.indexing import INDEXES
from sealdesk.state import AppState
from sealdesk.webhooks.delivery.fan_out import FanOut
from sealdesk.worker import steps
from sealdesk.worker.log_tasks import ConsumerTask
from tests.support.databases import POSTGRESQL_ONLY
from tests.support.feed import record, unplaced
from tests.support.service import Service, Tenant, wait_until

_STORE = """
INSERT INTO customer_documents (tenant_id, customer_id, number, words)
VALUES (:tenant_id, :id, :number, '')
"""
_STORED = "SELECT customer_id FROM customer_documents WHERE number = :number"
_LOG = "SELECT id FROM events ORDER BY log_position"


class Recorder:
    """A consumer that stores the id of each event in a unique column.

    fails_at: the id of an event that it cannot handle. most: events that it handles in one step.
    wants: whether it asks for events; unwanted: the ranges that it did not want.
    """

    def __init__(self, service: Service, number: int = -1) -> None:
        self.name = f"recorder {number}"
        self.tenant_id = ""
        self.batch_size = 3
        self.reads_objects = False
        self.most = 3
        self.fails_at = ""
        self.given: list[str] = []
        self.objects: list[bytes] = []
        self.recoveries = 0
        self.wants = True
        self.unwanted: list[tuple[int, int]] = []
        self._service = service
        self._number = number

    async def wants_any(self, tx: Tx, first: int, last: int) -> bool:
        if not self.wants:
            self.unwanted.append((first, last))
        return self.wants

    async def handle(self, tx: Tx, events: Sequence[LogEvent], now_us: int) -> int:
        for event in events[: self.most]:
            self.given.append(event.id)
            self.objects.append(event.object)
            stored_id = f"{self.name} {event.id}"
            document = {"tenant_id": event.tenant_id, "id": stored_id, "number": self._number}
            await tx.execute(_STORE, document)
            if event.id == self.fails_at:
                raise ValueError("a fault of the consumer")
        return len(events[: self.most])

    async def recover(self, tx: Tx) -> None:
        self.recoveries += 1

    def run_step(self) -> Step:
        return self._service.write(lambda tx: consumers.run_step(tx, self, 0))

    def run(self) -> None:
        """Handle all events."""
        while self.run_step().has_more:
            pass

    def stored(self) -> list[str]:
        rows = self._service.rows(_STORED, number=self._number)
        return sorted(row["customer_id"].removeprefix(f"{self.name} ") for row in rows)


@pytest.fixture
def service(own_service: Service) -> Service:
    """A service whose log has only the events of one test."""
    return own_service


@pytest.fixture
def recorder(service: Service) -> Recorder:
    return Recorder(service)


@pytest.fixture
def fast_failures(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(steps, "_AFTER_FAILURE_S", 0.01)
    yield


def log(service: Service) -> list[str]:
    """The ids of all events in the order of the log, once they are placed."""
    service.settle()
    return [row["id"] for row in service.rows(_LOG)]


def test_all_events_of_all_tenants_are_handled_in_the_order_of_the_log(
    service: Service, recorder: Recorder
) -> None:
    tenants = [service.tenant() for _ in range(3)]
    for _ in range(4):
        for tenant in tenants:
            record(tenant, "ticket.created", 2)
    expected = log(service)
    recorder.run()
    assert recorder.given == expected
    record(tenants[0], "ticket.created", 4)
    expected = log(service)
    recorder.run()
    assert recorder.given == expected


def test_a_step_is_given_a_bounded_number_of_events(
    service: Service, tenant: Tenant, recorder: Recorder
) -> None:
    record(tenant, "ticket.created", 10)
    expected = log(service)
    assert recorder.run_step() == Step(3, has_more=True)
    assert recorder.given == expected[:3]


def test_a_step_is_given_a_bounded_number_of_bytes(
    service: Service, tenant: Tenant, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "MAX_STEP_BYTES", 1)
    recorder.batch_size = recorder.most = 50
    recorder.reads_objects = True
    record(tenant, "ticket.created", 10)
    expected = log(service)
    step = recorder.run_step()
    assert (0 < step.event_count < 3, step.has_more) == (True, True)
    recorder.run()
    assert recorder.given == expected
    assert all(recorder.objects)


def test_a_consumer_that_reads_no_objects_is_given_none(
    service: Service, tenant: Tenant, recorder: Recorder
) -> None:
    record(tenant, "ticket.created", 2)
    expected = log(service)
    recorder.run()
    assert recorder.objects == [b""] * len(expected)


def test_unhandled_events_of_a_step_are_given_again(
    service: Service, tenant: Tenant, recorder: Recorder
) -> None:
    record(tenant, "ticket.created", 10)
    expected = log(service)
    recorder.most = 2
    recorder.run()
    assert recorder.given == expected


def test_after_a_failure_another_process_continues_from_the_stored_position(
    service: Service, tenant: Tenant, recorder: Recorder
) -> None:
    record(tenant, "ticket.created", 10)
    expected = log(service)
    recorder.fails_at = expected[4]
    with pytest.raises(Exception, match="a fault"):
        recorder.run()
    assert recorder.stored() == sorted(expected[:3])  # the batch of the failure is undone
    other = Recorder(service)
    other.run()
    assert other.given == expected[3:]
    assert other.stored() == sorted(expected)


@POSTGRESQL_ONLY
def test_events_without_a_position_wait(
    service: Service, tenant: Tenant, recorder: Recorder
) -> None:
    log(service)
    recorder.run()
    recorder.given.clear()
    with unplaced():
        new = record(tenant, "ticket.created", 2)
        assert service.read(lambda tx: consumers.find_lags(tx, [recorder.name])) == {}
        assert recorder.run_step() == NOTHING
    log(service)
    assert service.read(lambda tx: consumers.find_lags(tx, [recorder.name])) == {recorder.name: 2}
    recorder.run()
    assert recorder.given == new


def test_late_commit_is_not_skipped_by_a_consumer(
    service: Service, tenant: Tenant, recorder: Recorder
) -> None:
    now_us = service.clock.now_us()
    for age_us in (0, 5_000_000, 1_000_000):
        record(tenant, "ticket.created", 2, at_us=now_us - age_us)
        expected = log(service)
        recorder.run()
    assert recorder.given == expected


def test_several_workers_at_once_handle_each_event_once(
    service: Service, tenant: Tenant, recorder: Recorder
) -> None:
    async def steps(state: AppState) -> None:
        async def step() -> None:
            await state.database.write(lambda tx: consumers.run_step(tx, recorder, 0))

        for _ in range(12):
            await asyncio.gather(*(step() for _ in range(4)))

    for _ in range(5):
        record(tenant, "ticket.created", 5)
        log(service)
        service.in_background(steps)
    assert recorder.given == log(service)


@pytest.mark.usefixtures("fast_failures")
def test_a_failing_consumer_does_not_hold_back_others(service: Service, tenant: Tenant) -> None:
    failing, working = Recorder(service, -1), Recorder(service, -2)
    record(tenant, "ticket.created", 5)
    expected = log(service)
    failing.fails_at = expected[0]
    with consuming(service, failing, working):
        wait_until(lambda: working.stored() == sorted(expected))
        wait_until(lambda: len(failing.given) > 1)  # it is tried again
        failing.fails_at = ""
        wait_until(lambda: failing.stored() == sorted(expected))


@POSTGRESQL_ONLY
def test_a_slow_consumer_does_not_hold_back_others(service: Service, tenant: Tenant) -> None:
    slow, working = Slow(service, -1), Recorder(service, -2)
    record(tenant, "ticket.created", 5)
    expected = log(service)
    with consuming(service, slow, working):
        wait_until(lambda: working.stored() == sorted(expected))
        assert slow.stored() == []
        slow.is_slow = False
        wait_until(lambda: slow.stored() == sorted(expected))


class Slow(Recorder):
    """A recorder that does not finish while it is slow."""

    is_slow = True

    async def handle(self, tx: Tx, events: Sequence[LogEvent], now_us: int) -> int:
        while self.is_slow:  # noqa: ASYNC110 - set by another thread
            await asyncio.sleep(0.01)
        return await super().handle(tx, events, now_us)


class consuming:
    """Runs each consumer in its own task, and wakes them repeatedly."""

    def __init__(self, service: Service, *recorders: Recorder) -> None:
        self._service = service
        self._tasks = [ConsumerTask(each, lambda: None) for each in recorders]

    def __enter__(self) -> None:
        async def wake() -> None:
            while True:
                for task in self._tasks:
                    task.wakeup.set()
                await asyncio.sleep(0.01)

        async def start(state: AppState) -> list[asyncio.Task[None]]:
            runs = [asyncio.create_task(task.run(state)) for task in self._tasks]
            return [*runs, asyncio.create_task(wake())]

        self._running = self._service.in_background(start)

    def __exit__(self, *_: object) -> None:
        async def stop(_: AppState) -> None:
            for task in self._running:
                task.cancel()
            await asyncio.wait(self._running)

        self._service.in_background(stop)


def _prune(service: Service, tenant: Tenant) -> None:
    later_us = service.clock.now_us() + 1
    service.write(lambda tx: events.prune(tx, tenant.id, later_us, 100))


def test_a_consumer_recovers_from_events_that_are_pruned_before_it_reads_them(
    service: Service, tenant: Tenant, recorder: Recorder
) -> None:
    record(tenant, "ticket.created", 4)
    log(service)
    recorder.run()
    assert recorder.recoveries == 0
    record(tenant, "ticket.created", 4)
    log(service)
    _prune(service, tenant)
    recorder.run()  # nothing is left to read
    assert recorder.recoveries == 1
    record(tenant, "ticket.created", 4)
    log(service)
    _prune(service, tenant)
    new = record(service.tenant(), "ticket.created", 4)
    log(service)
    recorder.given.clear()
    recorder.run()
    assert recorder.recoveries == 2
    assert recorder.given[-4:] == new
    recorder.run()
    assert recorder.recoveries == 2


def test_events_that_are_pruned_after_they_are_read_need_no_recovery(
    service: Service, tenant: Tenant, recorder: Recorder
) -> None:
    record(tenant, "ticket.created", 4)
    log(service)
    recorder.run()
    _prune(service, tenant)
    record(tenant, "ticket.created", 4)
    log(service)
    recorder.run()
    assert recorder.recoveries == 0


def test_the_names_under_which_positions_are_stored_never_change() -> None:
    names = [FanOut.name, *(index.name for index in INDEXES)]
    assert names == ["webhooks", "ticket_search", "customer_search"]


@POSTGRESQL_ONLY
def test_events_that_a_consumer_does_not_want_are_passed_once(
    service: Service, tenant: Tenant
) -> None:
    recorder = Recorder(service)
    record(tenant, "ticket.created")
    service.settle()
    recorder.run()
    count = len(recorder.given)
    recorder.wants = False
    record(tenant, "ticket.created", 5)
    service.settle()
    recorder.run()
    recorder.wants = True
    last = record(tenant, "ticket.created")
    service.settle()
    recorder.run()
    assert recorder.unwanted == [(count + 1, count + 3), (count + 4, count + 5)]
    assert recorder.given[count:] == last


@POSTGRESQL_ONLY
def test_a_step_that_another_worker_overtakes_passes_nothing(
    service: Service, tenant: Tenant
) -> None:
    recorder = Recorder(service)
    record(tenant, "ticket.created", 2)
    service.settle()
    recorder.run()
    reached = len(recorder.given)

    async def pass_late(tx: Tx) -> None:
        await positions.advance(tx, recorder.name, reached - 1, reached + 5)

    with pytest.raises(ServiceUnavailable):
        service.write(pass_late)
    stored = service.read(positions.list_positions)
    assert stored[recorder.name] == reached
