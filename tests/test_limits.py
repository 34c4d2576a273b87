"""The counters: how many pass in any stretch of time, and what is remembered."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealdesk.limits import FailureCounter, RateLimiter


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
def test_in_any_stretch_of_time_at_most_burst_and_refill_pass(
    limit: int, waits: list[float]
) -> None:
    time = Seconds()
    limiter, passed = RateLimiter(time), []
    for wait in waits:
        time.now += wait
        if limiter.take("key", limit).accepted:
            passed.append(time.now)
    for first in range(len(passed)):
        for last in range(first, len(passed)):
            stretch = passed[last] - passed[first]
            assert last - first + 1 <= limit + stretch * limit / 60 + 1e-6


@given(limit=st.integers(1, 100_000), used=st.integers(0, 200))
@settings(max_examples=100)
def test_after_retry_after_the_next_one_passes(limit: int, used: int) -> None:
    time = Seconds()
    limiter = RateLimiter(time)
    for _ in range(used):
        state = limiter.take("key", limit)
        if not state.accepted:
            time.now += state.retry_after_s
            assert limiter.take("key", limit).accepted


@pytest.mark.parametrize("limit", [1, 7, 60, 1000, 99_999])
def test_what_remains_is_what_may_still_pass(limit: int) -> None:
    limiter = RateLimiter(Seconds())
    states = [limiter.take("key", limit) for _ in range(min(limit, 1000))]
    assert [state.remaining for state in states] == [limit - 1 - n for n in range(len(states))]


def test_a_full_bucket_is_forgotten_and_a_used_one_is_not() -> None:
    time = Seconds()
    limiter = RateLimiter(time)
    for place in range(10_000):
        limiter.take(f"old {place}", 1)
    time.now += 60
    limiter.take("new", 1)
    assert len(limiter._full_at) == 1
    assert not limiter.take("new", 1).accepted


def test_many_busy_keys_are_not_swept_at_every_request() -> None:
    limiter = RateLimiter(Seconds())
    for place in range(10_002):
        limiter.take(f"busy {place}", 1)
    kept = limiter._full_at
    limiter.take("one more", 1)
    assert limiter._full_at is kept


def test_failures_are_counted_for_each_address_and_minute() -> None:
    time = Seconds(600.0)
    counter = FailureCounter(time, 2)
    assert [counter.note("one") for _ in range(3)] == [False, False, True]
    assert counter.note("other") is False
    time.now = 659.9
    assert counter.note("one") is True
    time.now = 660.0
    assert counter.note("one") is False
