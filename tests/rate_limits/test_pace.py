"""The pace of a busy tenant: its work is spread, so that requests of others go between."""

import asyncio
from types import SimpleNamespace

import pytest

from sealdesk.rate_limits import limiter
from sealdesk.rate_limits.limiter import TenantPace

LIMIT = 6000  # a minute: the pace is 200 units a second, of which 20 are free


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long requests have waited, in order; nobody waits for real."""
    found: list[float] = []

    async def sleep(for_s: float) -> None:
        found.append(round(for_s, 6))

    monkeypatch.setattr(limiter, "asyncio", SimpleNamespace(sleep=sleep))
    return found


class Time:
    """A time that a test moves on."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def request(pace: TenantPace, units: int, tenant: str = "a") -> None:
    """A request that turns out to be so much work."""
    pace.settle(tenant, asyncio.run(pace.wait(tenant)), units)


def test_a_tenant_within_its_pace_never_waits(waits: list[float]) -> None:
    time = Time()
    pace = TenantPace(LIMIT, time)
    for _ in range(20):
        request(pace, 1)
    for _ in range(100):
        time.now_s += 1 / 200
        request(pace, 1)
    assert waits == []


def test_the_work_of_a_request_delays_the_next_one(waits: list[float]) -> None:
    time = Time()
    pace = TenantPace(LIMIT, time)
    request(pace, 60)
    request(pace, 1)
    assert waits == [0.2]
    time.now_s += 0.4
    request(pace, 1)
    assert waits == [0.2]


def test_expensive_requests_at_once_run_one_after_another(waits: list[float]) -> None:
    async def at_once() -> list[int]:
        return [await pace.wait("a") for _ in range(4)]

    pace = TenantPace(LIMIT, Time())
    request(pace, 60)
    assert asyncio.run(at_once()) == [60] * 4
    assert waits == [0.2, 0.5, 0.8, 1.1]


def test_another_tenant_does_not_wait(waits: list[float]) -> None:
    pace = TenantPace(LIMIT, Time())
    for _ in range(5):
        request(pace, 60)
    waits.clear()
    request(pace, 1, "b")
    assert waits == []


def test_no_request_waits_for_more_than_five_seconds(waits: list[float]) -> None:
    pace = TenantPace(LIMIT, Time())
    request(pace, 10_000)
    request(pace, 1)
    assert waits == [5.0]


def test_idle_tenants_are_forgotten(waits: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiter, "_SWEEP_ABOVE", 3)
    time = Time()
    pace = TenantPace(LIMIT, time)
    for tenant in "abcdefgh":
        time.now_s += 1
        request(pace, 1, tenant)
        assert len(pace._turns) <= 4
    assert waits == []
