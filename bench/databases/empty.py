"""Installations without data, each for one round."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from bench.databases import cluster
from bench.databases.cluster import Cluster
from bench.databases.postgres_data import PostgresData
from bench.databases.sqlite_data import Data
from sealdesk.cli.installation import prepare_sqlite
from sealdesk.settings import from_env

_DATABASE = "empty"
Env = dict[str, str]
# Makes one for as long as its context lasts; the settings of its processes.
NewInstallation = Callable[[], AbstractContextManager[Env]]


def on_sqlite(data: Data) -> NewInstallation:
    @contextmanager
    def create() -> Iterator[Env]:
        with _directory(data) as env:
            prepare_sqlite(from_env(env))
            yield env

    return create


@contextmanager
def on_postgres(data: Data, postgres: PostgresData) -> Iterator[NewInstallation]:
    """Run the cluster; each installation has a database of its own there, one at a time."""
    with cluster.running_cluster(postgres.directory, postgres.passwords) as database:

        @contextmanager
        def create() -> Iterator[Env]:
            with _directory(data) as env, _new_database(database):
                yield {**database.environment(data, _DATABASE), **env}

        yield create


@contextmanager
def _directory(data: Data) -> Iterator[Env]:
    with tempfile.TemporaryDirectory(dir=data.settings.data_dir.parent) as directory:
        yield {"SEALDESK_DATA_DIR": directory}


@contextmanager
def _new_database(database: Cluster) -> Iterator[None]:
    drop = f"DROP DATABASE IF EXISTS {_DATABASE} WITH (FORCE)"
    database.sql(drop)  # that of a run that was killed
    try:
        database.make_database(_DATABASE)
        database.migrate(_DATABASE)
        yield
    finally:
        database.sql(drop)
