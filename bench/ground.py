"""What events and webhooks are measured on: the database of the tickets, and two small ones."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.beside import Beside, BesidePostgres, BesideSqlite
from bench.cluster import Cluster
from bench.data import Data
from bench.results import ON_POSTGRES, POSTGRES
from sealdesk.db import schema_version
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
        envs = [{"SEALDESK_DATA_DIR": str(directory)} for directory in directories]
        paths = [from_env(env).database_path for env in envs]
        schema_version.ensure_current(paths[0])
        shutil.copy(*paths)
        small = [Place(env, BesideSqlite(path)) for env, path in zip(envs, paths, strict=True)]
        yield Ground("", "", tickets, small, None)


@contextmanager
def on_postgres(data: Data, database: Cluster) -> Iterator[Ground]:
    """Databases of the running cluster."""
    tickets = Place(database.environment(data), BesidePostgres(database.superuser_url()))
    with _directories(data) as directories, _databases(database):
        small = [
            Place(
                # For the logs of who serves it.
                {**database.environment(data, name), "SEALDESK_DATA_DIR": str(directory)},
                BesidePostgres(database.superuser_url(name)),
            )
            for name, directory in zip(_SMALL, directories, strict=True)
        ]
        yield Ground(POSTGRES, ON_POSTGRES, tickets, small, database.cpu_s)


@contextmanager
def _databases(database: Cluster) -> Iterator[None]:
    """The small ones, also where a run was killed."""
    first, second = _SMALL
    _drop(database)
    try:
        database.make_database(first)
        database.migrate(first)
        database.sql(f"CREATE DATABASE {second} OWNER owner TEMPLATE {first}")
        yield
    finally:
        _drop(database)


def _drop(database: Cluster) -> None:
    for name in _SMALL:
        database.sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@contextmanager
def _directories(data: Data) -> Iterator[list[Path]]:
    """One for each of the small databases, beside the data."""
    with tempfile.TemporaryDirectory(prefix="webhooks-", dir=data.settings.data_dir) as directory:
        directories = [Path(directory) / name for name in _SMALL]
        for each in directories:
            each.mkdir(mode=0o700)
        yield directories
