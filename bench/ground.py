"""What events and webhooks are measured on: the database of the tickets, and two small ones."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.beside import Beside, BesidePostgres, BesideSqlite
from bench.cluster import DATABASE, Cluster
from bench.data import Data
from bench.results import ON_POSTGRES, POSTGRES
from sealdesk.db import version
from sealdesk.settings import from_env

_SMALL = ("webhooks", "webhooks_burdened")


class Place(NamedTuple):
    """A database. env: leads the service to it. beside: SQL on it."""

    env: Mapping[str, str]
    beside: Beside


class Ground(NamedTuple):
    """The databases of one kind.

    prefix, suffix: of the names of what is driven, and of figures. small: have their tables, and
    nothing in them. database_s: what the database server has computed.
    """

    prefix: str
    suffix: str
    tickets: Place
    small: list[Place]
    database_s: Callable[[], float] | None


@contextmanager
def on_sqlite(data: Data) -> Iterator[Ground]:
    """Files."""
    tickets = Place({}, BesideSqlite(data.settings.database_path))
    with _directories(data) as directories:
        yield Ground("", "", tickets, list(map(_file, directories)), None)


@contextmanager
def on_postgres(data: Data, database: Cluster) -> Iterator[Ground]:
    """Databases of the running cluster."""
    beside = BesidePostgres(database.superuser_url(DATABASE))
    tickets = Place(database.environment(data), beside)
    with _directories(data) as directories:
        small = [
            _database(data, database, name, directory)
            for name, directory in zip(_SMALL, directories, strict=True)
        ]
        yield Ground(POSTGRES, ON_POSTGRES, tickets, small, database.cpu_s)
        for name in _SMALL:
            database.sql(f"DROP DATABASE {name} WITH (FORCE)")


def _file(directory: Path) -> Place:
    env = {"SEALDESK_DATA_DIR": str(directory)}
    path = from_env(env).database_path
    version.ensure_current(path)
    return Place(env, BesideSqlite(path))


def _database(data: Data, database: Cluster, name: str, directory: Path) -> Place:
    """directory: for the logs of who serves it."""
    database.sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    database.make_database(name)
    database.migrate(name)
    env = {**database.environment(data, name), "SEALDESK_DATA_DIR": str(directory)}
    return Place(env, BesidePostgres(database.superuser_url(name)))


@contextmanager
def _directories(data: Data) -> Iterator[list[Path]]:
    """One for each of the small databases, beside the data."""
    with tempfile.TemporaryDirectory(prefix="webhooks-", dir=data.settings.data_dir) as directory:
        directories = [Path(directory) / name for name in _SMALL]
        for each in directories:
            each.mkdir(mode=0o700)
        yield directories
