"""PostgreSQL's own benchmark: what the database does when nothing stands before it."""

import re
import resource
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from tests.servers.binaries import find_postgres
from tests.servers.process import environment

from bench.cluster import DATABASE, PGBENCH, Cluster
from bench.plan import Plan
from bench.results import Round
from bench.rounds import Play
from sealdesk.db.engine import Params, Row, Tx
from sealdesk.db.sqlite.connection import drive
from sealdesk.paging import DEFAULT_PER_PAGE, PageRequest
from sealdesk.tickets.store import lists
from sealdesk.tickets.store.lists import Filter

CLIENTS = 8
_RATE = re.compile(r"^tps = ([0-9.]+)", re.MULTILINE)
# As the service has it: planning a page takes as long as reading it.
_OPTIONS = "-c plan_cache_mode=force_generic_plan"
_MEASURED = ("-n", "-M", "prepared", "-c", str(CLIENTS), "-j", "1")


def initialise(url: str, scale: int) -> None:
    """Make its own tables. scale: hundred thousands of accounts."""
    _pgbench("-i", "-q", "-s", str(scale), url)


class PgBench:
    """Players that run a script on the cluster for as long as a round takes."""

    def __init__(self, plan: Plan, cluster: Cluster) -> None:
        self._plan = plan
        self._cluster = cluster

    def writes(self) -> Play:
        """`pgbench -N`: an update, a select and an insert, committed."""
        return self._player("-N", self._cluster.superuser_url(PGBENCH))

    def first_page(self, tenant_id: str, directory: Path) -> Play:
        """The statement that lists the newest 25 tickets of a tenant, as a superuser sees them.

        directory: where to leave it as a script.
        """
        asked = _Asked()
        drive(
            lists.list_tickets(
                cast(Tx, asked), tenant_id, Filter(), PageRequest(DEFAULT_PER_PAGE, None)
            )
        )
        script = directory / "list.sql"
        # The limit stands in the text, as the service sends it.
        script.write_text(f"{asked.sql.replace(':limit', str(asked.params['limit']))};\n")
        values = [f"-D{name}={value}" for name, value in asked.params.items()]
        return self._player("-f", str(script), *values, self._cluster.superuser_url(DATABASE))

    def _player(self, *what: str) -> Play:
        warm = self._round(what, max(self._plan.warm_up // CLIENTS, 1))
        count = max(int(warm.per_second * self._plan.round_s / CLIENTS), 1)
        return lambda: self._round(what, count)

    def _round(self, what: Sequence[str], count: int) -> Round:
        """count: transactions of each client."""
        database_s, client_s = self._cluster.cpu_s(), _children_s()
        said = _pgbench(*_MEASURED, "-t", str(count), *what)
        database_s, client_s = self._cluster.cpu_s() - database_s, _children_s() - client_s
        found = _RATE.search(said)
        if found is None:
            raise RuntimeError(f"pgbench said no rate: {said}")
        per_second = float(found[1])
        elapsed_s = count * CLIENTS / per_second
        return Round(
            per_second,
            database_us=database_s / (count * CLIENTS) * 1e6,
            client_share=client_s / elapsed_s,
        )


class _Asked:
    """A reading that finds nothing and keeps what was asked."""

    sql = ""
    params: Params

    async def fetch_all(self, sql: str, params: Params) -> Sequence[Row]:
        self.sql, self.params = sql, params
        return []


def _pgbench(*arguments: str) -> str:
    done = subprocess.run(
        [find_postgres() / "pgbench", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment(PGOPTIONS=_OPTIONS),
    )
    if done.returncode != 0:
        raise RuntimeError(f"pgbench failed: {done.stderr.strip()}")
    return done.stdout


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
