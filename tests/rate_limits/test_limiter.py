"""The counters: how many pass in any stretch of time, and what is remembered."""

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealdesk.rate_limits.failures import FailureCounter
from sealdesk.rate_limits.limiter import Budget, RateLimiter


class Seconds:
    """A time that a test moves on."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@given(
    limit=st.integers(1, 50),
    waits=st.lists(st.floats(0, 40, allow_subnormal=False), min_size=1, max_size=150),
)
@settings(max_examples=150)
def test_any_period_accepts_at_most_burst_and_refill(limit: int, waits: list[float]) -> None:
    time = Seconds()
    limiter, passed = RateLimiter(time), []
    for wait in waits:
        time.now += wait
        if limiter.take_now(Budget("key", limit)).accepted:
            passed.append(time.now)
    for first in range(len(passed)):
        for last in range(first, len(passed)):
            stretch = passed[last] - passed[first]
            assert last - first + 1 <= limit + stretch * limit / 60 + 1e-6


@given(limit=st.integers(1, 100_000), used=st.integers(0, 200))
@settings(max_examples=100)
def test_a_request_after_retry_after_is_accepted(limit: int, used: int) -> None:
    time = Seconds()
    limiter = RateLimiter(time)
    for _ in range(used):
        state = limiter.take_now(Budget("key", limit))
        if not state.accepted:
            time.now += state.retry_after_s
            assert limiter.take_now(Budget("key", limit)).accepted


@pytest.mark.parametrize("limit", [1, 7, 60, 1000, 99_999])
def test_remaining_requests_are_accepted_and_no_more(limit: int) -> None:
    limiter = RateLimiter(Seconds())
    states = [limiter.take_now(Budget("key", limit)) for _ in range(min(limit, 1000))]
    assert [state.remaining for state in states] == [limit - 1 - n for n in range(len(states))]


@pytest.mark.parametrize("uptime_s", [0.0, 39_000.123456789, 3e7 + 1 / 3])
def test_every_request_is_one_of_the_budget_after_any_uptime(uptime_s: float) -> None:
    limiter, budget = RateLimiter(lambda: uptime_s), Budget("a", 6000, 10.0)
    assert [limiter.take_now(budget).remaining for _ in range(1000)] == [*range(999, -1, -1)]
    assert not limiter.take_now(budget).accepted


def test_take_and_take_now_share_one_budget() -> None:
    limiter = RateLimiter(Seconds())
    limiter.take_now(Budget("key", 2))
    assert asyncio.run(limiter.take(Budget("key", 2))).remaining == 0
    assert not asyncio.run(limiter.take(Budget("key", 2))).accepted


@given(
    processes=st.integers(1, 7),
    limit=st.integers(7, 50),
    waits=st.lists(st.floats(0, 10, allow_subnormal=False), min_size=1, max_size=60),
)
@settings(max_examples=100)
def test_the_shares_of_a_limit_do_not_exceed_it_together(
    processes: int, limit: int, waits: list[float]
) -> None:
    time = Seconds()
    limiters, passed = [RateLimiter(time) for _ in range(processes)], []
    for wait in waits:
        time.now += wait
        for limiter in limiters:
            while limiter.take_now(Budget("key", limit), processes).accepted:
                passed.append(time.now)
    assert passed[0] == passed[processes - 1] == 1000.0 + waits[0]
    for first in range(len(passed)):
        stretch = passed[-1] - passed[first]
        assert len(passed) - first <= limit + stretch * limit / 60 + 1e-6


def test_shares_below_one_request_have_the_rate_of_the_whole_limit() -> None:
    time, limit, processes = Seconds(), 3, 20
    limiters = [RateLimiter(time) for _ in range(processes)]
    turn_s = 60 * processes / limit
    passed_at: dict[int, list[float]] = {place: [] for place in range(processes)}
    begun = time.now
    for second in range(int(10 * turn_s)):
        time.now = begun + second
        for place, limiter in enumerate(limiters):
            if limiter.take_now(Budget("key", limit), processes).accepted:
                passed_at[place].append(second)
    for times in passed_at.values():
        assert 10 <= len(times) <= 11
        assert times[0] <= turn_s
        assert all(later - earlier > 60 for earlier, later in pairwise(times))


def test_shares_below_one_request_have_the_burst_of_the_whole_limit_on_average() -> None:
    limit, processes, keys = 3, 20, 500
    limiters = [RateLimiter(Seconds()) for _ in range(processes)]
    passed = sum(
        limiter.take_now(Budget(f"key {place}", limit), processes).accepted
        for limiter in limiters
        for place in range(keys)
    )
    assert passed / keys == pytest.approx(limit, abs=0.6)


@given(used_s=st.integers(0, 2000), limit=st.integers(1, 6))
@settings(max_examples=150)
def test_a_share_below_one_request_accepts_after_retry_after(used_s: int, limit: int) -> None:
    time = Seconds()
    limiter = RateLimiter(time)
    for _ in range(used_s):
        time.now += 1
        limiter.take_now(Budget("key", limit), 7)
    state = limiter.take_now(Budget("key", limit), 7)
    if not state.accepted:
        time.now += state.retry_after_s
        assert limiter.take_now(Budget("key", limit), 7).accepted


def test_a_debt_from_another_process_counts_and_never_shrinks() -> None:
    time = Seconds()
    limiter = RateLimiter(time)
    limiter.raise_debt("key", time.now + 59.5)
    limiter.raise_debt("key", time.now + 30)
    assert limiter.debts_s() == {"key": 59.5}
    assert limiter.take_now(Budget("key", 120)).remaining == 0
    assert not limiter.take_now(Budget("key", 120)).accepted


def test_reserving_deducts_a_share_of_the_remaining_budget() -> None:
    limiter = RateLimiter(Seconds())
    for _ in range(20):
        limiter.take_now(Budget("key", 60))
    limiter.reserve(0.5)
    assert limiter.take_now(Budget("key", 60)).remaining == 19
    assert limiter.take_now(Budget("other", 60)).remaining == 59


def test_a_full_budget_is_swept_and_a_used_one_is_not() -> None:
    time = Seconds()
    limiter = RateLimiter(time)
    for place in range(10_000):
        limiter.take_now(Budget(f"old {place}", 1))
    time.now += 60
    limiter.take_now(Budget("new", 1))
    assert len(limiter._full_at) == 1
    assert not limiter.take_now(Budget("new", 1)).accepted


def test_many_busy_keys_are_not_swept_at_every_request() -> None:
    limiter = RateLimiter(Seconds())
    for place in range(10_002):
        limiter.take_now(Budget(f"busy {place}", 1))
    kept = limiter._full_at
    limiter.take_now(Budget("one more", 1))
    assert limiter._full_at is kept


def test_failures_are_counted_for_each_network_and_minute() -> None:
    time = Seconds(600.0)
    counter = FailureCounter(time, 2)
    assert [counter.note(["one"]) for _ in range(3)] == [False, False, True]
    assert counter.note(["other"]) is False
    time.now = 659.9
    assert counter.note(["one"]) is True
    time.now = 660.0
    assert counter.note(["one"]) is False


def test_a_client_that_changes_its_network_is_counted_in_the_larger_one() -> None:
    counter = FailureCounter(Seconds(600.0), 2)
    assert [counter.note([f"small {n}", "large"]) for n in range(3)] == [False, False, True]
