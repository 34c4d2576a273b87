"""The PostgreSQL cluster of the benchmark: its roles, URLs, CPU time, and pgbench."""

import base64
import re
import resource
import secrets
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import msgspec
from tests.servers import Access, Postgres, free_port
from tests.servers.binaries import find_postgres
from tests.servers.process import environment

from bench.data import Data
from bench.plan import Plan
from bench.rounds import Round, RunRound
from bench.servers import list_child_pids, read_cpu_s
from sealdesk.db import schema_version
from sealdesk.db.engine import Params, Row, Tx
from sealdesk.db.sqlite.connection import drive
from sealdesk.paging import DEFAULT_PER_PAGE, PageRequest
from sealdesk.tickets.store import lists
from sealdesk.tickets.store.lists import Filter

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
_CLIENTS = 8
_TPS = re.compile(r"^tps = ([0-9.]+)", re.MULTILINE)
# The service uses the same setting: planning the statement takes as long as running it.
_PGBENCH_OPTIONS = "-c plan_cache_mode=force_generic_plan"
_MEASURING_OPTIONS = ("-n", "-M", "prepared", "-c", str(_CLIENTS), "-j", "1")


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


def initialise_pgbench(url: str, scale: int) -> None:
    """Create the tables of pgbench. scale: accounts in units of 100,000."""
    _run_pgbench("-i", "-q", "-s", str(scale), url)


class PgBench:
    """Rounds of pgbench on the cluster."""

    def __init__(self, plan: Plan, cluster: Cluster) -> None:
        self._plan = plan
        self._cluster = cluster

    def prepare_writes(self) -> RunRound:
        """`pgbench -N`: an update, a select and an insert, committed."""
        return self._prepare("-N", self._cluster.superuser_url(PGBENCH))

    def prepare_first_page(self, tenant_id: str, directory: Path) -> RunRound:
        """The statement of the service that lists the newest 25 tickets, run as a superuser.

        directory: where the script is written.
        """
        recorder = _StatementRecorder()
        drive(
            lists.list_tickets(
                cast(Tx, recorder), tenant_id, Filter(), PageRequest(DEFAULT_PER_PAGE, None)
            )
        )
        script = directory / "list.sql"
        # The service sends the limit in the text of the statement, too.
        script.write_text(f"{recorder.sql.replace(':limit', str(recorder.params['limit']))};\n")
        values = [f"-D{name}={value}" for name, value in recorder.params.items()]
        return self._prepare("-f", str(script), *values, self._cluster.superuser_url(DATABASE))

    def _prepare(self, *what: str) -> RunRound:
        warm = self._run_round(what, max(self._plan.warm_up // _CLIENTS, 1))
        count = max(int(warm.per_second * self._plan.round_s / _CLIENTS), 1)
        return lambda: self._run_round(what, count)

    def _run_round(self, what: Sequence[str], count: int) -> Round:
        """count: transactions of each client."""
        database_s, client_s = self._cluster.cpu_s(), _children_cpu_s()
        output = _run_pgbench(*_MEASURING_OPTIONS, "-t", str(count), *what)
        database_s, client_s = self._cluster.cpu_s() - database_s, _children_cpu_s() - client_s
        rate = _TPS.search(output)
        if rate is None:
            raise RuntimeError(f"pgbench printed no rate: {output}")
        per_second = float(rate[1])
        elapsed_s = count * _CLIENTS / per_second
        return Round(
            per_second,
            database_us=database_s / (count * _CLIENTS) * 1e6,
            client_share=client_s / elapsed_s,
        )


class _StatementRecorder:
    """Stands in for a transaction, and records the statement instead of running it."""

    sql = ""
    params: Params

    async def fetch_all(self, sql: str, params: Params) -> Sequence[Row]:
        self.sql, self.params = sql, params
        return []

    async def fetch_page(
        self, sql: str, params: Params, columns: Sequence[str], max_bytes: int
    ) -> Sequence[Row]:
        """Records the statement without the bound of bytes that the service adds."""
        return await self.fetch_all(sql, params)


def _run_pgbench(*arguments: str) -> str:
    completed = subprocess.run(
        [find_postgres() / "pgbench", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment(PGOPTIONS=_PGBENCH_OPTIONS),
    )
    if completed.returncode != 0:
        raise RuntimeError(f"pgbench failed: {completed.stderr.strip()}")
    return completed.stdout


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
