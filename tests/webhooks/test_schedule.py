"""The retry schedule of deliveries (spec decision 11)."""

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from sealdesk.webhooks.delivery import schedule
from sealdesk.webhooks.delivery.schedule import DELAYS_S, FAILING_US, RANDOM_BITS, Retry, next_retry
from sealdesk.webhooks.store import deliveries
from tests.support.for_each import for_each
from tests.support.receiver import Receiver, Reply
from tests.support.service import Service, Tenant, wait_until
from tests.webhooks.factories import made

NOW = 1_700_000_000_000_000
DRAWN = (0, 1, 2 ** (RANDOM_BITS - 1), 2**RANDOM_BITS - 1)
SECOND_US = 1_000_000
SLOW_S = 60  # How long a machine may take from an attempt to its result.


def delay_s(failures: int, drawn: int = 0, retry_after: str | None = None) -> float:
    """Of the next attempt after so many failures, with this one."""
    due_at = _retry(failures - 1, drawn, retry_after).due_at
    assert due_at is not None
    return (due_at - NOW) / SECOND_US


def _retry(before: int, drawn: int, retry_after: str | None, age_us: int = 0) -> Retry:
    return next_retry(before, NOW, age_us=age_us, random_bits=drawn, retry_after=retry_after)


@for_each("drawn", DRAWN)
@for_each("failures", range(1, 10))
def test_delays_follow_the_schedule_with_jitter(failures: int, drawn: int) -> None:
    wanted = (5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400)[failures - 1]
    assert 0.8 * wanted <= delay_s(failures, drawn) <= 1.2 * wanted


def test_delays_differ() -> None:
    assert len({delay_s(1, drawn) for drawn in DRAWN}) == len(DRAWN)


def test_the_tenth_failure_is_the_last() -> None:
    assert len(DELAYS_S) == 9
    assert _retry(9, 0, None) == Retry(10, None)


@pytest.mark.parametrize(
    ("wish", "seconds"),
    [
        ("9", 9),
        ("451", 451),
        ("86400", 86400),
        ("9" * 5000, 86400),
    ],
)
def test_a_longer_retry_after_is_honoured_up_to_a_day(wish: str, seconds: int) -> None:
    assert {delay_s(1, drawn, wish) for drawn in DRAWN} == {seconds}


def test_a_shorter_retry_after_changes_no_delay() -> None:
    for failures in range(1, 10):
        assert delay_s(failures, 0, "1") == delay_s(failures, 0)


def test_a_retry_after_uses_up_nothing_of_the_schedule_for_five_days() -> None:
    for before in (0, 3, 9, 10):
        kept = _retry(before, 0, "1", FAILING_US - 1)
        assert kept.failures == before and kept.due_at is not None
        assert _retry(before, 0, "1", FAILING_US) == _retry(before, 0, None)


def test_retry_after_may_be_a_date() -> None:
    at = datetime.fromtimestamp(NOW // SECOND_US + 400, UTC)
    assert delay_s(1, 0, format_datetime(at, usegmt=True)) == 400


@for_each("wish", ["", "soon", "-5", "1.5", "٣", "Wed, 99 Foo 2026 99:99:99 GMT"])
def test_invalid_retry_after_is_ignored(wish: str) -> None:
    assert delay_s(2, 0, wish) == delay_s(2, 0)


def test_only_410_disables_at_once() -> None:
    found = {status: schedule.disabled_reason(status, None, NOW) for status in range(200, 600)}
    assert {status for status, why in found.items() if why} == {410}
    assert found[410] == "gone"


@pytest.mark.parametrize(("since_s", "why"), [(5 * 86400 - 1, None), (5 * 86400, "failing")])
def test_five_days_of_failure_disable(since_s: int, why: str | None) -> None:
    assert schedule.disabled_reason(None, NOW - since_s * SECOND_US, NOW) == why


class Waiting:
    """A tenant with one failing delivery."""

    def __init__(self, tenant: Tenant, receiver: Receiver) -> None:
        self._service = tenant.service
        self._tenant_id = tenant.id
        self._receiver = receiver
        self.tried = 0

    def state(self) -> tuple[str, int, int | None]:
        sql = "SELECT status, attempt_count, due_at FROM deliveries WHERE tenant_id = :tenant_id"
        ((status, attempt_count, due_at),) = self._service.rows(sql, tenant_id=self._tenant_id)
        return status, attempt_count, due_at

    def until_tried(self) -> int | None:
        """The time of the next attempt, after one more attempt."""
        self.tried += 1
        self._receiver.wait(self.tried)
        wait_until(lambda: self.state()[1] == self.tried)
        return self.state()[2]

    def sent_at(self) -> int:
        sql = "SELECT max(sent_at) AS at FROM attempts WHERE tenant_id = :tenant_id"
        return int(self._service.rows(sql, tenant_id=self._tenant_id)[0]["at"])


def test_delivery_fails_after_ten_attempts_of_the_schedule(
    timed_service: Service, receiver: Receiver
) -> None:
    tenant = timed_service.tenant()
    made(tenant.admin(), receiver)
    receiver.answers(500, b"no")
    tenant.key().ticket()
    waiting = Waiting(tenant, receiver)
    due_at = waiting.until_tried()
    for base_s in DELAYS_S:
        assert due_at is not None
        assert 0.8 * base_s <= (due_at - waiting.sent_at()) / SECOND_US <= 1.2 * base_s + SLOW_S
        timed_service.clock.advance((due_at - timed_service.clock.now_us()) / SECOND_US)
        before, due_at = due_at, waiting.until_tried()
        assert waiting.sent_at() >= before
    assert waiting.state() == ("failed", 10, None)
    assert len({got.webhook_id for got in receiver.got}) == 1


def test_retry_after_of_the_receiver_is_applied(timed_service: Service, receiver: Receiver) -> None:
    tenant = timed_service.tenant()
    made(tenant.admin(), receiver)
    receiver.answers(503, headers={"Retry-After": "9"})
    tenant.key().ticket()
    waiting = Waiting(tenant, receiver)
    due_at = waiting.until_tried()
    assert due_at is not None
    assert 9 <= (due_at - waiting.sent_at()) / SECOND_US < 9 + SLOW_S


def test_an_endpoint_that_says_when_to_try_again_does_not_use_up_the_schedule(
    timed_service: Service, receiver: Receiver
) -> None:
    tenant = timed_service.tenant()
    made(tenant.admin(), receiver)
    receiver.answers(503, headers={"Retry-After": "1"})
    tenant.key().ticket()
    waiting = Waiting(tenant, receiver)
    for _ in range(12):
        due_at = waiting.until_tried()
        assert due_at is not None
        delay_s = (due_at - waiting.sent_at()) / SECOND_US
        assert 4 <= delay_s < 7 + SLOW_S
        timed_service.clock.advance(delay_s)
    assert waiting.state()[0] == "pending"


def test_the_newest_attempts_of_a_delivery_are_kept(
    timed_service: Service, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "KEPT_ATTEMPTS", 2)
    tenant = timed_service.tenant()
    made(tenant.admin(), receiver)
    receiver.answers(503, headers={"Retry-After": "1"})
    tenant.key().ticket()
    waiting = Waiting(tenant, receiver)
    for _ in range(4):
        waiting.until_tried()
        timed_service.clock.advance(7)
    sql = "SELECT number FROM attempts WHERE tenant_id = :of ORDER BY number LIMIT 9"
    assert [row["number"] for row in timed_service.rows(sql, of=tenant.id)][:2] in ([3, 4], [4, 5])


def test_the_first_success_after_an_outage_pulls_all_waiting_deliveries_forward(
    timed_service: Service, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "_PULLED_AT_ONCE", 2)
    tenant = timed_service.tenant()
    admin, key = tenant.admin(), tenant.key()
    endpoint_id = made(admin, receiver)["id"]
    # What was asked for, so that no first delivery is tried again before the last one is tried.
    receiver.answers(500, b"no", {"Retry-After": "300"})
    for _ in range(5):
        key.ticket()
    wait_until(lambda: _waiting(tenant) == [1] * 5)
    timed_service.clock.advance(300)
    wait_until(lambda: _waiting(tenant) == [2] * 5)
    timed_service.clock.advance(20)
    receiver.answers(200)
    key.ticket()
    wait_until(lambda: _waiting(tenant) == [])
    of = f"/api/v1/webhooks/{endpoint_id}/deliveries"
    shown = admin.get(of).json()["data"]
    assert [each["attempt_count"] for each in shown] == [1, 3, 3, 3, 3, 3]


def test_a_success_within_seconds_replaces_a_longer_retry_after_by_the_first_delay_once(
    timed_service: Service, receiver: Receiver
) -> None:
    tenant = timed_service.tenant()
    key = tenant.key()
    made(tenant.admin(), receiver)
    receiver.answers(503, headers={"Retry-After": "3600"})
    key.ticket()
    wait_until(lambda: _waiting(tenant) == [1])
    refused_id, refusal = receiver.got[0].webhook_id, receiver.answer(receiver.got[0])
    receiver.answer = lambda got: refusal if got.webhook_id == refused_id else Reply()
    key.ticket()
    wait_until(lambda: _waits_s(tenant) <= 5)
    timed_service.clock.advance(6)
    wait_until(lambda: _waiting(tenant) == [2])
    key.ticket()
    succeeded = "SELECT id FROM deliveries WHERE tenant_id = :of AND status = 'succeeded'"
    wait_until(lambda: len(timed_service.rows(succeeded, of=tenant.id)) == 2)
    assert _waits_s(tenant) > 3000


def test_a_delivery_that_fails_again_is_not_pulled_forward_twice(
    timed_service: Service, receiver: Receiver
) -> None:
    tenant = timed_service.tenant()
    key = tenant.key()
    made(tenant.admin(), receiver)
    receiver.answers(500, b"no")
    key.ticket()
    wait_until(lambda: _waiting(tenant) == [1])
    timed_service.clock.advance(7)
    wait_until(lambda: _waiting(tenant) == [2])
    timed_service.clock.advance(20)
    refused_id = receiver.got[0].webhook_id
    receiver.answer = lambda got: Reply(500 if got.webhook_id == refused_id else 200)
    key.ticket()
    wait_until(lambda: _waiting(tenant) == [3])
    for count in (5, 6):
        key.ticket()
        receiver.wait(count)
        wait_until(lambda: _waiting(tenant) == [3])
    sql = "SELECT retry_count FROM deliveries WHERE tenant_id = :of AND due_at IS NOT NULL LIMIT 9"
    assert [row["retry_count"] for row in timed_service.rows(sql, of=tenant.id)] == [2]


def _waiting(tenant: Tenant) -> list[int]:
    """How often each delivery was tried that waits for its next attempt."""
    sql = """SELECT d.attempt_count FROM deliveries d WHERE d.tenant_id = :of
        AND d.due_at IS NOT NULL ORDER BY d.id LIMIT 99"""
    return [row["attempt_count"] for row in tenant.service.rows(sql, of=tenant.id)]


def _waits_s(tenant: Tenant) -> float:
    """How long the last delivery still waits."""
    sql = "SELECT max(due_at) AS at FROM deliveries WHERE tenant_id = :of"
    due_at = int(tenant.service.rows(sql, of=tenant.id)[0]["at"])
    return (due_at - tenant.service.clock.now_us()) / SECOND_US
