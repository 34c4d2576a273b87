"""Rates: how many requests a key may make, how many failures an address may show."""

import math
from collections.abc import Callable

import msgspec

PERIOD_S = 60.0
_SWEEP_ABOVE = 10_000


class RateState(msgspec.Struct, frozen=True):
    """Where a key stands after one request was asked for.

    retry_after_s: 0 when it was accepted. full_in_s: until the whole budget is back.
    """

    accepted: bool
    limit: int
    remaining: int
    full_in_s: float
    retry_after_s: float


class RateLimiter:
    """GCRA with a burst of the whole limit: in any t seconds at most limit + t·limit/60 pass.

    One number a key: the instant at which its bucket will be full again.
    """

    def __init__(self, monotonic_s: Callable[[], float]) -> None:
        self._monotonic_s = monotonic_s
        self._full_at: dict[str, float] = {}
        self._sweep_above = _SWEEP_ABOVE

    def take(self, key_id: str, limit: int) -> RateState:
        """Spend one request of the key's budget, if there is one."""
        now = self._monotonic_s()
        step = PERIOD_S / limit
        full_at = max(self._full_at.get(key_id, now), now)
        # A lowered limit must not leave a debt longer than one period.
        full_at = min(full_at, now + PERIOD_S)
        if full_at + step - now > PERIOD_S + 1e-9:
            return RateState(False, limit, 0, full_at - now, full_at + step - now - PERIOD_S)
        full_at += step
        self._full_at[key_id] = full_at
        if len(self._full_at) > self._sweep_above:
            self._full_at = {key: at for key, at in self._full_at.items() if at > now}
            # Twice what is left, so that many busy keys are not swept at every request.
            self._sweep_above = max(_SWEEP_ABOVE, 2 * len(self._full_at))
        remaining = math.floor((PERIOD_S - (full_at - now)) / step + 1e-9)
        return RateState(True, limit, remaining, full_at - now, 0.0)


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
