"""The `Tx` interface on SQLite, and what its transactions keep in memory."""

import re
import sqlite3
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing, suppress
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar, cast

from sealdesk.db.engine import Counter, Dialect, Listener, Params, Row, SerializationConflict, Work
from sealdesk.db.sqlite.errors import TransactionLost

T = TypeVar("T")
_NAME_OR_TEXT = re.compile(r"'[^']*'|:([a-z_][a-z0-9_]*)")
_WORD = re.compile(r"\w+")
_MAX_KNOWN = 10_000  # about 2 MB
_MAX_KEPT = 1_000  # of each table; 20 SLA policies are about 20 KB


class _Statement(NamedTuple):
    """SQL with `?1` …, as SQLite looks names up in each run; what gives the values; its words."""

    text: str
    values: Callable[[Params], tuple[Any, ...]]
    words: frozenset[str]


@lru_cache(maxsize=2048)
def _numbered(sql: str) -> _Statement:
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return match[0]
        if name not in names:
            names.append(name)
        return f"?{names.index(name) + 1}"

    text = _NAME_OR_TEXT.sub(number, sql)
    # With one name an itemgetter gives a value, no tuple.
    values = itemgetter(*names) if len(names) > 1 else lambda p: tuple(p[name] for name in names)
    return _Statement(text, values, frozenset(_WORD.findall(sql)))


class SqliteTx:
    """A transaction on one connection. Its coroutines never suspend."""

    __slots__ = ("_announced", "_connection", "_counters", "_cursor", "listeners")
    dialect: Dialect = "sqlite"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._cursor = connection.cursor()
        self._counters = _Counters(connection)
        self._announced: set[str] = set()
        self.listeners: list[Listener] = []

    def close(self) -> None:
        """Close the connection, after the cursor, whose statement would keep its files open."""
        with suppress(sqlite3.ProgrammingError):  # it is closed
            self._cursor.close()
        self._connection.close()

    @property
    def change_count(self) -> int:
        """Increases with each change of the connection."""
        return self._connection.total_changes + self._counters.increment_count

    def begin(self) -> None:
        """Take the write lock. Raises sqlite3.Error."""
        self._connection.execute("BEGIN IMMEDIATE")
        self._counters.forget_if_outdated()

    def wait_and_begin(self, wait_ms: int) -> None:
        """Take the write lock, which another process may hold for so long. Raises sqlite3.Error."""
        self._connection.execute(f"PRAGMA busy_timeout = {wait_ms}")
        try:
            self.begin()
        finally:
            self._connection.execute("PRAGMA busy_timeout = 0")

    def run(self, work: Work[T]) -> T:
        """Run work in the open transaction. Raises TransactionLost."""
        try:
            return drive(work(self))
        except BaseException as error:
            self._raise_if_lost(error)
            raise

    def run_in_savepoint(self, work: Work[T]) -> T:
        """Run work whose changes are undone when it fails. Raises TransactionLost."""
        self._connection.execute("SAVEPOINT work")
        try:
            value = drive(work(self))
            self._counters.store()
        except BaseException as error:
            self._raise_if_lost(error)
            self.roll_back(to="work")
            raise
        finally:
            if self._connection.in_transaction:
                self._connection.execute("RELEASE work")
        return value

    def _raise_if_lost(self, error: BaseException) -> None:
        if not self._connection.in_transaction:
            raise TransactionLost from error

    def store_counters(self) -> None:
        """Write the counters that were incremented. Raises sqlite3.Error."""
        self._counters.store()

    def commit(self) -> None:
        """Raises sqlite3.Error."""
        self._counters.store()
        self._connection.execute("COMMIT")

    def roll_back(self, *, to: str = "") -> None:
        """Undo the transaction, or what came after a savepoint. Raises sqlite3.Error."""
        self._counters.forget()
        if self._connection.in_transaction:
            self._connection.execute(f"ROLLBACK TO {to}" if to else "ROLLBACK")

    async def fetch_one(self, sql: str, params: Params) -> Row | None:
        rows = self._execute(sql, params).fetchall()
        return rows[0] if rows else None

    async def fetch_all(self, sql: str, params: Params) -> Sequence[Row]:
        return self._execute(sql, params).fetchall()

    async def fetch_for_each(self, sql: str, many: Sequence[Params]) -> Sequence[Sequence[Row]]:
        return [self._execute(sql, params).fetchall() for params in many]

    async def fetch_page(
        self, sql: str, params: Params, columns: Sequence[str], max_bytes: int
    ) -> Sequence[Row]:
        rows: list[Row] = []
        free_bytes = max_bytes
        statement = _numbered(sql)
        with closing(self._connection.execute(statement.text, statement.values(params))) as cursor:
            names = [name for name, *_ in cursor.description]
            places = [names.index(column) for column in columns]
            for row in cursor:
                rows.append(row)
                if free_bytes < 0:
                    break
                for place in places:
                    value = row[place]
                    free_bytes -= len(value) if type(value) is bytes else _size(value)
        return rows

    async def keep(self, table: str, tenant_id: str, read: Callable[[], Awaitable[T]]) -> T:
        kept = self._counters.find_kept(table, tenant_id)
        if kept is None:
            kept = await read()
            self._counters.keep(table, tenant_id, kept)
        return cast(T, kept)

    async def execute(self, sql: str, params: Params) -> int:
        return self._execute(sql, params).rowcount

    async def execute_one(self, sql: str, params: Params) -> None:
        if self._execute(sql, params).rowcount != 1:
            raise SerializationConflict  # a bug: there is no concurrent writer

    async def enqueue(self, sql: str, params: Params) -> None:
        self._execute(sql, params)

    async def increment(self, counter: Counter, key: str, count: int = 1) -> int:
        return self._counters.increment(counter, key, count)

    async def increment_and_fetch(
        self, counter: Counter, key: str, sql: str, params: Params
    ) -> tuple[int, Row | None]:
        value = self._counters.increment(counter, key, 1)
        rows = self._execute(sql, params).fetchall()
        return value, rows[0] if rows else None

    async def execute_many(self, sql: str, many: Sequence[Params]) -> None:
        statement = _numbered(sql)
        self._counters.settle_before(statement)
        self._cursor.executemany(statement.text, map(statement.values, many))

    async def select_for_update(self, sql: str, params: Params) -> Sequence[Row]:
        return await self.fetch_all(sql, params)

    async def lock(self, name: str, tenant_id: str = "") -> None:
        """No lock is needed: one transaction writes at a time."""

    async def try_lock(self, name: str, tenant_id: str = "") -> bool:
        return True

    def announce(self, tenant_id: str) -> None:
        self._announced.add(tenant_id)

    def call_listeners(self) -> None:
        """Call the listeners with the tenants that were announced since the last call."""
        if self._announced:
            announced, self._announced = self._announced, set()
            for listener in self.listeners:
                listener(announced)

    async def set_tenant(self, tenant_id: str) -> None:
        """SQLite has no row level security; every statement names its tenant."""

    async def find_across_tenants(self, directory: str, sql: str, params: Params) -> Row | None:
        found = await self.fetch_one(directory, params)
        return None if found is None else await self.fetch_one(sql, dict(found))

    def _execute(self, sql: str, params: Params) -> sqlite3.Cursor:
        statement = _numbered(sql)
        self._counters.settle_before(statement)
        return self._cursor.execute(statement.text, statement.values(params))


def drive(work: Awaitable[T]) -> T:
    """Run a coroutine that never suspends."""
    steps = work.__await__()
    try:
        next(steps)
    except StopIteration as done:
        return cast(T, done.value)
    raise RuntimeError("work on SQLite must await nothing but its transaction")


class _Counters:
    """The counters, and values made of settings, as the open transaction sees them.

    A value that was read or stored stays known until another connection commits, or until changes
    of the transaction are undone.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._values: defaultdict[Counter, dict[str, int]] = defaultdict(dict)
        self._changed: defaultdict[Counter, set[str]] = defaultdict(set)
        self._kept: defaultdict[str, dict[str, object]] = defaultdict(dict)
        self._tables: set[str] = set()
        self._data_version = 0
        self.increment_count = 0

    def increment(self, counter: Counter, key: str, count: int) -> int:
        values = self._values[counter]
        value = values.get(key)
        if value is None:
            value = self._read(counter, key)
        value += count
        values[key] = value
        self._changed[counter].add(key)
        self.increment_count += 1
        return value

    def find_kept(self, table: str, tenant_id: str) -> object | None:
        """What was made of a tenant's rows of a table that nothing has named since."""
        return self._kept[table].get(tenant_id)

    def keep(self, table: str, tenant_id: str, value: object) -> None:
        if not self._data_version:
            return  # this connection only reads, and is not told of what others change
        if len(self._kept[table]) >= _MAX_KEPT:
            self._kept[table].clear()
        self._kept[table][tenant_id] = value
        self._tables.add(table)

    def forget_if_outdated(self) -> None:
        """Forget all values if another connection has committed since the last transaction."""
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        if version != self._data_version:
            self.forget()
            self._data_version = version

    def settle_before(self, statement: _Statement) -> None:
        """Store all values and forget those of the tables that a statement names."""
        if self._tables and not self._tables.isdisjoint(statement.words):
            self.store()
            self._tables -= statement.words
            for counter in list(self._values):
                if counter.table not in self._tables:
                    del self._values[counter]
            for table in statement.words & self._kept.keys():
                del self._kept[table]

    def store(self) -> None:
        """Write each changed value to its row. Raises sqlite3.Error."""
        if not self._changed:
            return
        for counter, keys in self._changed.items():
            values = self._values[counter]
            sql = f"UPDATE {counter.table} SET {counter.value} = ? WHERE {counter.key} = ?"
            self._connection.executemany(sql, [(values[key], key) for key in keys])
        self._changed.clear()
        if sum(map(len, self._values.values())) > _MAX_KNOWN:
            self.forget()

    def forget(self) -> None:
        """Read the values again, because the changes of the transaction were undone."""
        self._values.clear()
        self._changed.clear()
        self._kept.clear()
        self._tables.clear()

    def _read(self, counter: Counter, key: str) -> int:
        self._tables.add(counter.table)
        sql = f"SELECT {counter.value} FROM {counter.table} WHERE {counter.key} = ?"
        row = self._connection.execute(sql, (key,)).fetchone()
        if row is not None:
            return int(row[0])
        # At once, so that a key that the database refuses is an error of the work that names it.
        columns = (counter.key, counter.value, *counter.zeros)
        zeros = ", 0" * (len(columns) - 1)
        insert = f"INSERT INTO {counter.table} ({', '.join(columns)}) VALUES (?{zeros})"
        self._connection.execute(insert, (key,))
        return 0


def _size(value: str | None) -> int:
    return len(value.encode()) if value else 0
