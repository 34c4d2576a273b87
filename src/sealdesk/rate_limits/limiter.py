"""Rate limits of API keys and tenants, and the pace of a busy tenant."""

import asyncio
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
_FIRST_TURN = (0.0, 1)
_SWEEP_ABOVE = 10_000
_SLACK_S = 1e-5  # more than the rounding errors of a budget after a year of uptime
_ROUNDED_OFF_S = 5e-7

Mode = Literal["per_process", "shared", "local"]
Header = tuple[bytes, bytes]


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
    remaining = int((burst_s - debt_s + _SLACK_S) / step_s)
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
    whole = int(seconds)
    return whole + 1 if seconds - whole > _ROUNDED_OFF_S else whole


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


def rate_headers(tenant: RateState, key: RateState, now_us: int) -> tuple[Header, ...]:
    """The headers with both policies, and the older ones with that of the key."""
    full_in_s = whole_seconds(key.full_in_s)
    left = (key.remaining, full_in_s, tenant.remaining, whole_seconds(tenant.full_in_s))
    policy, limit = _limit_headers(key.limit, tenant.limit)
    return (
        policy,
        (b"ratelimit", b'"key";r=%d;t=%d, "tenant";r=%d;t=%d' % left),
        limit,
        (b"x-ratelimit-remaining", b"%d" % key.remaining),
        _reset_header(-(-now_us // 1_000_000) + full_in_s),
    )


@lru_cache(maxsize=1024)
def _limit_headers(key_limit: int, tenant_limit: int) -> tuple[Header, Header]:
    policies = b'"key";q=%d;w=60, "tenant";q=%d;w=%d' % (key_limit, tenant_limit, TENANT_BURST_S)
    return (b"ratelimit-policy", policies), (b"x-ratelimit-limit", b"%d" % key_limit)


@lru_cache(maxsize=128)
def _reset_header(at_s: int) -> Header:
    return b"x-ratelimit-reset", b"%d" % at_s


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
        now = self._monotonic_s()
        state = self._take_at(now, tenant, processes)
        if not state.accepted:
            return state, self.state_of(key, processes)
        return state, self._take_at(now, key, processes)

    def take_now(self, budget: Budget, processes: int = 1) -> RateState:
        """`take` without await."""
        return self._take_at(self._monotonic_s(), budget, processes)

    def _take_at(self, now: float, budget: Budget, processes: int) -> RateState:
        budget_id, limit, burst_s = budget
        step_s = PERIOD_S * processes / limit
        debt_s = self._debt_at(now, budget_id)
        if step_s > burst_s:
            return self._take_in_turn(now, budget, step_s, debt_s)
        if is_exhausted(budget, step_s, debt_s):
            return refused_state(budget, step_s, debt_s)
        debt_s += step_s
        self._record(budget_id, now + debt_s)
        return accepted_state(budget, step_s, debt_s)

    def _take_in_turn(self, now: float, budget: Budget, step_s: float, debt_s: float) -> RateState:
        """For a share of less than one request a burst: accepts one in one burst of every step.

        The turns of the processes differ at random, so that together they accept, on average,
        the burst and the rate of the whole limit.
        """
        budget_id, limit, burst_s = budget
        elapsed_s = (now + hash((self._seed, budget_id)) % 1_000_000 / 1e6 * step_s) % step_s
        next_s = step_s - elapsed_s
        limit = int(limit * burst_s / PERIOD_S)
        if debt_s <= _SLACK_S and (elapsed_s < burst_s or next_s <= _SLACK_S):
            self._record(budget_id, now + burst_s)
            return RateState(True, limit, 0, burst_s, 0.0)
        return RateState(False, limit, 0, debt_s, max(debt_s, next_s))

    def charge(self, tenant: Budget, units: int, processes: int = 1) -> None:
        """Charge work that was done; the debt may exceed the budget, but not a minute."""
        now = self._monotonic_s()
        debt_s = self._debt_at(now, tenant.id) + units * PERIOD_S * processes / tenant.limit
        self._record(tenant.id, now + (debt_s if debt_s < PERIOD_S else PERIOD_S))

    def state_of(self, budget: Budget, processes: int = 1) -> RateState:
        """The state of a budget of which nothing is spent."""
        return accepted_state(budget, PERIOD_S * processes / budget.limit, self.debt_s(budget.id))

    def debt_s(self, budget_id: str) -> float:
        """Seconds until the whole budget is available."""
        return self._debt_at(self._monotonic_s(), budget_id)

    def _debt_at(self, now: float, budget_id: str) -> float:
        debt_s = self._full_at.get(budget_id, now) - now
        if debt_s <= 0.0:
            return 0.0
        # After a lower limit is set, the debt must not exceed one period.
        return debt_s if debt_s < PERIOD_S else PERIOD_S

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
        # When the next request may run, and the units of the last one.
        self._turns: dict[str, tuple[float, int]] = {}

    async def wait(self, budget_id: str) -> int:
        """Wait for the turn of the next request; the units that are reserved for it."""
        now = self._monotonic_s()
        next_at, units = self._turns.get(budget_id, _FIRST_TURN)
        if next_at < now:
            next_at = now
        self._turns[budget_id] = next_at + units * self._unit_s, units
        wait_s = next_at - now
        if wait_s > _FREE_S:
            await asyncio.sleep(min(wait_s - _FREE_S, _MAX_WAIT_S))
        return units

    def settle(self, budget_id: str, reserved: int, units: int) -> None:
        """Replace the reserved units of a request by those of the work that was done."""
        next_at, _ = self._turns.get(budget_id, _FIRST_TURN)
        self._turns[budget_id] = next_at + (units - reserved) * self._unit_s, units
        if len(self._turns) > _SWEEP_ABOVE:
            now = self._monotonic_s()
            self._turns = {each: turn for each, turn in self._turns.items() if turn[0] > now}
