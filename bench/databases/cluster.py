"""The PostgreSQL cluster of the benchmark: its roles, URLs, CPU time, and pgbench."""

import base64
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from tests.servers import Access, Postgres, free_port

from bench.databases.sqlite_data import Data
from bench.servers.processes import list_child_pids, read_cpu_s
from sealdesk.db.migrations import schema_version

DATABASE = "sealdesk"
PGBENCH = "pgbench"  # a database for pgbench's own tables
RUNTIME = "sealdesk_serve"
WORKER = "sealdesk_worker"
CONVENTIONAL = "conventional"  # a role, and the schema of its tables
# The durability settings are the defaults of PostgreSQL. No checkpoint happens during a round.
SETTINGS: dict[str, str | int | bool] = {
    "shared_buffers": "256MB",
    "jit": False,
    "max_wal_size": "4GB",
    "checkpoint_timeout": "1h",
}


class Passwords(msgspec.Struct, frozen=True):
    """The passwords of the roles."""

    superuser: str
    owner: str
    runtime: str
    worker: str
    conventional: str


class Cluster:
    """A running cluster."""

    def __init__(self, server: Postgres, passwords: Passwords) -> None:
        self._server = server
        self.passwords = passwords
        self.sql = server.sql
        self.port = server.port

    @property
    def conventional_url(self) -> str:
        """The URL for the role of the conventional service, which uses its own schema."""
        return self._server.url(CONVENTIONAL, self.passwords.conventional, DATABASE)

    def superuser_url(self, database: str = DATABASE) -> str:
        return self._server.superuser_url(database)

    def environment(self, data: Data, database: str = DATABASE) -> dict[str, str]:
        """The settings of `sealdesk serve` and `sealdesk worker`."""
        master_key, jwt_secret = data.settings.master_keys[0], data.settings.jwt_secret
        return {
            "SEALDESK_DATABASE_URL": self._runtime_url(database),
            "SEALDESK_WORKER_DATABASE_URL": self._worker_url(database),
            "SEALDESK_MASTER_KEY": base64.b64encode(master_key).decode(),
            "SEALDESK_JWT_SECRET": base64.b64encode(jwt_secret).decode(),
        }

    def make_database(self, name: str) -> None:
        """Create a database that sorts text by code points."""
        self.sql(
            f"CREATE DATABASE {name} OWNER owner TEMPLATE template0"
            " LOCALE_PROVIDER libc LOCALE 'C.UTF-8'"
        )

    def migrate(self, database: str = DATABASE) -> None:
        """Create the tables of a database, and grant access to the roles."""
        schema_version.migrate_postgres(
            self._server.owner_url(database),
            runtime_url=self._runtime_url(database),
            worker_url=self._worker_url(database),
        )

    def _runtime_url(self, database: str) -> str:
        return self._server.url(RUNTIME, self.passwords.runtime, database)

    def _worker_url(self, database: str) -> str:
        return self._server.url(WORKER, self.passwords.worker, database)

    def cpu_s(self) -> float:
        """The CPU time of its processes, including those that have ended."""
        text = (self._server.directory / "data" / "postmaster.pid").read_text()
        postmaster = int(text.split()[0])
        return read_cpu_s(postmaster, with_ended=True) + sum(
            map(read_cpu_s, list_child_pids(postmaster))
        )


@contextmanager
def new_cluster(directory: Path) -> Iterator[Cluster]:
    """Create and run a cluster in an empty directory. Raises ServerFailed, NotHere."""
    server = Postgres.start(directory, settings=SETTINGS)
    try:
        yield Cluster(
            server,
            Passwords(
                superuser=server.access.password,
                owner=server.access.owner_password,
                runtime=secrets.token_hex(16),
                worker=secrets.token_hex(16),
                conventional=secrets.token_hex(16),
            ),
        )
    finally:
        server.stop()


@contextmanager
def running_cluster(directory: Path, passwords: Passwords) -> Iterator[Cluster]:
    """Run the cluster of this directory. Raises ServerFailed, NotHere."""
    access = Access(free_port(), passwords.superuser, passwords.owner, str(directory))
    server = Postgres(directory, access)
    server.start_again()
    try:
        yield Cluster(server, passwords)
    finally:
        server.stop()
