"""The `Tx` interface on PostgreSQL, in as few round trips as possible.

Plain reads run without BEGIN: each sees what was committed before it started. The changes of
`execute_one` and `enqueue` are queued and sent at commit in one statement, which is its own
transaction. Only locks and the number of changed rows need BEGIN.
"""

import hashlib
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from asyncpg import Connection, Record

from sealdesk.db.engine import Counter, Dialect, Params, Row
from sealdesk.db.postgres import statements
from sealdesk.db.postgres.statements import TENANT_SETTING, Change

T = TypeVar("T")
_TENANT_ID = re.compile(r"[0-9a-f-]{36}")


class BeginOptions:
    """How a transaction begins. always: BEGIN before the first statement, for a pooler."""

    __slots__ = ("always", "settings")

    def __init__(self, *, always: bool, settings: str = "") -> None:
        self.always = always
        self.settings = settings


class PostgresTx:
    """The transaction of one piece of work on one connection."""

    __slots__ = ("_changes", "_connection", "_options", "is_committing", "is_open", "tenant_id")
    dialect: Dialect = "postgresql"

    def __init__(
        self, connection: Connection, tenant_id: str | None, options: BeginOptions
    ) -> None:
        self._connection = connection
        self._options = options
        self._changes: list[Change] = []
        self.tenant_id = tenant_id
        self.is_open = False
        self.is_committing = False

    async def fetch_one(self, sql: str, params: Params) -> Row | None:
        rows = await self.fetch_all(sql, params)
        return rows[0] if rows else None

    async def fetch_all(self, sql: str, params: Params) -> Sequence[Row]:
        if self._begins_first():
            await self.open()
        limit = params.get("limit")
        if self.is_open or self.tenant_id is None:
            statement = statements.numbered(sql, limit)
            return await self._fetch(statement.text, statement.values(params))
        statement = statements.within_tenant(sql, limit)
        return await self._fetch(statement.text, [*statement.values(params), self.tenant_id])

    async def fetch_for_each(self, sql: str, many: Sequence[Params]) -> Sequence[Sequence[Row]]:
        if not many:
            return []
        if self._changes or self.tenant_id is not None or self._options.always:
            await self.open()
        types = tuple(
            (name, "bigint" if isinstance(value, int) else "text")
            for name, value in many[0].items()
            if name != "limit"
        )
        text = statements.for_each(sql, types, many[0].get("limit"))
        values: list[object] = [[params[name] for params in many] for name, _ in types]
        found: list[list[Record]] = [[] for _ in many]
        for row in await self._fetch(text, values):
            found[row["place"] - 1].append(row)
        return found

    async def fetch_page(
        self, sql: str, params: Params, columns: Sequence[str], max_bytes: int
    ) -> Sequence[Row]:
        names = tuple(columns)
        # Adding up the bytes takes as long as a quarter of a page, and few pages are that large. A
        # read that begins with BEGIN is slow, or has its statement planned: it makes only one.
        if not self._options.always:
            share = max_bytes // (params["limit"] * len(names))
            small = statements.with_values_within(sql, names, share)
            rows = await self.fetch_all(small, params)
            if all(row[name] or row[name] is None for name in names for row in rows):
                return rows
        return await self.fetch_all(statements.within_bytes(sql, names, max_bytes), params)

    async def keep(self, table: str, tenant_id: str, read: Callable[[], Awaitable[T]]) -> T:
        return await read()

    async def execute(self, sql: str, params: Params) -> int:
        await self.open()
        statement = statements.numbered(sql)
        status = await self._connection.execute(statement.text, *statement.values(params))
        return int(status.rpartition(" ")[2])

    async def execute_one(self, sql: str, params: Params) -> None:
        await self._enqueue(Change(sql, params, True))

    async def enqueue(self, sql: str, params: Params) -> None:
        await self._enqueue(Change(sql, params, False))

    async def _enqueue(self, change: Change) -> None:
        # One statement can change a row only once, and this may be the same row.
        table = statements.updated_table(change.sql)
        if table and any(table == statements.updated_table(other.sql) for other in self._changes):
            await self.open()
        self._changes.append(change)

    async def increment(self, counter: Counter, key: str, count: int = 1) -> int:
        await self.open()
        statement = statements.numbered(statements.increment(counter))
        values = statement.values({"counter_key": key, "counter_step": count})
        ((value,),) = await self._fetch(statement.text, values)
        return int(value)

    async def increment_and_fetch(
        self, counter: Counter, key: str, sql: str, params: Params
    ) -> tuple[int, Row | None]:
        if self._begins_first():
            await self.open()
        text = statements.increment_and_fetch(counter, sql)
        params = {**params, "counter_key": key, "counter_step": 1}
        if self.is_open or self.tenant_id is None:
            statement = statements.numbered(text)
            (row,) = await self._fetch(statement.text, statement.values(params))
        else:
            statement = statements.changing(text)
            values = [*statement.values(params), self.tenant_id]
            (row,) = await self._fetch(statement.text, values)
        return int(row["counter_value"]), row if row["is_found"] else None

    async def execute_many(self, sql: str, many: Sequence[Params]) -> None:
        await self.open()
        statement = statements.numbered(sql)
        await self._connection.executemany(statement.text, [statement.values(p) for p in many])

    async def select_for_update(self, sql: str, params: Params) -> Sequence[Row]:
        await self.open()
        statement = statements.numbered(f"{sql} FOR UPDATE SKIP LOCKED", params.get("limit"))
        return await self._fetch(statement.text, statement.values(params))

    async def lock(self, name: str, tenant_id: str = "") -> None:
        await self._lock("pg_advisory_xact_lock", name, tenant_id)

    async def try_lock(self, name: str, tenant_id: str = "") -> bool:
        return bool(await self._lock("pg_try_advisory_xact_lock", name, tenant_id))

    async def _lock(self, function: str, name: str, tenant_id: str) -> object:
        await self.open()
        ((result,),) = await self._fetch(f"SELECT {function}($1)", [lock_number(name, tenant_id)])
        return result

    def announce(self, tenant_id: str) -> None:
        """Nobody listens in this process."""

    async def set_tenant(self, tenant_id: str) -> None:
        if self.tenant_id not in (None, tenant_id):
            raise RuntimeError("a transaction of one tenant cannot switch to another")
        if self.tenant_id is None and self.is_open:
            await self._flush()
            await self._connection.execute(self._tenant_sql(tenant_id))
        self.tenant_id = tenant_id

    async def find_across_tenants(self, directory: str, sql: str, params: Params) -> Row | None:
        if self._begins_first():
            await self.open()
        if self.is_open or self.tenant_id is not None:
            found = await self.fetch_one(directory, params)
            if found is None:
                return None
            await self.set_tenant(found["tenant_id"])
            return await self.fetch_one(sql, dict(found))
        statement = statements.across_tenants(directory, sql)
        rows = await self._fetch(statement.text, statement.values(params))
        if not rows:
            return None
        self.tenant_id = rows[0]["tenant_id"]
        return rows[0]

    def _begins_first(self) -> bool:
        """Whether a SELECT needs BEGIN."""
        return bool(self._changes) or self._options.always

    async def open(self) -> None:
        """Begin a transaction unless one is open, and send the queued changes."""
        if not self.is_open:
            # One round trip, which is only possible for text without parameters.
            sets_tenant = self._tenant_sql(self.tenant_id or "")
            await self._connection.execute(f"BEGIN; {self._options.settings}{sets_tenant}")
            self.is_open = True
        await self._flush()

    def _tenant_sql(self, tenant_id: str) -> str:
        """Sets the tenant of the transaction. Raises ValueError unless it is a UUID or empty."""
        if tenant_id and _TENANT_ID.fullmatch(tenant_id) is None:
            raise ValueError("a tenant's id must be a UUID")
        return f"SET LOCAL {TENANT_SETTING} = '{tenant_id}'"

    async def commit(self) -> None:
        """Commit. When the connection is lost meanwhile, the outcome is unknown."""
        if self._changes and self._options.always:
            await self.open()
        if self.is_open:
            await self._flush()
            self.is_committing = True
            await self._connection.execute("COMMIT")
            self.is_open = False
        else:
            self.is_committing = True
            await self._flush()

    async def roll_back(self) -> None:
        """Discard queued changes and roll back."""
        self._changes.clear()
        if self.is_open:
            self.is_open = False
            await self._connection.execute("ROLLBACK")

    async def _flush(self) -> None:
        if not self._changes:
            return
        changes, self._changes = self._changes, []
        await self._send(changes)

    async def _send(self, changes: list[Change]) -> None:
        sets_tenant = not self.is_open and self.tenant_id is not None
        batch = statements.combine(changes, sets_tenant=sets_tenant)
        values = batch.values(changes)
        if sets_tenant:
            values.append(self.tenant_id)
        await self._fetch(batch.text, values)

    async def _fetch(self, text: str, values: list[object]) -> list[Record]:
        return await self._connection.fetch(text, *values)


def lock_number(name: str, tenant_id: str) -> int:
    """The number of a named lock; of one tenant, or of the installation when that is empty."""
    digest = hashlib.blake2b(f"{tenant_id} {name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)
