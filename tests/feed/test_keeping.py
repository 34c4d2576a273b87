"""The retention of events, and expired cursors."""

from collections.abc import Callable, Iterator

import pytest

from sealdesk.event_log import events
from tests.support.client import Key
from tests.support.databases import POSTGRESQL_ONLY, Begin
from tests.support.feed import EVENTS, Feed, record, unplaced
from tests.support.service import Service, Tenant

DAY_S = 24 * 3600


@pytest.fixture(scope="module")
def service(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service of this module, whose clock advances by months."""
    with begin(tmp_path_factory.mktemp("keeping")) as service:
        yield service


@pytest.fixture
def feed(tenant: Tenant) -> Feed:
    return Feed(tenant)


@pytest.fixture
def advance_days(service: Service, feed: Feed) -> Callable[[float], None]:
    """Advances the clock by days, then prunes."""

    def later(days: float) -> None:
        feed.recorded()
        service.clock.advance(days * DAY_S)
        service.prune()

    return later


def resume(key: Key, cursor: str = "") -> str:
    """The cursor of a client that has read to the end."""
    response = key.get(f"{EVENTS}?per_page=100" + (f"&cursor={cursor}" if cursor else ""))
    assert response.status_code == 200, response.text
    return str(response.json()["meta"]["resume_cursor"])


AdvanceDays = Callable[[float], None]


def test_a_cursor_before_deleted_events_is_refused(
    tenant: Tenant, key: Key, advance_days: AdvanceDays
) -> None:
    cursor = resume(key)
    record(tenant, "ticket.created", 3)
    advance_days(29)
    assert len(key.get(f"{EVENTS}?cursor={cursor}").json()["data"]) == 3
    advance_days(1.1)
    for query in ("", "&wait=30"):
        problem = key.get(f"{EVENTS}?cursor={cursor}{query}").json()
        assert (problem["status"], problem["code"]) == (410, "cursor_expired")
        assert "start=latest" in problem["detail"]


def test_a_cursor_after_deleted_events_is_valid(
    tenant: Tenant, key: Key, feed: Feed, advance_days: AdvanceDays
) -> None:
    record(tenant, "ticket.created", 3)
    feed.recorded()
    cursor = resume(key)
    advance_days(31)
    record(tenant, "customer.created")
    feed.recorded()
    shown = key.get(f"{EVENTS}?cursor={cursor}").json()["data"]
    assert [event["type"] for event in shown] == ["customer.created"]


def test_a_client_that_reads_every_twenty_days_misses_nothing(
    tenant: Tenant, key: Key, feed: Feed, advance_days: AdvanceDays
) -> None:
    cursor, seen = resume(key), 0
    for _ in range(5):
        record(tenant, "ticket.created", 2)
        advance_days(20)
        page = key.get(f"{EVENTS}?cursor={cursor}").json()
        cursor, seen = page["meta"]["resume_cursor"], seen + len(page["data"])
    assert seen == 10


def test_without_a_cursor_the_oldest_stored_event_comes_first(
    tenant: Tenant, key: Key, advance_days: AdvanceDays
) -> None:
    record(tenant, "ticket.created", 3)
    advance_days(16)
    record(tenant, "customer.created", 2)
    advance_days(16)
    page = key.get(f"{EVENTS}?per_page=1").json()
    assert [event["type"] for event in page["data"]] == ["customer.created"]
    rest = key.get(f"{EVENTS}?cursor={page['meta']['next_cursor']}").json()["data"]
    assert [event["type"] for event in rest] == ["customer.created"]


def test_the_feed_has_no_gaps_after_pruning(
    service: Service, tenant: Tenant, key: Key, feed: Feed, advance_days: AdvanceDays
) -> None:
    advance_days(10)
    now_us = service.clock.now_us()
    for age in (5, 1, 5, 1):  # in days: one of them was committed late
        feed.recorded()
        record(tenant, "ticket.created", at_us=now_us - age * DAY_S * 1_000_000)
    feed.recorded()
    page = key.get(f"{EVENTS}?per_page=1").json()
    advance_days(26)
    kept = [row["position"] for row in feed.recorded()]
    assert kept == list(range(feed.last() - 2, feed.last() + 1))
    assert key.get(f"{EVENTS}?cursor={page['meta']['next_cursor']}").status_code == 200
    assert len(key.walk(EVENTS, per_page=1)) == 3


@POSTGRESQL_ONLY
def test_an_event_without_a_position_is_not_deleted(
    tenant: Tenant, key: Key, feed: Feed, service: Service
) -> None:
    feed.recorded()
    with unplaced():
        record(tenant, "ticket.created")
        service.clock.advance(31 * DAY_S)
        service.prune()
    assert [row["type"] for row in feed.recorded()] == ["ticket.created"]
    assert [event["type"] for event in key.get(EVENTS).json()["data"]] == ["ticket.created"]


def test_each_step_of_pruning_is_recorded(service: Service, tenant: Tenant, feed: Feed) -> None:
    record(tenant, "ticket.created", 5)
    count = len(feed.recorded())
    later_us = service.clock.now_us() + 1
    for _ in range(count + 1):
        service.write(lambda tx: events.prune(tx, tenant.id, later_us, 2))
        left = feed.recorded()
        assert feed.pruned() == feed.last() - len(left)
    assert left == []
