"""What the limiter of one process and the shared one have in common."""

from typing import Protocol

from sealdesk.rate_limits.limiter import Budget, Mode, RateState


class Limiter(Protocol):
    """Limits the requests of keys and tenants.

    mode: per_process without Redis; with Redis shared, or local while Redis is unavailable.
    fallbacks: how many times it has become local.
    """

    mode: Mode
    fallbacks: int

    async def start(self) -> None: ...

    async def take(self, budget: Budget) -> RateState:
        """Spend one request of the budget, if there is one. Never raises."""
        ...

    async def take_both(self, tenant: Budget, key: Budget) -> tuple[RateState, RateState]:
        """Spend one request of both budgets. A key is not charged when its tenant is refused; a
        tenant is charged for the refused requests of its keys. Never raises."""
        ...

    def charge(self, tenant: Budget, units: int) -> None:
        """Charge work that was done; the debt may exceed the budget."""
        ...

    async def stop(self) -> None: ...
