"""The installation that commands work on: settings, keys and database, beside a running server."""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from sqlite3 import Connection
from typing import Protocol, TypeVar

from sealdesk.cli.output import console
from sealdesk.clock import Clock
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db import schema_version
from sealdesk.db.engine import Database, Work
from sealdesk.db.factory import open_database
from sealdesk.db.sqlite.connection import SqliteTx, connect, drive, run_now
from sealdesk.errors import ConfigurationError, NotFound
from sealdesk.identity import store as identity
from sealdesk.identity.store import Tenant
from sealdesk.settings import Settings, from_env, make_private_dir

T = TypeVar("T")
_DRAIN_S = 12.0  # what a process that ends may take, and a little more


class Doors(Protocol):
    """The doors to the database, for who waits at each."""

    def read(self, work: Work[T], tenant_id: str | None = None) -> T: ...

    def write(self, work: Work[T], tenant_id: str | None = None) -> T: ...


class FileDoors:
    """Those of an SQLite file, which another process may be serving."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def read(self, work: Work[T], tenant_id: str | None = None) -> T:
        return drive(work(SqliteTx(self._connection)))

    def write(self, work: Work[T], tenant_id: str | None = None) -> T:
        return run_now(self._connection, work)


class ServerDoors:
    """Those of a PostgreSQL database, as the role that serves."""

    def __init__(self, database: Database, runner: asyncio.Runner) -> None:
        self._database = database
        self._runner = runner

    def read(self, work: Work[T], tenant_id: str | None = None) -> T:
        return self._runner.run(self._database.read(work, tenant_id))

    def write(self, work: Work[T], tenant_id: str | None = None) -> T:
        return self._runner.run(self._database.write(work, tenant_id))


class Desk:
    """One installation with its database open."""

    def __init__(self, settings: Settings, doors: Doors) -> None:
        self.settings = settings
        self.key_ring = KeyRing(settings.master_keys)
        self.clock = Clock()
        self._doors = doors

    def write(self, work: Work[T], tenant_id: str | None = None) -> T:
        """Run work in one transaction. Raises Refusal, sqlite3.Error."""
        return self._doors.write(work, tenant_id)

    def read(self, work: Work[T], tenant_id: str | None = None) -> T:
        """Run reads. Raises Refusal, sqlite3.Error."""
        return self._doors.read(work, tenant_id)

    def walk(
        self, page_after: Callable[[T | None], Work[Sequence[T]]], tenant_id: str | None = None
    ) -> Iterator[T]:
        """All rows of a list, page by page; `page_after` reads the page behind a row."""
        last: T | None = None
        while rows := self.read(page_after(last), tenant_id):
            yield from rows
            last = rows[-1]

    def get_tenant(self, tenant_id: str) -> Tenant:
        """Raises Missing."""
        tenant = self.read(lambda tx: identity.find_tenant(tx, tenant_id))
        if tenant is None:
            raise NotFound("There is no such tenant; sealdesk tenants list shows them.")
        return tenant


@contextmanager
def opened() -> Iterator[Desk]:
    """The installation of this environment; a new one is set up. Raises Unfit, sqlite3.Error."""
    settings = prepared()
    with doors_of(settings) as doors:
        yield Desk(settings, doors)


@contextmanager
def doors_of(settings: Settings) -> Iterator[Doors]:
    """The doors of a database that is fit to be used. Raises sqlite3.Error."""
    if not settings.database_url:
        with closing(connect(settings.database_path)) as connection:
            yield FileDoors(connection)
        return
    with asyncio.Runner() as runner:
        database = open_database(settings, name="sealdesk command", has_time=True)
        try:
            yield ServerDoors(database, runner)
        finally:
            runner.run(database.close())


def prepared() -> Settings:
    """The settings of this environment, with everything made that they name. Raises Unfit.

    An SQLite database is made and migrated; one of PostgreSQL must be as it should be already,
    for only its owner may migrate it.
    """
    settings = from_env(os.environ)
    if settings.database_url:
        check_server(settings, settings.database_url)
    else:
        make_private_dir(settings.data_dir)
        schema_version.ensure_current(settings.database_path)
    return settings


def check_server(settings: Settings, url: str) -> None:
    """Raises Unusable unless the PostgreSQL database can be served, and safely."""
    from sealdesk.db.postgres import preflight

    is_worker = url != settings.database_url
    is_pooled = settings.database_pooler == "transaction"
    asyncio.run(preflight.check(url, is_pooled=is_pooled, is_worker=is_worker))


def ensure_alone(settings: Settings) -> None:
    """Raises Unusable when this would be a second process whose rate limits nobody shares.

    One that is just ending is waited for. Behind a pooler processes cannot be told apart.
    """
    is_shared = settings.redis_url or settings.per_process_limits == "accept"
    if is_shared or not settings.database_url or settings.database_pooler != "none":
        return
    from sealdesk.db.postgres import peers

    asyncio.run(peers.ensure_single_process(settings.database_url, wait_s=_DRAIN_S))


def migrate() -> None:
    """Bring the database to the newest schema.

    A new one is made. On SQLite `serve` and every other command do this by themselves, so you
    need it only to do it ahead of time.

    On PostgreSQL it is run as the owner of the tables, with SEALDESK_OWNER_DATABASE_URL. It also
    makes the roles that SEALDESK_DATABASE_URL and SEALDESK_WORKER_DATABASE_URL name, and grants
    them what they need. Two at once wait for each other, and a failed migration changes nothing.
    """
    settings = from_env(os.environ, needs_keys=False)
    if settings.database_url or settings.owner_database_url:
        _migrate_server(settings)
        return
    make_private_dir(settings.data_dir)
    from_env(os.environ)  # a database without its keys would be refused from then on
    has_migrated = schema_version.ensure_current(settings.database_path)
    what = "migrated to" if has_migrated else "already has"
    print(f"{settings.database_path} {what} schema {schema_version.KNOWN_VERSIONS[-1]}.")


def _migrate_server(settings: Settings) -> None:
    from sealdesk.db.postgres import preflight

    if not settings.owner_database_url:
        raise ConfigurationError(
            "SEALDESK_OWNER_DATABASE_URL is missing: the role that serves may not migrate. Set it"
            " to the same database as the role that owns the tables"
        )
    with console().status("Migrating"):
        schema_version.migrate_postgres(
            settings.owner_database_url,
            runtime_url=settings.database_url,
            worker_url=settings.worker_database_url,
        )
    where = preflight.redacted(settings.owner_database_url)
    print(f"{where} has schema {schema_version.KNOWN_VERSIONS[-1]}.")
    if not settings.database_url:
        print("Set SEALDESK_DATABASE_URL and migrate again to make the role that serves.")
