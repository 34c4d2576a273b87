"""Rate limits of API keys, and the counter of failed authentications per address."""

import math
import secrets
from collections.abc import Callable
from typing import Literal, Protocol

import msgspec

PERIOD_S = 60.0
_SWEEP_ABOVE = 10_000
_SLACK_S = 1e-9  # the rounding error of a whole budget

Mode = Literal["per_process", "shared", "local"]


class RateState(msgspec.Struct, frozen=True):
    """The state of a key after one request.

    retry_after_s: 0 for an accepted request. full_in_s: until the whole budget is available.
    """

    accepted: bool
    limit: int
    remaining: int
    full_in_s: float
    retry_after_s: float


def accepted_state(limit: int, step_s: float, debt_s: float) -> RateState:
    """The state after an accepted request. step_s: what each request adds to the debt."""
    remaining = math.floor((PERIOD_S - debt_s) / step_s + _SLACK_S)
    return RateState(True, limit, remaining, debt_s, 0.0)


def refused_state(limit: int, step_s: float, debt_s: float) -> RateState:
    """The state after a request that was refused at this debt."""
    return RateState(False, limit, 0, debt_s, debt_s + step_s - PERIOD_S)


def is_exhausted(step_s: float, debt_s: float) -> bool:
    """Whether another request would exceed the limit."""
    return debt_s + step_s > PERIOD_S + _SLACK_S


class Limiter(Protocol):
    """Limits the requests of keys.

    mode: per_process without Redis; with Redis shared, or local while Redis is unavailable.
    fallbacks: how many times it has become local.
    """

    mode: Mode
    fallbacks: int

    async def start(self) -> None: ...

    async def take(self, key_id: str, limit: int) -> RateState:
        """Spend one request of the key's budget, if there is one. Never raises."""
        ...

    async def stop(self) -> None: ...


class RateLimiter:
    """GCRA with a burst of the whole limit: at most limit + t·limit/60 requests in any t seconds.

    Per key it stores the time at which the budget is full again; the time until then is its debt.
    """

    mode: Mode = "per_process"
    fallbacks = 0

    def __init__(self, monotonic_s: Callable[[], float]) -> None:
        self._monotonic_s = monotonic_s
        self._full_at: dict[str, float] = {}
        self._sweep_above = _SWEEP_ABOVE
        self._seed = secrets.randbits(64)

    async def start(self) -> None:
        pass

    async def stop(self) -> None:
        pass

    async def take(self, key_id: str, limit: int) -> RateState:
        """Spend one request of the key's budget, if there is one."""
        return self.take_now(key_id, limit)

    def take_now(self, key_id: str, limit: int, processes: int = 1) -> RateState:
        """`take` without await. processes: each of them allows its share of the limit."""
        now = self._monotonic_s()
        step_s = PERIOD_S * processes / limit
        # After a lower limit is set, the debt must not exceed one period.
        debt_s = min(max(self._full_at.get(key_id, now) - now, 0.0), PERIOD_S)
        if step_s > PERIOD_S:
            return self._take_in_turn(key_id, limit, step_s, debt_s)
        if is_exhausted(step_s, debt_s):
            return refused_state(limit, step_s, debt_s)
        debt_s += step_s
        self._record(key_id, now + debt_s)
        return accepted_state(limit, step_s, debt_s)

    def _take_in_turn(self, key_id: str, limit: int, step_s: float, debt_s: float) -> RateState:
        """For a share of less than one request a minute: accepts one in one minute of every step.

        The minutes of the processes differ at random, so that together they accept, on average,
        the burst and the rate of the whole limit.
        """
        now = self._monotonic_s()
        elapsed_s = (now + hash((self._seed, key_id)) % 1_000_000 / 1e6 * step_s) % step_s
        next_s = step_s - elapsed_s
        if debt_s <= _SLACK_S and (elapsed_s < PERIOD_S or next_s <= _SLACK_S):
            self._record(key_id, now + PERIOD_S)
            return RateState(True, limit, 0, PERIOD_S, 0.0)
        return RateState(False, limit, 0, debt_s, max(debt_s, next_s))

    def debt_s(self, key_id: str) -> float:
        """Seconds until the key's whole budget is available."""
        now = self._monotonic_s()
        return min(max(self._full_at.get(key_id, now) - now, 0.0), PERIOD_S)

    def debts_s(self) -> dict[str, float]:
        """The keys with a debt."""
        return {key_id: debt_s for key_id in self._full_at if (debt_s := self.debt_s(key_id))}

    def raise_debt(self, key_id: str, full_at: float) -> None:
        """Record a debt that Redis knows of. full_at: in this process's monotonic time."""
        if full_at > self._full_at.get(key_id, 0.0):
            self._record(key_id, full_at)

    def reserve(self, share: float) -> None:
        """Deduct this share of the remaining budget of every key that has a debt."""
        now = self._monotonic_s()
        for key_id, debt_s in self.debts_s().items():
            self._full_at[key_id] = now + debt_s + (PERIOD_S - debt_s) * share

    def _record(self, key_id: str, full_at: float) -> None:
        self._full_at[key_id] = full_at
        if len(self._full_at) > self._sweep_above:
            now = self._monotonic_s()
            self._full_at = {key: at for key, at in self._full_at.items() if at > now}
            # Twice the remaining number, so that many busy keys do not cause a sweep per request.
            self._sweep_above = max(_SWEEP_ABOVE, 2 * len(self._full_at))


class FailureCounter:
    """Counts failures per address in fixed minutes."""

    def __init__(self, monotonic_s: Callable[[], float], limit: int) -> None:
        self._monotonic_s = monotonic_s
        self._limit = limit
        self._minute = 0
        self._counts: dict[str, int] = {}

    def note(self, address: str) -> bool:
        """Count one failure; whether the address exceeds the limit in this minute."""
        minute = int(self._monotonic_s() // 60)
        if minute != self._minute:
            self._minute, self._counts = minute, {}
        count = self._counts.get(address, 0) + 1
        self._counts[address] = count
        return count > self._limit
