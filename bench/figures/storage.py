"""Measures what a new ticket writes: bytes of the write-ahead log, and pages of a checkpoint."""

import struct
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple

from bench.databases import cluster
from bench.databases.cluster import DATABASE, Cluster
from bench.databases.postgres_data import PostgresData
from bench.databases.sqlite_data import Data
from bench.databases.webhook_databases import DirectPostgres, DirectSql, DirectSqlite
from bench.figures.figure import Figure, Results
from bench.load.indexed import IndexedTickets
from bench.load.requests import CREATED, Workload
from bench.load.rounds import POSTGRES_SUFFIX, LoadTarget, Rounds, ShowProgress
from bench.plan import Plan
from bench.servers import processes
from bench.servers.processes import Cores

_LOG_FIGURE = "KiB of the write-ahead log for a new ticket"
_PAGES_FIGURE = "pages that a checkpoint writes for a new ticket"
# The fields of the log's index: the size of a page, the number of frames, and the salts, which
# change when the log begins again (https://www.sqlite.org/walformat.html).
_INDEX_HEADER = struct.Struct("=14xHI12x8s")
_PAGE_NUMBER = struct.Struct(">I")
_LOG_HEADER_BYTES, _FRAME_HEADER_BYTES = 32, 24
_POLL_S = 0.001
_LSN = "SELECT pg_current_wal_lsn()"
_VERSION = "SELECT current_setting('server_version_num')::int"
_BUFFERS = """
SELECT buffers_checkpoint + buffers_clean + buffers_backend FROM pg_stat_bgwriter
"""
_BUFFERS_SINCE_17 = """
SELECT buffers_written + (SELECT buffers_clean FROM pg_stat_bgwriter) FROM pg_stat_checkpointer
"""


class _Written(NamedTuple):
    """What each ticket has written."""

    log_kib: list[float]
    pages: list[float]


class _Bounds(NamedTuple):
    """Floor and aim."""

    log_kib: tuple[float, float]
    pages: tuple[float, float]


_SQLITE_BOUNDS = _Bounds((40, 25), (3.7, 1.85))
_POSTGRES_BOUNDS = _Bounds((13.4, 6.7), (5.4, 2.7))


def on_sqlite(plan: Plan, data: Data, show_progress: ShowProgress) -> Results:
    """Measure on SQLite. Raises WrongResponse."""
    rounds, written = Rounds(plan, show_progress), _Written([], [])
    show_progress("what a new ticket writes")
    with Cores() as cores, processes.sealdesk(data.settings, cores) as server:
        sql = DirectSqlite(data.settings.database_path)
        posting = _Posting(data, sql, server, rounds)
        posting.post()
        for _ in range(plan.rounds):
            log_bytes, pages = _measure_sqlite(data.settings.database_path, posting)
            written.log_kib.append(log_bytes / 1024 / plan.warm_up)
            written.pages.append(pages / plan.warm_up)
    return Results(_build_figures(_SQLITE_BOUNDS, written, ""), {})


def on_postgres(
    plan: Plan, data: Data, postgres: PostgresData, show_progress: ShowProgress
) -> Results:
    """Measure on PostgreSQL. Raises WrongResponse."""
    show_progress("what a new ticket writes on PostgreSQL")
    with (
        Cores() as cores,
        cluster.running_cluster(postgres.directory, postgres.passwords) as database,
        processes.service(data.settings, cores, database.environment(data)) as service,
    ):
        rounds = Rounds(plan, show_progress, database.cpu_s)
        posting = _Posting(data, DirectPostgres(database.superuser_url()), service, rounds)
        posting.post()
        # After a checkpoint the log contains whole pages, so checkpoints come last.
        log_bytes = [_measure_log(database, posting) for _ in range(plan.rounds)]
        pages = [_measure_checkpoint(database, posting) for _ in range(plan.rounds)]
    written = _Written(
        [each / 1024 / plan.warm_up for each in log_bytes], [each / plan.warm_up for each in pages]
    )
    return Results(_build_figures(_POSTGRES_BOUNDS, written, POSTGRES_SUFFIX), {})


def not_measured(_plan: Plan) -> Results:
    """The figures on PostgreSQL without values."""
    return Results(_build_figures(_POSTGRES_BOUNDS, _Written([], []), POSTGRES_SUFFIX), {})


class _Posting:
    """Creates tickets, and waits for what follows from them."""

    def __init__(self, data: Data, sql: DirectSql, server: LoadTarget, rounds: Rounds) -> None:
        workload = Workload(rounds.plan, data)
        self._make = workload.make_posts_in_all_tenants(workload.make_ticket_bodies())
        self._indexed = IndexedTickets(sql)
        self._server, self._rounds = server, rounds
        self._count = 0

    def post(self) -> None:
        """Create tickets until they are indexed, and the servers are idle. Raises WrongResponse."""
        count = self._rounds.plan.warm_up
        self._count += count
        self._rounds.send(self._server, self._make(count), CREATED)
        self._indexed.wait_for(self._count)
        self._rounds.wait_until_idle()


class _LogIndex(NamedTuple):
    """The state of SQLite's write-ahead log."""

    page_bytes: int
    frame_count: int
    salts: bytes


def _read_log_index(database: Path) -> _LogIndex:
    with database.with_name(f"{database.name}-shm").open("rb") as index:
        return _LogIndex(*_INDEX_HEADER.unpack(index.read(_INDEX_HEADER.size)))


def _measure_sqlite(database: Path, posting: _Posting) -> tuple[int, int]:
    """The bytes written to the log, and the number of different pages among them."""
    watch = _LogWatch(database)
    try:
        posting.post()
    finally:
        watch.stop()
    return watch.byte_count, len(watch.pages)


class _LogWatch:
    """Follows the write-ahead log while it grows and begins again."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._seen = _read_log_index(database)
        self._stopped = Event()
        self.byte_count = 0
        self.pages: set[int] = set()
        self._thread = Thread(target=self._follow)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _follow(self) -> None:
        while not self._stopped.wait(_POLL_S):
            self._look()
        self._look()

    def _look(self) -> None:
        """Count the frames since the last look; those before the log began again are missed."""
        index = _read_log_index(self._database)
        first = self._seen.frame_count if index.salts == self._seen.salts else 0
        frames = range(first, index.frame_count)
        self.byte_count += len(frames) * (_FRAME_HEADER_BYTES + index.page_bytes)
        self.pages |= _read_page_numbers(self._database, frames, index)
        self._seen = index


def _read_page_numbers(database: Path, frames: range, index: _LogIndex) -> set[int]:
    """The pages in these frames, without those that the log has already written over."""
    pages = set()
    with database.with_name(f"{database.name}-wal").open("rb") as log:
        for frame in frames:
            log.seek(_LOG_HEADER_BYTES + frame * (_FRAME_HEADER_BYTES + index.page_bytes))
            header = log.read(_FRAME_HEADER_BYTES)
            if header[8:16] == index.salts:
                pages.add(_PAGE_NUMBER.unpack_from(header)[0])
    return pages


def _measure_log(database: Cluster, posting: _Posting) -> int:
    (before,) = database.sql(_LSN, DATABASE)
    posting.post()
    (difference,) = database.sql(f"SELECT pg_current_wal_lsn() - '{before}'::pg_lsn", DATABASE)
    return int(difference)


def _measure_checkpoint(database: Cluster, posting: _Posting) -> int:
    before = _count_written_buffers(database)
    posting.post()
    return _count_written_buffers(database) - before


def _count_written_buffers(database: Cluster) -> int:
    """The buffers that have been written until the end of a checkpoint."""
    (version,) = database.sql(_VERSION, DATABASE)
    database.sql("CHECKPOINT", DATABASE)
    (count,) = database.sql(_BUFFERS if int(version) < 170_000 else _BUFFERS_SINCE_17, DATABASE)
    return int(count)


def _build_figures(bounds: _Bounds, written: _Written, suffix: str) -> list[Figure]:
    return [
        Figure(_LOG_FIGURE + suffix, "KiB", False, *bounds.log_kib, written.log_kib),
        Figure(_PAGES_FIGURE + suffix, "", False, *bounds.pages, written.pages),
    ]
