"""An installation as commands use it: settings, master keys and an open database."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from sqlite3 import Connection
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

from sealdesk.caller import SYSTEM, Caller, without_rights
from sealdesk.clock import Clock
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db import epochs
from sealdesk.db.engine import Database, Tx, Work
from sealdesk.db.factory import open_database
from sealdesk.db.migrations import schema_version
from sealdesk.db.sqlite import first_start
from sealdesk.db.sqlite.connection import connect, run_now
from sealdesk.db.sqlite.transaction import SqliteTx, drive
from sealdesk.errors import ConfigurationError, NotFound
from sealdesk.errors.general import NOT_FOUND
from sealdesk.identity import store as identity
from sealdesk.identity.store import Tenant
from sealdesk.settings import Settings, from_env, make_private_dir

if TYPE_CHECKING:
    from sealdesk.state import AppState

P = ParamSpec("P")
T = TypeVar("T")
_NO_SUCH_TENANT = NOT_FOUND.variant("There is no such tenant; sealdesk tenants list shows them.")
_PAGE_ROWS = 200
_DRAIN_WAIT_S = 12.0  # a server drains for at most 10 s; the rest is reserve


class DatabaseAccess(Protocol):
    """Blocking transactions on either database."""

    def read(self, work: Work[T], tenant_id: str | None = None) -> T: ...

    def write(self, work: Work[T], tenant_id: str | None = None) -> T: ...


class SqliteAccess:
    """Transactions on an SQLite file, which a server may be using at the same time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def read(self, work: Work[T], tenant_id: str | None = None) -> T:
        return drive(work(SqliteTx(self._connection)))

    def write(self, work: Work[T], tenant_id: str | None = None) -> T:
        return run_now(self._connection, work)


class PostgresAccess:
    """Transactions on a PostgreSQL database, with the role that serves."""

    def __init__(self, database: Database, runner: asyncio.Runner) -> None:
        self._database = database
        self._runner = runner

    def read(self, work: Work[T], tenant_id: str | None = None) -> T:
        return self._runner.run(self._database.read(work, tenant_id))

    def write(self, work: Work[T], tenant_id: str | None = None) -> T:
        return self._runner.run(self._database.write(work, tenant_id))


class Installation:
    """One installation with its database open."""

    def __init__(self, settings: Settings, access: DatabaseAccess) -> None:
        self.settings = settings
        self.key_ring = KeyRing(settings.master_keys)
        self.clock = Clock()
        self._access = access

    def write(self, work: Work[T], tenant_id: str | None = None) -> T:
        """Run one transaction that writes. Raises ApiError, sqlite3.Error."""
        return self._access.write(work, tenant_id)

    def read(self, work: Work[T], tenant_id: str | None = None) -> T:
        """Run one transaction that reads. Raises ApiError, sqlite3.Error."""
        return self._access.read(work, tenant_id)

    def fetch(
        self,
        tenant_id: str,
        find: Callable[Concatenate[Tx, str, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Read with a function that takes the id of the tenant after the transaction."""
        return self.read(lambda tx: find(tx, tenant_id, *args, **kwargs), tenant_id)

    def act(
        self,
        tenant_id: str,
        action: Callable[Concatenate[Tx, Caller, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Write with an action, in the name of the system."""
        caller = without_rights(tenant_id, SYSTEM)
        return self.write(lambda tx: action(tx, caller, *args, **kwargs), tenant_id)

    def iterate(
        self, page_after: Callable[[T | None], Work[Sequence[T]]], tenant_id: str | None = None
    ) -> Iterator[T]:
        """Yield all rows of a list. page_after: reads the page that follows the given row."""
        last: T | None = None
        while rows := self.read(page_after(last), tenant_id):
            yield from rows
            last = rows[-1]

    def iterate_tenants(self) -> Iterator[Tenant]:
        """Yield all tenants, oldest first."""
        return self.iterate(_list_tenants_after)

    def get_tenant(self, tenant_id: str) -> Tenant:
        """Raises NotFound."""
        tenant = self.read(lambda tx: identity.find_tenant(tx, tenant_id))
        if tenant is None:
            raise NotFound(_NO_SUCH_TENANT)
        return tenant


def _list_tenants_after(last: Tenant | None) -> Work[Sequence[Tenant]]:
    return lambda tx: identity.list_tenants(tx, last.id if last else "", _PAGE_ROWS)


@contextmanager
def open_installation() -> Iterator[Installation]:
    """Open the installation that the environment names; an absent SQLite one is created.

    Raises ConfigurationError, sqlite3.Error.
    """
    settings = prepare_settings()
    with open_database_access(settings) as access:
        yield Installation(settings, access)


@contextmanager
def open_database_access(settings: Settings) -> Iterator[DatabaseAccess]:
    """Open a database that has the current schema. Raises sqlite3.Error."""
    if not settings.database_url:
        with closing(connect(settings.database_path)) as connection:
            yield SqliteAccess(connection)
        return
    with asyncio.Runner() as runner:
        database = open_database(settings, name="sealdesk command", has_time=True)
        try:
            yield PostgresAccess(database, runner)
        finally:
            runner.run(database.close())


@asynccontextmanager
async def opened_state(settings: Settings) -> AsyncIterator["AppState"]:
    """The state of a command that does the work of a process of the service."""
    # 60 ms to import, which no other command needs.
    from sealdesk.state import make_state

    state = make_state(settings, open_database(settings, name="sealdesk command"), Clock())
    try:
        yield state
    finally:
        await state.close()


def postgres_settings(command: str, work: str) -> Settings:
    """The settings of a process beside `serve`. work: what `serve` does itself on SQLite.

    Raises ConfigurationError on SQLite.
    """
    # First without keys: on SQLite, reading them would create the key files before the refusal.
    if not from_env(os.environ, needs_keys=False).database_url:
        raise ConfigurationError(
            f"on SQLite `sealdesk serve` {work} itself. To run `sealdesk {command}`, set"
            " SEALDESK_DATABASE_URL to a PostgreSQL database"
        )
    return from_env(os.environ)


def prepare_settings() -> Settings:
    """Read the settings and prepare the database that they name. Raises ConfigurationError.

    An SQLite database is created and migrated. A PostgreSQL database is only checked: its owner
    alone may migrate it.
    """
    settings = from_env(os.environ)
    if settings.database_url:
        check_postgres(settings, settings.database_url)
    else:
        make_private_dir(settings.data_dir)
        prepare_sqlite(settings)
    return settings


def prepare_sqlite(settings: Settings) -> bool:
    """Create or migrate an SQLite database; False when it was current. Raises Unusable."""
    first_start.ensure_not_lost(settings.data_dir, settings.database_path)
    has_changed = schema_version.ensure_current(settings.database_path)
    first_start.finish(settings.data_dir)
    return has_changed


def read_epoch(settings: Settings) -> int:
    """The current epoch, which changes only while nothing serves. Raises ServiceUnavailable."""
    with open_database_access(settings) as access:
        return access.read(epochs.current)


def check_postgres(settings: Settings, url: str) -> None:
    """Raises Unusable unless the schema is current and the role is safe to serve with."""
    # asyncpg takes 22 ms to import, which commands on SQLite do not need.
    from sealdesk.db.postgres import preflight

    is_worker = url != settings.database_url
    is_pooled = settings.database_pooler == "transaction"
    asyncio.run(preflight.check(url, is_pooled=is_pooled, is_worker=is_worker))


def ensure_single_process(settings: Settings) -> None:
    """Raises Unusable when another process serves and nothing shares the rate limits.

    Waits for a process that is draining. Behind a pooler, processes cannot be told apart, so
    nothing is checked.
    """
    is_shared = settings.redis_url or settings.per_process_limits
    if is_shared or not settings.database_url or settings.database_pooler != "none":
        return
    # As above: asyncpg, 22 ms.
    from sealdesk.db.postgres import server_status

    asyncio.run(server_status.ensure_single_process(settings.database_url, wait_s=_DRAIN_WAIT_S))
