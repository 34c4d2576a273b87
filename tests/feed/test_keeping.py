"""How long the feed goes back: what is deleted, and who is told that something was."""

from collections.abc import Callable, Iterator

import pytest

from sealdesk.event_log import events
from sealdesk.worker import retention
from tests.support.client import Key
from tests.support.databases import Begin
from tests.support.feed import EVENTS, Feed, record, unplaced
from tests.support.service import Service, Tenant

DAY_S = 24 * 3600


@pytest.fixture(scope="module")
def service(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service of the module's own, whose clock goes forward by months."""
    with begin(tmp_path_factory.mktemp("keeping")) as service:
        yield service


@pytest.fixture
def key(tenant: Tenant) -> Key:
    return tenant.key()


@pytest.fixture
def feed(tenant: Tenant) -> Feed:
    return Feed(tenant)


@pytest.fixture
def days_later(service: Service, feed: Feed) -> Callable[[float], None]:
    """Lets days go by, with all the pruning that they bring."""

    def later(days: float) -> None:
        feed.recorded()
        service.clock.advance(days * DAY_S)
        service.in_background(retention.prune)

    return later


def resume(key: Key, cursor: str = "") -> str:
    """The cursor of who has read to the end."""
    answer = key.get(f"{EVENTS}?per_page=100" + (f"&cursor={cursor}" if cursor else ""))
    assert answer.status_code == 200, answer.text
    return str(answer.json()["meta"]["resume_cursor"])


Later = Callable[[float], None]


def test_who_missed_what_was_deleted_is_told(tenant: Tenant, key: Key, days_later: Later) -> None:
    cursor = resume(key)
    record(tenant, "ticket.created", 3)
    days_later(29)
    assert len(key.get(f"{EVENTS}?cursor={cursor}").json()["data"]) == 3
    days_later(1.1)
    for query in ("", "&wait=30"):
        problem = key.get(f"{EVENTS}?cursor={cursor}{query}").json()
        assert (problem["status"], problem["code"]) == (410, "cursor_expired")
        assert "start=latest" in problem["detail"]


def test_who_has_read_what_was_deleted_goes_on(
    tenant: Tenant, key: Key, feed: Feed, days_later: Later
) -> None:
    record(tenant, "ticket.created", 3)
    feed.recorded()
    cursor = resume(key)
    days_later(31)
    record(tenant, "customer.created")
    feed.recorded()
    shown = key.get(f"{EVENTS}?cursor={cursor}").json()["data"]
    assert [event["type"] for event in shown] == ["customer.created"]


def test_who_looks_every_twenty_days_misses_nothing(
    tenant: Tenant, key: Key, feed: Feed, days_later: Later
) -> None:
    cursor, seen = resume(key), 0
    for _ in range(5):
        record(tenant, "ticket.created", 2)
        days_later(20)
        page = key.get(f"{EVENTS}?cursor={cursor}").json()
        cursor, seen = page["meta"]["resume_cursor"], seen + len(page["data"])
    assert seen == 10


def test_without_a_cursor_the_oldest_that_is_kept_comes_first(
    tenant: Tenant, key: Key, days_later: Later
) -> None:
    record(tenant, "ticket.created", 3)
    days_later(16)
    record(tenant, "customer.created", 2)
    days_later(16)
    page = key.get(f"{EVENTS}?per_page=1").json()
    assert [event["type"] for event in page["data"]] == ["customer.created"]
    rest = key.get(f"{EVENTS}?cursor={page['meta']['next_cursor']}").json()["data"]
    assert [event["type"] for event in rest] == ["customer.created"]


def test_what_is_left_of_the_feed_has_no_gaps(
    service: Service, tenant: Tenant, key: Key, feed: Feed, days_later: Later
) -> None:
    days_later(10)
    now_us = service.clock.now_us()
    for age in (5, 1, 5, 1):  # in days: one of them was committed late
        feed.recorded()
        record(tenant, "ticket.created", at_us=now_us - age * DAY_S * 1_000_000)
    feed.recorded()
    page = key.get(f"{EVENTS}?per_page=1").json()
    days_later(26)
    kept = [row["position"] for row in feed.recorded()]
    assert kept == list(range(feed.last() - 2, feed.last() + 1))
    assert key.get(f"{EVENTS}?cursor={page['meta']['next_cursor']}").status_code == 200
    assert len(key.walk(EVENTS, per_page=1)) == 3


def test_what_has_no_position_yet_is_never_deleted(
    tenant: Tenant, key: Key, feed: Feed, service: Service
) -> None:
    feed.recorded()
    with unplaced():
        record(tenant, "ticket.created")
        service.clock.advance(31 * DAY_S)
        service.in_background(retention.prune)
    assert [row["type"] for row in feed.recorded()] == ["ticket.created"]
    assert [event["type"] for event in key.get(EVENTS).json()["data"]] == ["ticket.created"]


def test_each_step_of_deleting_is_noted(service: Service, tenant: Tenant, feed: Feed) -> None:
    record(tenant, "ticket.created", 5)
    count = len(feed.recorded())
    later_us = service.clock.now_us() + 1
    for _ in range(count + 1):
        service.write(lambda tx: events.prune(tx, tenant.id, later_us, 2))
        left = feed.recorded()
        assert feed.pruned() == feed.last() - len(left)
    assert left == []
