"""The `Database` interface on PostgreSQL: a connection pool, and retries after conflicts."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import asyncpg
from asyncpg import Connection
from asyncpg.connect_utils import SessionAttribute

from sealdesk import ids
from sealdesk.db import deadline
from sealdesk.db.engine import Listener, Work
from sealdesk.db.fairness import SLOW_READ_LIMIT_S, SLOW_READ_WAIT_S, slow_read_slots
from sealdesk.db.postgres import errors
from sealdesk.db.postgres.pool import Pool
from sealdesk.db.postgres.shared_read import SharedRead
from sealdesk.db.postgres.transaction import BeginOptions, PostgresTx
from sealdesk.errors import QueryTooSlow, ServiceUnavailable
from sealdesk.errors.general import COMMIT_UNKNOWN, QUERY_TOO_SLOW, TOO_MANY_CONFLICTS
from sealdesk.telemetry.storage import StorageHealth

T = TypeVar("T")
CONNECT_S = 2.0
_MAX_ATTEMPTS = 9  # 24 clients that tag one ticket need more than 6 (2026-11-30)
_KEY_STAMP = "SELECT stamp FROM key_stamp LIMIT 1"
SETTINGS = {
    "statement_timeout": "4s",
    "lock_timeout": "3s",
    "idle_in_transaction_session_timeout": "10s",
    "default_transaction_isolation": "read committed",
    "jit": "off",  # compiling pays for reports, not for index lookups
    # Otherwise the server plans most statements at every execution: half of the cost of a page.
    "plan_cache_mode": "force_generic_plan",
}
SLOW_READ_SETTINGS = (
    f"SET TRANSACTION READ ONLY; SET LOCAL statement_timeout = '{SLOW_READ_LIMIT_S:g}s';"
    # For a query that no index serves, planning it for its values is worth the time.
    " SET LOCAL plan_cache_mode = 'force_custom_plan'; "
)


class PostgresDatabase:
    """The connections of one process to a PostgreSQL database.

    is_pooled: behind a pooler in transaction mode; no session state outlives a transaction.
    has_time: no request waits, as with commands, so there is no deadline.
    """

    def __init__(
        self, url: str, connections: int, *, name: str, is_pooled: bool, has_time: bool = False
    ) -> None:
        self.health = StorageHealth()
        self.listeners: list[Listener] = []
        self._name = name
        self._is_pooled = is_pooled
        self._has_time = has_time
        self._pool = Pool(lambda: self._connect(url), connections)
        self._key_stamp = SharedRead(self._read_key_stamp)
        self._tx: Callable[[Connection, str | None, BeginOptions], PostgresTx] = PostgresTx
        self._options = BeginOptions(
            always=is_pooled, settings=set_local(SETTINGS) if is_pooled else ""
        )
        self._slow_read_options = BeginOptions(always=True, settings=SLOW_READ_SETTINGS)
        # The other connections are for reads and writes that are short.
        self._slow_slots = slow_read_slots(max(1, connections // 3))

    async def _connect(self, url: str) -> Connection:
        try:
            async with asyncio.timeout(min(CONNECT_S, deadline.current().total_s)):
                return await self._open(url)
        except Exception as error:
            if errors.is_unavailable(error):
                raise errors.unavailable(error) from error
            raise

    async def _open(self, url: str) -> Connection:
        return await connect(url, name=self._name, is_pooled=self._is_pooled)

    async def _acquire(self, tenant_id: str | None) -> tuple[Pool, Connection]:
        """A connection for work of a tenant, and the pool to which it is released."""
        return self._pool, await self._pool.acquire(tenant_id)

    async def read(self, work: Work[T], tenant_id: str | None = None) -> T:
        return await self._run(work, tenant_id, is_write=False)

    async def read_key_stamp(self) -> int | None:
        return await self._key_stamp.get()

    async def read_ticket_stamp(self, tenant_id: str) -> int | None:
        return None  # a row that each change locks would make a tenant's writes wait in turn

    async def _read_key_stamp(self) -> int | None:
        row = await self.read(lambda tx: tx.fetch_one(_KEY_STAMP, {}))
        return None if row is None else int(row["stamp"])

    async def read_unindexed(self, work: Work[T], tenant_id: str | None = None) -> T:
        try:
            async with self._slow_slots.hold(tenant_id, SLOW_READ_WAIT_S):
                deadline.current().unindexed_reads += 1
                return await self._run(work, tenant_id, is_write=False, is_slow=True)
        except ServiceUnavailable as error:
            if isinstance(error.__cause__, asyncpg.QueryCanceledError):
                raise QueryTooSlow(QUERY_TOO_SLOW, limit_s=f"{SLOW_READ_LIMIT_S:g}") from error
            raise

    async def write(self, work: Work[T], tenant_id: str | None = None) -> T:
        return await self._run(work, tenant_id, is_write=True)

    async def write_in_background(self, work: Work[T]) -> T:
        return await self.write(work)

    async def watch(self) -> None:
        return

    async def close(self) -> None:
        await self._pool.close()

    async def _run(
        self, work: Work[T], tenant_id: str | None, *, is_write: bool, is_slow: bool = False
    ) -> T:
        attempts = 0
        while True:
            try:
                return await self._run_once(work, tenant_id, is_write=is_write, is_slow=is_slow)
            except errors.RETRYABLE as error:
                attempts += 1
                if attempts == _MAX_ATTEMPTS:
                    # A constraint that every attempt violates is a bug of the work itself.
                    if isinstance(error, asyncpg.UniqueViolationError):
                        raise
                    raise errors.unavailable(error, TOO_MANY_CONFLICTS) from error
                await asyncio.sleep(ids.random_bits(10) / 1024 * 0.002 * 2**attempts)

    async def _run_once(
        self, work: Work[T], tenant_id: str | None, *, is_write: bool, is_slow: bool = False
    ) -> T:
        remaining, began_at = deadline.current(), time.monotonic()
        if remaining.total_s <= 0:
            raise ServiceUnavailable
        try:
            pool, connection = await self._acquire(tenant_id)
            remaining.connections += 1
            try:
                # What these are is known once there was a connection.
                options = self._slow_read_options if is_slow else self._options
                tx = self._tx(connection, tenant_id, options)
                remaining_s = remaining.total_s - (time.monotonic() - began_at)
                with self._terminate_after(connection, remaining_s):
                    return await self._run_on_connection(connection, tx, work, is_write=is_write)
            finally:
                remaining.connections -= 1
                pool.release(connection, tenant_id)
        finally:
            remaining.total_s -= time.monotonic() - began_at

    async def _run_on_connection(
        self, connection: Connection, tx: PostgresTx, work: Work[T], *, is_write: bool
    ) -> T:
        try:
            value = await work(tx)
            if is_write:
                await tx.commit()
            else:
                await tx.roll_back()
            return value
        except Exception as raised:
            # asyncpg itself fails on a connection that is terminated in the middle of a statement.
            is_terminated = isinstance(raised, AttributeError) and connection.is_closed()
            error = asyncpg.InterfaceError("terminated") if is_terminated else raised
            await self._roll_back(tx, connection, error)
            if isinstance(error, errors.CANNOT_WRITE):
                self.health.note_failed_write()
            if errors.is_unavailable(error):
                is_unknown = tx.is_committing and errors.is_connection_lost(error)
                raise (
                    ServiceUnavailable(COMMIT_UNKNOWN) if is_unknown else errors.unavailable(error)
                ) from error
            raise
        except BaseException:
            connection.terminate()
            raise

    @contextmanager
    def _terminate_after(self, connection: Connection, after_s: float) -> Iterator[None]:
        """Terminate the connection at the deadline, because PostgreSQL reports a cancelled COMMIT
        that waits for a standby as successful."""
        if self._has_time:
            yield
            return
        timer = asyncio.get_running_loop().call_later(after_s, connection.terminate)
        try:
            yield
        finally:
            timer.cancel()

    async def _roll_back(self, tx: PostgresTx, connection: Connection, error: Exception) -> None:
        """Roll back, or terminate the connection when that fails."""
        if errors.is_connection_lost(error):
            connection.terminate()
            return
        try:
            await tx.roll_back()
        except Exception as second:
            error.add_note(f"and the rollback failed: {second}")
            connection.terminate()


async def connect(url: str, *, name: str, is_pooled: bool = False) -> Connection:
    """Open a connection with the service's settings. name: as pg_stat_activity shows it.

    Raises OSError, TimeoutError, asyncpg's errors.
    """
    if is_pooled:
        return await asyncpg.connect(url, timeout=CONNECT_S, statement_cache_size=0)
    return await asyncpg.connect(
        url,
        timeout=CONNECT_S,
        max_cached_statement_lifetime=0,
        max_cacheable_statement_size=64 * 1024,
        statement_cache_size=256,
        # The URL may name several hosts: use the one that takes writes.
        target_session_attrs=SessionAttribute.read_write,
        server_settings={"application_name": name, **SETTINGS},
    )


def set_local(settings: Mapping[str, str]) -> str:
    """SQL that sets them for one transaction, which has begun with its isolation level."""
    return "".join(
        f"SET LOCAL {name} = '{value}'; "
        for name, value in settings.items()
        if name != "default_transaction_isolation"
    )
