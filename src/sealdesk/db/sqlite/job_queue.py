"""The waiting writes of SQLite's writer, in the order in which tenants take turns."""

from heapq import heappop, heappush
from itertools import count
from typing import Generic, TypeVar

from sealdesk.errors import ServiceUnavailable
from sealdesk.errors.general import TOO_MANY_WRITES

Job = TypeVar("Job")
MAX_WAITING_WRITES = 1000  # of one tenant: half a second


class JobQueue(Generic[Job]):
    """Waiting jobs, in the order in which tenants take turns.

    A job's rank is one more than that of the tenant's job before it, and at least that of the job
    that ran last (start-time fair queuing). Work without a tenant counts as one more tenant.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Job]] = []
        self._numbers = count()
        self._rank = 0  # of the last job that was taken
        self._next_ranks: dict[str | None, int] = {}

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, job: Job, tenant_id: str | None) -> None:
        """Raises ServiceUnavailable when too many jobs of the tenant wait."""
        rank = max(self._rank, self._next_ranks.get(tenant_id, 0))
        if tenant_id is not None and rank - self._rank >= MAX_WAITING_WRITES:
            raise ServiceUnavailable(TOO_MANY_WRITES)
        self._next_ranks[tenant_id] = rank + 1
        heappush(self._heap, (rank, next(self._numbers), job))

    def take(self, at_most: int) -> list[Job]:
        """The next jobs, which leave the queue."""
        taken = [heappop(self._heap) for _ in range(min(at_most, len(self._heap)))]
        if self._heap:
            self._rank = taken[-1][0]
        else:
            self._rank = 0
            self._next_ranks.clear()
        return [job for _, _, job in taken]
