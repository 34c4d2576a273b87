"""PostgreSQL behind the doors: a pool of connections, work that is run again when overtaken."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import asyncpg
from asyncpg import Connection
from asyncpg.connect_utils import SessionAttribute

from sealdesk import ids
from sealdesk.db import deadline
from sealdesk.db.engine import Work
from sealdesk.db.postgres import errors
from sealdesk.db.postgres.pool import Pool
from sealdesk.db.postgres.transaction import Opening, PostgresTx
from sealdesk.errors import QueryTooSlow, ServiceUnavailable

T = TypeVar("T")
CONNECT_S = 2.0
SLOW_READ_LIMIT_S = 2.0  # decisions 9
_SLOW_READS_AT_ONCE = 2
_SLOW_READS = 4  # those that wait included: two turns, within the patience of a request
_RUNS = 6
_SETTINGS = {
    "statement_timeout": "4s",
    "lock_timeout": "3s",
    "idle_in_transaction_session_timeout": "10s",
    "default_transaction_isolation": "read committed",
    "jit": "off",  # compiling pays for reports, not for index probes
    # Otherwise it plans most statements anew each time: half of the cost of a page.
    "plan_cache_mode": "force_generic_plan",
}
_IN_TRANSACTION = "".join(
    f"SET LOCAL {name} = '{value}'; "
    for name, value in _SETTINGS.items()
    if name != "default_transaction_isolation"
)
_SLOWLY = (
    f"SET TRANSACTION READ ONLY; SET LOCAL statement_timeout = '{SLOW_READ_LIMIT_S:g}s';"
    # What no index serves is worth a plan of its own.
    " SET LOCAL plan_cache_mode = 'force_custom_plan'; "
)


class PostgresDatabase:
    """The database as one process uses it.

    is_pooled: a pooler in transaction mode stands between: nothing may outlive a transaction.
    has_time: nobody waits for an answer, as with commands, so patience has no end.
    """

    def __init__(
        self,
        url: str,
        connections: int,
        *,
        name: str,
        is_pooled: bool,
        has_time: bool = False,
    ) -> None:
        self._url = url
        self._name = name
        self._is_pooled = is_pooled
        self._has_time = has_time
        self._pool = Pool(self._connect, connections)
        self._opening = Opening(always=is_pooled, settings=_IN_TRANSACTION if is_pooled else "")
        self._slow_opening = Opening(always=True, settings=_SLOWLY)
        self._slow_reads = 0
        self._slow_turn = asyncio.Semaphore(_SLOW_READS_AT_ONCE)

    async def _connect(self) -> Connection:
        try:
            timeout_s = min(CONNECT_S, deadline.current().in_all_s)
            return await connect(
                self._url, name=self._name, is_pooled=self._is_pooled, timeout_s=timeout_s
            )
        except Exception as error:
            if errors.is_away(error):
                raise errors.away(error) from error
            raise

    async def read(self, work: Work[T], tenant_id: str | None = None) -> T:
        return await self._run(work, tenant_id, self._opening, is_write=False)

    async def read_unindexed(self, work: Work[T], tenant_id: str | None = None) -> T:
        if self._slow_reads >= _SLOW_READS:
            raise QueryTooSlow("Too many queries that no index serves are waiting.")
        self._slow_reads += 1
        try:
            async with self._slow_turn:
                return await self._run(work, tenant_id, self._slow_opening, is_write=False)
        except ServiceUnavailable as error:
            if isinstance(error.__cause__, asyncpg.QueryCanceledError):
                raise QueryTooSlow(f"The query took more than {SLOW_READ_LIMIT_S:g} s.") from error
            raise
        finally:
            self._slow_reads -= 1

    async def write(self, work: Work[T], tenant_id: str | None = None) -> T:
        return await self._run(work, tenant_id, self._opening, is_write=True)

    async def write_in_background(self, work: Work[T]) -> T:
        return await self.write(work)

    async def close(self) -> None:
        await self._pool.close()

    async def _run(
        self, work: Work[T], tenant_id: str | None, opening: Opening, *, is_write: bool
    ) -> T:
        runs = 0
        while True:
            try:
                return await self._run_once(work, tenant_id, opening, is_write=is_write)
            except errors.RUN_AGAIN as error:
                runs += 1
                if runs == _RUNS:
                    # Still the same: a constraint that the work itself breaks is ours to mend.
                    if isinstance(error, asyncpg.UniqueViolationError):
                        raise
                    raise errors.too_busy(error) from error
                await asyncio.sleep(ids.random_bits(10) / 1024 * 0.002 * 2**runs)

    async def _run_once(
        self, work: Work[T], tenant_id: str | None, opening: Opening, *, is_write: bool
    ) -> T:
        left, began_at = deadline.current(), time.monotonic()
        if left.in_all_s <= 0:
            raise ServiceUnavailable
        try:
            connection = await self._pool.acquire()
            tx = PostgresTx(connection, tenant_id, opening)
            with self._cut_off(connection, left.in_all_s - (time.monotonic() - began_at)):
                return await self._run_on(connection, tx, work, is_write=is_write)
        finally:
            left.in_all_s -= time.monotonic() - began_at

    async def _run_on(
        self, connection: Connection, tx: PostgresTx, work: Work[T], *, is_write: bool
    ) -> T:
        try:
            value = await work(tx)
            if is_write:
                await tx.finish()
            else:
                await tx.undo()
            return value
        except Exception as error:
            await self._undo(tx, connection, error)
            if errors.is_away(error):
                is_unknown = tx.is_finishing and errors.is_lost(error)
                raise errors.unknown(error) if is_unknown else errors.away(error) from error
            raise
        except BaseException:
            connection.terminate()
            raise
        finally:
            self._pool.release(connection)

    @contextmanager
    def _cut_off(self, connection: Connection, after_s: float) -> Iterator[None]:
        """Cut the connection in the end rather than cancel: a cancelled COMMIT that waits for a
        standby is answered as if it had succeeded."""
        if self._has_time:
            yield
            return
        timer = asyncio.get_running_loop().call_later(after_s, connection.terminate)
        try:
            yield
        finally:
            timer.cancel()

    async def _undo(self, tx: PostgresTx, connection: Connection, error: Exception) -> None:
        """Leave the connection as the next one expects it, or not at all."""
        if errors.is_lost(error):
            connection.terminate()
            return
        try:
            await tx.undo()
        except Exception as second:
            error.add_note(f"and the rollback failed: {second}")
            connection.terminate()


async def connect(
    url: str, *, name: str, is_pooled: bool = False, timeout_s: float = CONNECT_S
) -> Connection:
    """One connection as the service uses them. name: as pg_stat_activity shows it.

    Raises OSError, TimeoutError, asyncpg's errors.
    """
    if is_pooled:
        return await asyncpg.connect(url, timeout=timeout_s, statement_cache_size=0)
    return await asyncpg.connect(
        url,
        timeout=timeout_s,
        max_cached_statement_lifetime=0,
        max_cacheable_statement_size=64 * 1024,
        statement_cache_size=256,
        # Of several hosts, the one that takes writes.
        target_session_attrs=SessionAttribute.read_write,
        server_settings={"application_name": name, **_SETTINGS},
    )
