"""The database interface that rooms use: the same for SQLite and PostgreSQL."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar

import msgspec
from msgspec import inspect

from sealdesk.telemetry.storage import StorageHealth

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)
Row = Any  # a value by column name: row["id"]
Params = Mapping[str, Any]
Dialect = Literal["sqlite", "postgresql"]


class SerializationConflict(Exception):
    """Another transaction changed the same rows first; the work runs again."""


class Counter(NamedTuple):
    """A table with a row for each key and a value that starts at 0 and increases.

    key, value: the names of these columns. zeros: those of others that start at 0.
    """

    table: str
    key: str
    value: str
    zeros: tuple[str, ...] = ()


class Tx(Protocol):
    """One transaction, or one read, that runs SQL with named parameters (`:name`).

    Several may run at the same time on several hosts. Code that reads a row and writes it back
    either repeats in the WHERE clause what must not have changed and uses `execute_one`, or takes
    a `lock` first.
    """

    @property
    def dialect(self) -> Dialect:
        """For the few statements that the two databases spell differently, full-text search."""

    async def fetch_one(self, sql: str, params: Params) -> Row | None:
        """The first row, None when there is none."""

    async def fetch_all(self, sql: str, params: Params) -> Sequence[Row]:
        """All rows. The statement has a LIMIT."""

    async def fetch_for_each(self, sql: str, many: Sequence[Params]) -> Sequence[Sequence[Row]]:
        """The rows of a SELECT for each of the parameter sets, in one round trip.

        The parameters are texts and whole numbers, and `limit`, which is the same in all sets. On
        PostgreSQL each row has one column more.
        """

    async def fetch_page(
        self, sql: str, params: Params, columns: Sequence[str], max_bytes: int
    ) -> Sequence[Row]:
        """The rows up to the first behind the one that exceeds `max_bytes` in these columns.

        So there is one row more than fits, as with a LIMIT of one more than the page. Later rows
        are not read, on SQLite only if an index has them in order.
        """

    async def keep(self, table: str, tenant_id: str, read: Callable[[], Awaitable[T]]) -> T:
        """What `read` makes of a tenant's rows of a table of settings, always the same.

        On SQLite it is kept in memory while nothing writes to the table, for transactions that
        write.
        """

    async def execute(self, sql: str, params: Params) -> int:
        """Run a statement; returns the number of rows that it changed."""

    async def execute_one(self, sql: str, params: Params) -> None:
        """Insert or change exactly one row, at the latest when the transaction commits.

        When no row matches any more, the work runs again.
        """

    async def enqueue(self, sql: str, params: Params) -> None:
        """Change any number of rows, at the latest when the transaction commits."""

    async def increment(self, counter: Counter, key: str, count: int = 1) -> int:
        """Increase a counter; its new value.

        Undone when the work fails, so there are no gaps. On PostgreSQL other transactions that
        increment it wait until this one ends, and its lock is taken in the order of the calls:
        where two counters are needed, all work increments them in the same order.
        """

    async def increment_and_fetch(
        self, counter: Counter, key: str, sql: str, params: Params
    ) -> tuple[int, Row | None]:
        """Increase a counter by one; its new value, and the first row of a SELECT.

        One round trip. On PostgreSQL the counter stays increased when the work fails, so that no
        other transaction waits for it, unless this one has already begun to lock or to change
        rows.
        """

    async def execute_many(self, sql: str, many: Sequence[Params]) -> None:
        """Run a statement once for each of the parameter sets, in one round trip."""

    async def select_for_update(self, sql: str, params: Params) -> Sequence[Row]:
        """Lock and return the rows of a plain SELECT with a LIMIT.

        Skips rows that another transaction has locked.
        """

    async def lock(self, name: str, tenant_id: str = "") -> None:
        """Wait for a named lock of a tenant, and hold it to the end of the transaction.

        Without a tenant it is a lock of the installation.
        """

    async def try_lock(self, name: str, tenant_id: str = "") -> bool:
        """Take such a lock to the end of the transaction; False when another one holds it."""

    def announce(self, tenant_id: str) -> None:
        """Tell the listeners of the database, after the commit, that this tenant has new events."""

    async def set_tenant(self, tenant_id: str) -> None:
        """Make a tenant's rows visible, for work that was started without a tenant."""

    async def find_across_tenants(self, directory: str, sql: str, params: Params) -> Row | None:
        """The row of `sql` in the tenant that the `directory` query finds; sets that tenant.

        For authentication, before the tenant is known. directory: selects `tenant_id` and `id`;
        sql: takes these two parameters and no others.
        """


Work = Callable[[Tx], Awaitable[T]]
Listener = Callable[[Collection[str]], None]


class Database(Protocol):
    """Runs work in transactions. Raises ServiceUnavailable when the database is unreachable.

    tenant_id: whose rows the work may see; without one it sees only the global tables, until it
    sets a tenant. Work may run more than once, so it has no side effects outside the database.
    health: what this process has noticed of its storage.
    listeners: called after a commit of this process with the tenants that were announced, perhaps
    also after a transaction that has failed. On PostgreSQL never, as other processes do the work.
    """

    health: StorageHealth
    listeners: list[Listener]

    async def read(self, work: Work[T], tenant_id: str | None = None) -> T:
        """Run reads that are each an index lookup with a LIMIT."""

    async def read_key_stamp(self) -> int | None:
        """A number that every change of an API key replaces, as reads that begin now see it.

        None if it is missing.
        """

    async def read_ticket_stamp(self, tenant_id: str) -> int | None:
        """A number that every change of what a tenant's lists of tickets read replaces.

        None where no such number is cheap: on PostgreSQL.
        """

    async def read_unindexed(self, work: Work[T], tenant_id: str | None = None) -> T:
        """Run a read that no index serves, for 2 s at most and without delaying other requests."""

    async def write(self, work: Work[T], tenant_id: str | None = None) -> T:
        """Run work in one transaction; returns once it is durable."""

    async def write_in_background(self, work: Work[T]) -> T:
        """Like `write`, for background work: on SQLite reads do not wait for it, writes do."""

    async def watch(self) -> None:
        """Look for damage of the storage until cancelled. PostgreSQL does so itself."""

    async def close(self) -> None:
        """Finish running work, then close all connections."""


class StructRows(Generic[S]):
    """How a struct is a row: lists and structs in it are JSON, booleans are numbers."""

    def __init__(self, kind: type[S]) -> None:
        self.columns = kind.__struct_fields__
        self._kind = kind
        self._decoders = {
            field.name: bool if field.type is bool else msgspec.json.Decoder(field.type).decode
            for field in msgspec.structs.fields(kind)
            if isinstance(
                inspect.type_info(field.type),
                (inspect.BoolType, inspect.StructType, inspect.VarTupleType),
            )
        }
        self._json = [name for name, decode in self._decoders.items() if decode is not bool]

    def read(self, row: Row) -> S:
        """The struct of a row, which may have more columns."""
        values = {name: row[name] for name in self.columns}
        for name, decode in self._decoders.items():
            values[name] = decode(values[name])
        return self._kind(**values)

    async def find(self, tx: Tx, sql: str, params: Params) -> S | None:
        """The struct of the first row, None when there is none."""
        row = await tx.fetch_one(sql, params)
        return None if row is None else self.read(row)

    def params(self, struct: S) -> dict[str, object]:
        values = msgspec.structs.asdict(struct)
        for name in self._json:
            values[name] = msgspec.json.encode(values[name]).decode()
        return values
