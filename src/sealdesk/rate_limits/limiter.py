"""Rates: how many requests a key may make, how many failures an address may show."""

import math
import secrets
from collections.abc import Callable
from typing import Literal, Protocol

import msgspec

PERIOD_S = 60.0
_SWEEP_ABOVE = 10_000
_SLACK_S = 1e-9  # what floating point may lose on a whole budget

Mode = Literal["per_process", "shared", "local"]


class RateState(msgspec.Struct, frozen=True):
    """Where a key stands after one request was asked for.

    retry_after_s: 0 when it was accepted. full_in_s: until the whole budget is back.
    """

    accepted: bool
    limit: int
    remaining: int
    full_in_s: float
    retry_after_s: float


def passed(limit: int, step_s: float, debt_s: float) -> RateState:
    """One request passed and left this debt. step_s: what each one adds to it."""
    remaining = math.floor((PERIOD_S - debt_s) / step_s + _SLACK_S)
    return RateState(True, limit, remaining, debt_s, 0.0)


def refused(limit: int, step_s: float, debt_s: float) -> RateState:
    """One request did not pass, because the debt is what it is."""
    return RateState(False, limit, 0, debt_s, debt_s + step_s - PERIOD_S)


def is_spent(step_s: float, debt_s: float) -> bool:
    """Whether one request more would be one too many."""
    return debt_s + step_s > PERIOD_S + _SLACK_S


class Limiter(Protocol):
    """What charges the requests of keys.

    mode: per_process when nothing is shared; else whether it is shared, or local for the time
    being. fallbacks: how many times it has become local.
    """

    mode: Mode
    fallbacks: int

    async def start(self) -> None: ...

    async def take(self, key_id: str, limit: int) -> RateState:
        """Spend one request of the key's budget, if there is one. Never raises."""
        ...

    async def stop(self) -> None: ...


class RateLimiter:
    """GCRA with a burst of the whole limit: in any t seconds at most limit + t·limit/60 pass.

    One number a key: the instant at which its bucket will be full again. Until then it is in debt.
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
        """The same at once; of several processes, each of which has its part of the limit."""
        now = self._monotonic_s()
        step_s = PERIOD_S * processes / limit
        # A lowered limit must not leave a debt longer than one period.
        debt_s = min(max(self._full_at.get(key_id, now) - now, 0.0), PERIOD_S)
        if step_s > PERIOD_S:
            return self._take_turn(key_id, limit, step_s, debt_s)
        if is_spent(step_s, debt_s):
            return refused(limit, step_s, debt_s)
        debt_s += step_s
        self._keep(key_id, now + debt_s)
        return passed(limit, step_s, debt_s)

    def _take_turn(self, key_id: str, limit: int, step_s: float, debt_s: float) -> RateState:
        """A part of less than one request a minute: one may pass in one minute of every step.

        Each process has its minutes at other times. So all of them together let limit pass at
        once and limit/60 a second, as ever: on average, where one alone cannot count.
        """
        now = self._monotonic_s()
        since_s = (now + hash((self._seed, key_id)) % 1_000_000 / 1e6 * step_s) % step_s
        next_s = step_s - since_s
        if debt_s <= _SLACK_S and (since_s < PERIOD_S or next_s <= _SLACK_S):
            self._keep(key_id, now + PERIOD_S)
            return RateState(True, limit, 0, PERIOD_S, 0.0)
        return RateState(False, limit, 0, debt_s, max(debt_s, next_s))

    def debt_s(self, key_id: str) -> float:
        """Seconds until the key's bucket is full."""
        now = self._monotonic_s()
        return min(max(self._full_at.get(key_id, now) - now, 0.0), PERIOD_S)

    def debts_s(self) -> dict[str, float]:
        """The keys whose buckets are not full."""
        return {key_id: debt_s for key_id in self._full_at if (debt_s := self.debt_s(key_id))}

    def raise_debt(self, key_id: str, full_at: float) -> None:
        """Take note of a debt that somebody else knows of. full_at: of this one's clock."""
        if full_at > self._full_at.get(key_id, 0.0):
            self._keep(key_id, full_at)

    def hold_back(self, part: float) -> None:
        """Take this part of what is left to every key that is in debt."""
        now = self._monotonic_s()
        for key_id, debt_s in self.debts_s().items():
            self._full_at[key_id] = now + debt_s + (PERIOD_S - debt_s) * part

    def _keep(self, key_id: str, full_at: float) -> None:
        self._full_at[key_id] = full_at
        if len(self._full_at) > self._sweep_above:
            now = self._monotonic_s()
            self._full_at = {key: at for key, at in self._full_at.items() if at > now}
            # Twice what is left, so that many busy keys are not swept at every request.
            self._sweep_above = max(_SWEEP_ABOVE, 2 * len(self._full_at))


class FailureCounter:
    """Counts failures per address in fixed minutes; above the bound an address has worn us out."""

    def __init__(self, monotonic_s: Callable[[], float], bound: int) -> None:
        self._monotonic_s = monotonic_s
        self._bound = bound
        self._minute = 0
        self._counts: dict[str, int] = {}

    def note(self, address: str) -> bool:
        """Count one failure; whether the address is above the bound in this minute."""
        minute = int(self._monotonic_s() // 60)
        if minute != self._minute:
            self._minute, self._counts = minute, {}
        count = self._counts.get(address, 0) + 1
        self._counts[address] = count
        return count > self._bound
