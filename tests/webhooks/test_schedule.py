"""The retry schedule of deliveries (decisions 11)."""

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from sealdesk.webhooks.delivery import schedule
from sealdesk.webhooks.delivery.schedule import DELAYS_S, RANDOM_BITS, next_due
from tests.support.receiver import Receiver
from tests.support.service import Service, Tenant, wait_until
from tests.webhooks.factories import made

NOW = 1_700_000_000_000_000
DRAWN = (0, 1, 2 ** (RANDOM_BITS - 1), 2**RANDOM_BITS - 1)
SECOND_US = 1_000_000


def delay_s(failures: int, drawn: int = 0, retry_after: str | None = None) -> float:
    due_at = next_due(failures, NOW, random_bits=drawn, retry_after=retry_after)
    assert due_at is not None
    return (due_at - NOW) / SECOND_US


@pytest.mark.parametrize("drawn", DRAWN)
@pytest.mark.parametrize("failures", range(1, 10))
def test_delays_follow_the_schedule_with_jitter(failures: int, drawn: int) -> None:
    wanted = (5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400)[failures - 1]
    assert 0.8 * wanted <= delay_s(failures, drawn) <= 1.2 * wanted


def test_delays_differ() -> None:
    assert len({delay_s(1, drawn) for drawn in DRAWN}) == len(DRAWN)


def test_the_tenth_failure_is_the_last() -> None:
    assert len(DELAYS_S) == 9
    assert next_due(10, NOW, random_bits=0) is None


@pytest.mark.parametrize(
    ("wish", "seconds"),
    [
        ("0", 1),
        ("1", 1),
        ("9", 9),
        ("451", 451),
        ("3600", 3600),
        ("3601", 3600),
        ("9" * 5000, 3600),
    ],
)
def test_retry_after_is_honoured_from_a_second_to_an_hour(wish: str, seconds: int) -> None:
    for failures in range(1, 6):
        assert {delay_s(failures, drawn, wish) for drawn in DRAWN} == {seconds}


def test_retry_after_does_not_use_up_all_attempts_at_once() -> None:
    for failures in range(6, 10):
        assert delay_s(failures, 0, "1") == delay_s(failures, 0) >= 8 * 3600


def test_retry_after_may_be_a_date() -> None:
    at = datetime.fromtimestamp(NOW // SECOND_US + 400, UTC)
    assert delay_s(2, 0, format_datetime(at, usegmt=True)) == 400


@pytest.mark.parametrize("wish", ["", "soon", "-5", "1.5", "٣", "Wed, 99 Foo 2026 99:99:99 GMT"])
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
        before = waiting.sent_at()
        assert due_at is not None
        timed_service.clock.advance((due_at - timed_service.clock.now_us()) / SECOND_US)
        due_at = waiting.until_tried()
        assert 0.8 * base_s <= (waiting.sent_at() - before) / SECOND_US <= 1.2 * base_s
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
    assert 9 <= (due_at - waiting.sent_at()) / SECOND_US < 10
