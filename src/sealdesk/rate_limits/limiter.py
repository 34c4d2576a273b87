"""Rate limits of API keys and tenants, and the pace of a busy tenant."""

import asyncio
import math
import secrets
from collections.abc import Callable
from functools import lru_cache
from typing import Literal, NamedTuple

import msgspec

from sealdesk.caller import Caller
from sealdesk.errors import TooManyRequests
from sealdesk.errors.general import TENANT_RATE_LIMIT_EXCEEDED

PERIOD_S = 60.0
# What a tenant may use at once (decision 0030). A minute's budget at once would be 12 s of CPU.
TENANT_BURST_S = 10.0
# A tenant may work at this multiple of its limit, and as much at once as it may in _FREE_S.
_PACE = 2
_FREE_S = 0.1
_MAX_WAIT_S = 5.0
_SWEEP_ABOVE = 10_000
_SLACK_S = 1e-9  # the rounding error of a whole budget

Mode = Literal["per_process", "shared", "local"]


class Budget(NamedTuple):
    """What a key or a tenant may use: `limit` a minute, and `burst_s` seconds of that at once."""

    id: str
    limit: int
    burst_s: float = PERIOD_S


# Two for each request; making one takes 0.4 µs, and finding it 0.1.
budget_of = lru_cache(maxsize=4096)(Budget)


class RateState(msgspec.Struct, frozen=True):
    """The state of a budget after one request.

    limit: what may be used at once. retry_after_s: 0 for an accepted request.
    full_in_s: until the whole budget is available.
    """

    accepted: bool
    limit: int
    remaining: int
    full_in_s: float
    retry_after_s: float


def accepted_state(budget: Budget, step_s: float, debt_s: float) -> RateState:
    """The state after an accepted request. step_s: what each request adds to the debt."""
    _, limit, burst_s = budget
    remaining = math.floor((burst_s - debt_s) / step_s + _SLACK_S)
    if burst_s != PERIOD_S:
        limit = int(limit * burst_s / PERIOD_S)
    return RateState(True, limit, remaining if remaining > 0 else 0, debt_s, 0.0)


def refused_state(budget: Budget, step_s: float, debt_s: float) -> RateState:
    """The state after a request that was refused at this debt."""
    _, limit, burst_s = budget
    return RateState(False, int(limit * burst_s / PERIOD_S), 0, debt_s, debt_s + step_s - burst_s)


def is_exhausted(budget: Budget, step_s: float, debt_s: float) -> bool:
    """Whether another request would exceed the limit."""
    return debt_s + step_s > budget.burst_s + _SLACK_S


def whole_seconds(seconds: float) -> int:
    """Rounded up; 1.000000000002, an error of the arithmetic, is 1."""
    return math.ceil(round(seconds, 6))


def retry_after_s(refused: RateState) -> int:
    """The value of Retry-After."""
    return max(1, whole_seconds(refused.retry_after_s))


def check_tenant(state: RateState) -> None:
    """Raises TooManyRequests when the tenant's budget is used up."""
    if not state.accepted:
        raise TooManyRequests(
            TENANT_RATE_LIMIT_EXCEEDED,
            limit=state.limit,
            window_s=f"{TENANT_BURST_S:g}",
            wait_s=retry_after_s(state),
        )


def rate_headers(tenant: RateState, key: RateState, now_us: int) -> tuple[tuple[bytes, bytes], ...]:
    """The headers with both policies, and the older ones with that of the key."""
    limit, remaining, full_in_s = key.limit, key.remaining, whole_seconds(key.full_in_s)
    reset = -(-now_us // 1_000_000) + full_in_s
    tenant_full_in_s = whole_seconds(tenant.full_in_s)
    return (
        (b"ratelimit-policy", _policies(limit, tenant.limit)),
        (
            b"ratelimit",
            b'"key";r=%d;t=%d, "tenant";r=%d;t=%d'
            % (remaining, full_in_s, tenant.remaining, tenant_full_in_s),
        ),
        (b"x-ratelimit-limit", b"%d" % limit),
        (b"x-ratelimit-remaining", b"%d" % remaining),
        (b"x-ratelimit-reset", b"%d" % reset),
    )


@lru_cache(maxsize=1024)
def _policies(key_limit: int, tenant_limit: int) -> bytes:
    return b'"key";q=%d;w=60, "tenant";q=%d;w=%d' % (key_limit, tenant_limit, TENANT_BURST_S)


class TenantBudgets:
    """The budget of each tenant: one for its keys, and one of the same size for its users.

    They are separate, so that an administrator can still revoke a key that has used up the first.
    """

    def __init__(self, limit: int) -> None:
        """limit: units of work a minute."""
        self._limit = limit

    def of_keys(self, tenant_id: str) -> Budget:
        """What all keys of a tenant share."""
        return budget_of(tenant_id, self._limit, TENANT_BURST_S)

    def of(self, caller: Caller) -> Budget:
        """What a caller shares with the other keys, or the other users, of the tenant."""
        if caller.actor.kind == "api_key":
            return self.of_keys(caller.tenant_id)
        return Budget(f"users:{caller.tenant_id}", self._limit, TENANT_BURST_S)


class RateLimiter:
    """GCRA: at most limit·burst_s/60 + t·limit/60 requests in any t seconds.

    Per budget it stores the time at which it is full again; the time until then is its debt.
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

    async def take(self, budget: Budget) -> RateState:
        """Spend one request of the budget, if there is one."""
        return self.take_now(budget)

    async def take_both(self, tenant: Budget, key: Budget) -> tuple[RateState, RateState]:
        """Spend one request of both budgets."""
        return self.take_both_now(tenant, key)

    def take_both_now(
        self, tenant: Budget, key: Budget, processes: int = 1
    ) -> tuple[RateState, RateState]:
        """`take_both` without await. processes: each of them allows its share of the limits."""
        state = self.take_now(tenant, processes)
        if not state.accepted:
            return state, self.state_of(key, processes)
        return state, self.take_now(key, processes)

    def take_now(self, budget: Budget, processes: int = 1) -> RateState:
        """`take` without await."""
        budget_id, limit, burst_s = budget
        now = self._monotonic_s()
        step_s = PERIOD_S * processes / limit
        # After a lower limit is set, the debt must not exceed one period.
        debt_s = min(max(self._full_at.get(budget_id, now) - now, 0.0), PERIOD_S)
        if step_s > burst_s:
            return self._take_in_turn(budget, step_s, debt_s)
        if is_exhausted(budget, step_s, debt_s):
            return refused_state(budget, step_s, debt_s)
        debt_s += step_s
        self._record(budget_id, now + debt_s)
        return accepted_state(budget, step_s, debt_s)

    def _take_in_turn(self, budget: Budget, step_s: float, debt_s: float) -> RateState:
        """For a share of less than one request a burst: accepts one in one burst of every step.

        The turns of the processes differ at random, so that together they accept, on average,
        the burst and the rate of the whole limit.
        """
        budget_id, limit, burst_s = budget
        now = self._monotonic_s()
        elapsed_s = (now + hash((self._seed, budget_id)) % 1_000_000 / 1e6 * step_s) % step_s
        next_s = step_s - elapsed_s
        limit = int(limit * burst_s / PERIOD_S)
        if debt_s <= _SLACK_S and (elapsed_s < burst_s or next_s <= _SLACK_S):
            self._record(budget_id, now + burst_s)
            return RateState(True, limit, 0, burst_s, 0.0)
        return RateState(False, limit, 0, debt_s, max(debt_s, next_s))

    def charge(self, tenant: Budget, units: int, processes: int = 1) -> None:
        """Charge work that was done; the debt may exceed the budget, but not a minute."""
        charged_s = units * PERIOD_S * processes / tenant.limit
        debt_s = min(self.debt_s(tenant.id) + charged_s, PERIOD_S)
        self._record(tenant.id, self._monotonic_s() + debt_s)

    def state_of(self, budget: Budget, processes: int = 1) -> RateState:
        """The state of a budget of which nothing is spent."""
        return accepted_state(budget, PERIOD_S * processes / budget.limit, self.debt_s(budget.id))

    def debt_s(self, budget_id: str) -> float:
        """Seconds until the whole budget is available."""
        now = self._monotonic_s()
        return min(max(self._full_at.get(budget_id, now) - now, 0.0), PERIOD_S)

    def debts_s(self) -> dict[str, float]:
        """The budgets with a debt."""
        return {each: debt_s for each in self._full_at if (debt_s := self.debt_s(each))}

    def raise_debt(self, budget_id: str, full_at: float) -> None:
        """Record a debt that Redis knows of. full_at: in this process's monotonic time."""
        if full_at > self._full_at.get(budget_id, 0.0):
            self._record(budget_id, full_at)

    def reserve(self, share: float) -> None:
        """Deduct this share of the remaining minute of every budget that has a debt."""
        now = self._monotonic_s()
        for budget_id, debt_s in self.debts_s().items():
            self._full_at[budget_id] = now + debt_s + (PERIOD_S - debt_s) * share

    def _record(self, budget_id: str, full_at: float) -> None:
        self._full_at[budget_id] = full_at
        if len(self._full_at) > self._sweep_above:
            now = self._monotonic_s()
            self._full_at = {each: at for each, at in self._full_at.items() if at > now}
            # Twice the remaining number, so that many busy keys do not cause a sweep per request.
            self._sweep_above = max(_SWEEP_ABOVE, 2 * len(self._full_at))


class TenantPace:
    """Spreads the work of a busy tenant, so that requests of other tenants go between.

    Without it a tenant could use all that its limit allows at once, and nobody else would be served
    meanwhile. The units of a request are known when it has run; until then those of the tenant's
    last request are reserved.
    """

    def __init__(self, limit: int, monotonic_s: Callable[[], float]) -> None:
        """limit: units of work a minute."""
        self._unit_s = PERIOD_S / (_PACE * limit)
        self._monotonic_s = monotonic_s
        self._next_at: dict[str, float] = {}
        self._last_units: dict[str, int] = {}

    async def wait(self, budget_id: str) -> int:
        """Wait for the turn of the next request; the units that are reserved for it."""
        now, units = self._monotonic_s(), self._last_units.get(budget_id, 1)
        wait_s = max(self._next_at.get(budget_id, now) - now, 0.0)
        self._next_at[budget_id] = now + wait_s + units * self._unit_s
        if wait_s > _FREE_S:
            await asyncio.sleep(min(wait_s - _FREE_S, _MAX_WAIT_S))
        return units

    def settle(self, budget_id: str, reserved: int, units: int) -> None:
        """Replace the reserved units of a request by those of the work that was done."""
        next_at = self._next_at.get(budget_id, 0.0)
        self._next_at[budget_id] = next_at + (units - reserved) * self._unit_s
        self._last_units[budget_id] = units
        if len(self._next_at) > _SWEEP_ABOVE:
            self._forget_idle()

    def _forget_idle(self) -> None:
        now = self._monotonic_s()
        self._next_at = {each: at for each, at in self._next_at.items() if at > now}
        self._last_units = {each: self._last_units[each] for each in self._next_at}
