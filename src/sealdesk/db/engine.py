"""The doors to SQL that rooms see, whatever database stands behind them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
Row = Any  # a value by column name: row["id"]
Params = Mapping[str, Any]


class SerializationConflict(Exception):
    """Another transaction was there first; the work is run again on what it left."""


class Tx(Protocol):
    """One transaction, or one reading, in which SQL with named parameters (`:name`) runs.

    Several may run at once on several hosts, so whoever reads a row and writes it back either
    names in the statement what must not have changed and uses `put`, or takes a `lock` first.
    """

    async def fetch_one(self, sql: str, params: Params) -> Row | None:
        """The first row, if there is one."""

    async def fetch_all(self, sql: str, params: Params) -> Sequence[Row]:
        """All rows. The statement has a LIMIT."""

    async def execute(self, sql: str, params: Params) -> int:
        """Run it; the number of rows that it changed."""

    async def execute_one(self, sql: str, params: Params) -> None:
        """Add or change exactly one row, at the latest when the transaction ends.

        When there is no such row any more, the work is run again.
        """

    async def enqueue(self, sql: str, params: Params) -> None:
        """Change what there is to change, at the latest when the transaction ends."""

    async def execute_returning(self, sql: str, params: Params) -> Row:
        """The one row that a change returns, which stays changed even when the work fails.

        For what many take from at once, and where gaps are allowed.
        """

    async def execute_many(self, sql: str, many: Sequence[Params]) -> None:
        """Run it once for each of the parameters, for who has much to do at once."""

    async def select_for_update(self, sql: str, params: Params) -> Sequence[Row]:
        """Rows of a plain SELECT with a LIMIT, without those that another transaction has claimed.

        Nobody else changes them before this transaction ends.
        """

    async def lock(self, name: str) -> None:
        """Wait until no other transaction holds this name; held to the end of this one.

        Names are of the whole installation.
        """

    async def try_lock(self, name: str) -> bool:
        """Hold a name to the end of this transaction; False when another one holds it."""

    async def set_tenant(self, tenant_id: str) -> None:
        """See a tenant's rows from now on. Only where no tenant was given at the door."""

    async def find_across_tenants(self, directory: str, sql: str, params: Params) -> Row | None:
        """The row of `sql` in the tenant that `directory` leads to; the tenant is entered.

        The way in before the tenant is known. directory: gives `tenant_id` and `id`; sql: takes
        these two, and nothing else.
        """


Work = Callable[[Tx], Awaitable[T]]


class Database(Protocol):
    """Where everything is kept. Raises Unavailable (503) when it cannot be reached.

    tenant_id: whose rows the work may see; without one it sees the global directories alone,
    until it enters a tenant. The work may be run more than once, so it changes nothing else.
    """

    async def read(self, work: Work[T], tenant_id: str | None = None) -> T:
        """Run reads that are each an index probe with a LIMIT."""

    async def read_unindexed(self, work: Work[T], tenant_id: str | None = None) -> T:
        """Run a read that no index serves, out of the way of others and for 2 s at the most."""

    async def write(self, work: Work[T], tenant_id: str | None = None) -> T:
        """Run work in one transaction; returns once it is durable."""

    async def write_in_background(self, work: Work[T]) -> T:
        """The same for the background: on SQLite no read waits for it, writes wait for its end."""

    async def close(self) -> None:
        """Finish what has begun, then let go."""
