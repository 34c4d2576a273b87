"""Runs pgbench: its own tables, and the list's statement of the service."""

import re
import resource
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from tests.servers.binaries import find_postgres
from tests.servers.process import environment

from bench.databases.cluster import DATABASE, PGBENCH, Cluster
from bench.load.rounds import Round, RunRound
from bench.plan import Plan
from sealdesk.db.engine import Params, Row, Tx
from sealdesk.db.sqlite.transaction import drive
from sealdesk.resources.paging import DEFAULT_PER_PAGE, PageRequest
from sealdesk.tickets.ticket.store import lists
from sealdesk.tickets.ticket.store.filters import Filter

_CLIENTS = 8
_TPS = re.compile(r"^tps = ([0-9.]+)", re.MULTILINE)
# The service uses the same setting: planning the statement takes as long as running it.
_PGBENCH_OPTIONS = "-c plan_cache_mode=force_generic_plan"
_MEASURING_OPTIONS = ("-n", "-M", "prepared", "-c", str(_CLIENTS), "-j", "1")


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

    dialect = "postgresql"
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
