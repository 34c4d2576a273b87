"""The doors to SQL that rooms see, whatever database stands behind them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
Row = Any  # a value by column name: row["id"]
Params = Mapping[str, Any]


class Tx(Protocol):
    """One transaction, or one reading, in which SQL with named parameters (`:name`) runs."""

    async def first(self, sql: str, params: Params) -> Row | None:
        """The first row, if there is one."""

    async def all(self, sql: str, params: Params) -> Sequence[Row]:
        """All rows. The statement has a LIMIT."""

    async def run(self, sql: str, params: Params) -> int:
        """Run it; the number of rows that it changed."""


Work = Callable[[Tx], Awaitable[T]]


class Database(Protocol):
    """Where everything is kept. Raises Unavailable (503) when it cannot be reached."""

    async def read(self, work: Work[T]) -> T:
        """Run reads that are each an index probe with a LIMIT."""

    async def read_slowly(self, work: Work[T]) -> T:
        """Run a read that no index serves, out of the way of others and for 2 s at the most."""

    async def write(self, work: Work[T]) -> T:
        """Run work in one transaction; returns once it is durable."""

    async def close(self) -> None:
        """Finish what has begun, then let go."""
