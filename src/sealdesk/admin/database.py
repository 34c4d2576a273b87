"""The installation that commands work on: settings, keys and database, beside a running server."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from sqlite3 import Connection
from typing import TypeVar

from sealdesk.clock import Clock
from sealdesk.db import version
from sealdesk.db.connection import SqliteTx, connect, drive, run_now
from sealdesk.db.engine import Work
from sealdesk.sealing import KeyRing
from sealdesk.settings import Settings, from_env, make_private_dir

T = TypeVar("T")


class Desk:
    """One installation with its database open."""

    def __init__(self, settings: Settings, connection: Connection) -> None:
        self.settings = settings
        self.ring = KeyRing(settings.master_keys)
        self.clock = Clock()
        self._connection = connection

    def write(self, work: Work[T]) -> T:
        """Run work in one transaction. Raises Refusal, sqlite3.Error."""
        return run_now(self._connection, work)

    def read(self, work: Work[T]) -> T:
        """Run reads. Raises Refusal, sqlite3.Error."""
        return drive(work(SqliteTx(self._connection)))

    def walk(self, page_after: Callable[[T | None], Work[Sequence[T]]]) -> Iterator[T]:
        """All rows of a list, page by page; `page_after` reads the page behind a row."""
        last: T | None = None
        while rows := self.read(page_after(last)):
            yield from rows
            last = rows[-1]


@contextmanager
def opened() -> Iterator[Desk]:
    """The installation of this environment; a new one is set up. Raises Unfit, sqlite3.Error."""
    settings = prepared()
    with closing(connect(settings.database_path)) as connection:
        yield Desk(settings, connection)


def prepared() -> Settings:
    """The settings of this environment, with everything made that they name. Raises Unfit."""
    settings = from_env(os.environ)
    make_private_dir(settings.data_dir)
    version.ensure_current(settings.database_path)
    return settings


def migrate() -> None:
    """Bring the database to the newest schema.

    A new one is made. `serve` and every other command do this by themselves, so you need it only
    to do it ahead of time. Two at once wait for each other, and a failed migration changes
    nothing.
    """
    settings = from_env(os.environ)
    make_private_dir(settings.data_dir)
    has_migrated = version.ensure_current(settings.database_path)
    what = "migrated to" if has_migrated else "already has"
    print(f"{settings.database_path} {what} schema {version.KNOWN[-1]}.")
