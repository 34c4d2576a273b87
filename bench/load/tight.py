"""Runs the tight loop on the rows of the built data."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from bench.databases.sqlite_data import Data
from bench.load.clients import RequestMaker
from bench.load.rounds import Round, RunRound
from bench.peers import tight
from bench.plan import Plan
from bench.servers.processes import Cores

_ROOT = Path(__file__).parents[2]
_SCHEMA = Path(tight.__file__).with_name("schema.sql")
_TABLES = ("customers", "tickets", "ticket_changes", "replies", "events")
_COUNTERS = """
INSERT INTO counters SELECT tenant_id, max(number),
    coalesce((SELECT max(position) FROM events e WHERE e.tenant_id = t.tenant_id), 0)
FROM tickets t GROUP BY tenant_id"""


class _Took(msgspec.Struct):
    elapsed_s: float
    cpu_s: float


class TightLoop:
    """A database of the tight loop, and the process that writes to it."""

    def __init__(self, directory: Path, memory: Path, plan: Plan, cores: Cores) -> None:
        self._plan = plan
        self._cores = cores
        self._requests = directory / "tight-requests"
        self._command = [sys.executable, "-m", "bench.peers.tight.loop"]
        self._command += [str(directory / "tight.db"), str(memory), str(self._requests)]

    def prepare(self, make: RequestMaker) -> RunRound:
        """Warm up, and return a function that runs one round."""
        warm_up = self._run(make(self._plan.warm_up))
        count = max(int(warm_up.per_second * self._plan.round_s), self._plan.warm_up)
        return lambda: self._run(make(count))

    def _run(self, requests: list[bytes]) -> Round:
        self._requests.write_bytes(msgspec.msgpack.encode(requests))
        with self._cores.of_servers():
            output = subprocess.run(self._command, cwd=_ROOT, check=True, stdout=subprocess.PIPE)
        took = msgspec.json.decode(output.stdout, type=_Took)
        count = len(requests)
        return Round(count / took.elapsed_s, cpu_us=took.cpu_s / count * 1e6)


@contextmanager
def prepared(data: Data, memory: Path, plan: Plan, cores: Cores) -> Iterator[TightLoop]:
    """A tight loop on a copy of the rows of the data, which is deleted at the end."""
    directory = data.settings.data_dir
    _delete(directory)
    try:
        _copy_rows(data.settings.database_path, directory / "tight.db")
        yield TightLoop(directory, memory, plan, cores)
    finally:
        _delete(directory)


def _copy_rows(source: Path, target: Path) -> None:
    with closing(sqlite3.connect(target, isolation_level=None)) as connection:
        connection.executescript(_SCHEMA.read_text())
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("ATTACH ? AS built", (str(source),))
        connection.execute("BEGIN")
        for table in _TABLES:
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            names = ", ".join(name for _, name, *_ in columns)
            connection.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM built.{table}")
        connection.execute(_COUNTERS)
        connection.execute("COMMIT")


def _delete(directory: Path) -> None:
    for path in directory.glob("tight*"):
        path.unlink()
